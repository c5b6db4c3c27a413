// SPDX-License-Identifier: MIT
/*
 * Buffers that OpenGL ES draws into, as clients with a GPU have them: dma-bufs of /dev/udmabuf,
 * which drivers without a GPU accept as well. Drawn without a window, and shown by
 * zwp_linux_dmabuf_v1.
 */
#ifndef GID_MAP_DMABUF_TARGETS_H
#define GID_MAP_DMABUF_TARGETS_H

#include <EGL/egl.h>
#include <GLES2/gl2.h>
#include <stdbool.h>

#include "common/wayland.h"

/* The compositor shows one, another display has two, and one is drawn. */
#define DMABUF_TARGETS 4

struct dmabuf_target {
	struct wl_buffer *buffer; // NULL: it was not made
	EGLImage image;
	GLuint texture, frame;
	bool busy; // the compositor has it
};

struct dmabuf_targets {
	EGLDisplay display;
	EGLContext context;
	int width, height;
	struct dmabuf_target targets[DMABUF_TARGETS];
	void (*released)(void *data); // one that was busy
	void *data;
};

/*
 * Makes the buffers, and a current context. Returns false after saying on stderr what is missing;
 * dmabuf_targets_finish() is needed then, too.
 */
bool dmabuf_targets_init(
		struct dmabuf_targets *targets, struct wayland *wayland, int width, int height);
void dmabuf_targets_finish(struct dmabuf_targets *targets);

/* Directs all drawing to a free buffer, and returns it; NULL: all are busy. */
struct dmabuf_target *dmabuf_targets_begin(struct dmabuf_targets *targets);

/* Waits until it is drawn, and attaches it to the surface. */
void dmabuf_targets_end(struct dmabuf_target *target, struct wl_surface *surface);

#endif
