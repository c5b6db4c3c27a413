// SPDX-License-Identifier: MIT
/*
 * The wl_buffers of a stream: one for each slot, created once by gid-buffer-v1, and the frames that
 * the compositor holds in each.
 *
 * A frame is given to a buffer when the buffer is committed. `released` gives it back when the
 * compositor has released the buffer.
 */
#ifndef GID_VIEW_BUFFERS_H
#define GID_VIEW_BUFFERS_H

#include <gid/stream.h>
#include <wayland-client.h>

#include "common/formats.h"
#include "common/wayland.h"
#include "shape.h"

struct buffers {
	struct wayland *wayland;
	struct gid_domain *domain;
	struct wl_list list; // struct buffer.link, most recently used first
	uint32_t count;
	struct formats formats;
	bool convert;		     // what the compositor cannot show is converted
	const char *told;	     // why one failed, as last reported; NULL: one has worked since
	void (*changed)(void *data); // the state of a buffer changed
	void (*released)(void *data, const struct gid_frame *frame);
	void *data;
};

enum buffer_state {
	BUFFER_IMPORTING, // gidd is asked for the layout
	BUFFER_UNDECIDED, // the compositor's formats are not known yet
	BUFFER_CREATING,  // the compositor is asked for the wl_buffer
	BUFFER_READY,
	BUFFER_FAILED,	// tried again after `retry_time`
	BUFFER_UNFIT,	// the compositor does not support its format or its rows
	BUFFER_FOREIGN, // the same, or wrong colours: is converted, and has no wl_buffer
	BUFFER_GONE,	// revoked; destroyed when the compositor has released it
};

struct buffer {
	struct wl_list link;
	struct buffers *buffers;
	enum buffer_state state;
	gid_id gid;
	struct gid_slab *slab; // NULL while importing
	struct gid_layout layout;
	struct shape shape;
	struct gid_buffer_params_v1 *params;
	struct wl_buffer *wl_buffer;
	bool busy; // attached, not released yet
	uint64_t retry_time;
	uint32_t held_count;
	struct gid_frame held[GID_CREDIT_MAX];
};

void buffers_init(struct buffers *buffers, struct wayland *wayland, struct gid_domain *domain);
void buffers_finish(struct buffers *buffers);

/* Returns the buffer of a gid, in any state; creates it if it is new. NULL: no memory. */
struct buffer *buffers_get(struct buffers *buffers, gid_id gid);

/* To be called when the formats of the compositor are known, or have changed. */
void buffers_decide(struct buffers *buffers);

/* The buffer, which must be READY, is attached and going to be committed: it keeps the frame. */
void buffer_take(struct buffer *buffer, const struct gid_frame *frame);

/* The subscription of all held frames has ended: they are not released. */
void buffers_forget_frames(struct buffers *buffers);

#endif
