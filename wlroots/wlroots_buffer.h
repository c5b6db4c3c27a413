// SPDX-License-Identifier: MIT
/** The wl_buffers made of gids, each a wlr_buffer over the memory that the gids name. */
#ifndef GID_WLROOTS_BUFFER_H
#define GID_WLROOTS_BUFFER_H

#include "manager.h"
#include "shown_formats.h"
#include "yuv.h"

/* All of them, and what they are shown with. */
struct buffers {
	struct wlr_renderer *renderer;
	struct yuv *yuv; /* NULL: YUV is shown as the renderer takes it, or not */
	struct shown_formats formats;
	const struct gidd_connection *connection;
	int (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	struct wl_list list; /* struct buffer::link */
	bool told_refusal;   /* of a picture that the renderer does not take */
	bool told_rows;	     /* of one that it cannot read */
};

/* Makes buffers of what clients ask for; its data: struct buffers. */
extern const struct params_backend buffer_backend;

/*
 * Tries what the renderer can, and has wlroots recognise our wl_buffers from now on. Renderer and
 * allocator are borrowed; `connection` is to be set before the first client asks.
 */
void buffers_init(struct buffers *buffers, struct wlr_renderer *renderer,
		struct wlr_allocator *allocator, int (*log)(const char *format, ...));

/* The domain ends, and with it all its slabs. */
void buffers_forget_domain(struct buffers *buffers);

/* What is still shown goes blank. */
void buffers_finish(struct buffers *buffers);

#endif
