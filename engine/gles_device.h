// SPDX-License-Identifier: MIT
/**
 * OpenGL ES 3 without a window, by EGL: a context of one thread, the programs that draw, and a
 * texture that is drawn into.
 */
#ifndef ENGINE_GLES_DEVICE_H
#define ENGINE_GLES_DEVICE_H

/* EGL's headers would bring those of X11 with them. */
#define EGL_NO_X11
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <pixman.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GLES_PLANES 3
#define GLES_QUADS 256 /* of one call to the device */

enum gles_uniform {
	UNIFORM_TARGET_SIZE,
	UNIFORM_SWAPPED,
	UNIFORM_COLOUR,
	UNIFORM_PLANE_0,
	UNIFORM_PLANE_1,
	UNIFORM_PLANE_2,
	UNIFORM_ORIGIN,
	UNIFORM_SHIFT,
	UNIFORM_CORNER,
	UNIFORM_BOX,
	UNIFORM_STEPS,
	UNIFORM_START,
	UNIFORM_STRAIGHT,
	UNIFORM_OPAQUE,
	UNIFORM_ORDER,
	UNIFORM_BYTES,
	UNIFORM_MATRIX,
	UNIFORM_OFFSET,
	UNIFORM_ALPHA,
	UNIFORM_COUNT,
};

/* Where a pixel's colour is from. Each has a program, and one that filters. */
enum gles_kind {
	GLES_COLOUR = 0, /* the same for all */
	GLES_RGB = 1,
	GLES_RGB565 = 2,
	GLES_YUV = 3,
	GLES_MASK = 4, /* the same for all, as far as a mask says */
	GLES_KINDS,
};

/* Made when it is used first. */
struct gles_program {
	GLuint program; /* 0: not made yet */
	GLint uniforms[UNIFORM_COUNT];
};

/* One plane of a source. */
struct gles_plane {
	GLuint texture;
	GLenum format; /* of its memory; 0: it has none of its own */
	uint32_t width, height;
};

/* Corners as the device wants them: two triangles for each rectangle. */
struct gles_vertex {
	float x, y;   /* of the target, in pixels */
	float dx, dy; /* from there to the pixel of a mask */
};

struct gles_device {
	EGLDisplay display;
	EGLContext context;
	char renderer[96]; /* what the driver calls itself */
	bool is_software;
	bool imports; /* dma-bufs as textures */
	bool tells_resets;
	uint32_t largest; /* width and height of a texture */
	struct gles_program programs[GLES_KINDS][2];
	const GLint *uniforms; /* of the program in use */
	GLuint target, framebuffer;
	uint32_t width, height; /* of the target; 0: there is none */
	struct gles_plane planes[GLES_PLANES];
	struct gles_vertex vertices[GLES_QUADS * 6];
	size_t quads;

	/* Of the target that is drawn into now, by engine/gles_drawing. */
	bool swapped;	      /* blue comes first in its memory */
	bool opaque;	      /* it has no alpha */
	bool has_pixels;      /* those of the target's memory, or newer ones */
	pixman_box32_t drawn; /* what is newer; empty: nothing */
	bool is_reading;      /* dma-bufs may be read still */
	bool failed;	      /* something may be missing in it */
	bool lost;
};

/*
 * A context for the calling thread. With `hardware`, only one of a graphics device, not one that
 * draws with the processor. Returns 0, or -errno with a sentence in `text`: -ENOENT: there is no
 * EGL or none of what is needed; -EPERM: it would make code as it runs, which this process may not.
 */
int gles_device_create(struct gles_device **device, bool hardware, char *text, size_t text_size);

/* By the thread that uses it. */
void gles_device_destroy(struct gles_device *device);

/* Before the other functions. Returns whether the context is there. */
bool gles_device_enter(struct gles_device *device);

/* Notes the errors that there are, so that the next one is the caller's own. */
void gles_device_note_errors(struct gles_device *device);

/* Whether there was an error since the last call, as where a texture got no memory. */
bool gles_device_take_failure(struct gles_device *device);

/* Has this program draw what comes. Returns 0; -ENOTSUP: the driver cannot make it. */
int gles_device_use(struct gles_device *device, enum gles_kind kind, bool bilinear);

/* A target of this size, whose pixels are undefined if it was another one. Returns 0; -ENOMEM. */
int gles_device_resize(struct gles_device *device, uint32_t width, uint32_t height);

/* A texture for a plane of a source, which keeps its pixels until it is sized anew. */
void gles_device_size_plane(struct gles_device *device, uint32_t plane, GLenum format,
		uint32_t width, uint32_t height);

/* Whether the device was reset: all that it had is gone, and a new one must be created. */
bool gles_device_is_lost(struct gles_device *device);

/* Adds a rectangle of the target. */
void gles_device_add(struct gles_device *device, const pixman_box32_t *box, int dx, int dy);

/* Draws the rectangles that were added, if there are any. */
void gles_device_flush(struct gles_device *device);

#endif
