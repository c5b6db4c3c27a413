// SPDX-License-Identifier: MIT
/** The wl_buffers made of gids, each a wlr_buffer over the memory that the gids name. */
#ifndef GID_WLROOTS_BUFFER_H
#define GID_WLROOTS_BUFFER_H

#include "manager.h"
#include "shown_formats.h"
#include "yuv.h"

/* All of them, and what shows them. */
struct buffers {
	struct wlr_renderer *renderer;
	struct yuv *yuv; /* NULL: YUV is only sampled, if at all */
	struct shown_formats formats;
	const struct gidd_connection *connection;
	int (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	struct wl_list list; /* struct buffer::link */
	bool told_refusal;   /* of a picture that the renderer refuses; logged once */
	bool told_rows;	     /* of one whose rows it cannot read; logged once */
};

/* Creates buffers for clients; its data is struct buffers. */
extern const struct params_backend buffer_backend;

/*
 * Tries what the renderer supports, and registers our wl_buffers with wlroots. The caller owns
 * renderer and allocator; set `connection` before the first client connects.
 */
void buffers_init(struct buffers *buffers, struct wlr_renderer *renderer,
		struct wlr_allocator *allocator, int (*log)(const char *format, ...));

/* The domain ends, and with it all its slabs. */
void buffers_forget_domain(struct buffers *buffers);

/* Buffers that are still shown become blank. */
void buffers_finish(struct buffers *buffers);

#endif
