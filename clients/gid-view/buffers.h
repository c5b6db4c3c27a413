// SPDX-License-Identifier: MIT
/*
 * The wl_buffers of a stream: one for each slot, made once by gid-buffer-v1 and kept, together with
 * the frames that the compositor holds in it.
 *
 * A frame is handed to a buffer when the buffer is committed, and comes back by `released` once the
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
	struct wl_list list; // struct buffer.link, last used first
	uint32_t count;
	struct formats formats;
	bool convert;		     // what the compositor cannot show is for a converter
	const char *told;	     // why none could be made; NULL: one was, since that was said
	void (*changed)(void *data); // a buffer that was not there yet is, or has failed
	void (*released)(void *data, const struct gid_frame *frame);
	void *data;
};

enum buffer_state {
	BUFFER_IMPORTING, // gidd is asked for the layout
	BUFFER_UNDECIDED, // the compositor has not said yet what it can show
	BUFFER_CREATING,  // the compositor is asked for the wl_buffer
	BUFFER_READY,
	BUFFER_FAILED,	// asked again from `retry_time` on
	BUFFER_UNFIT,	// the compositor has no such format, or cannot read such rows
	BUFFER_FOREIGN, // nor has it, or shows other colours: to be converted, and has no wl_buffer
	BUFFER_GONE,	// taken back by its owner; goes when the compositor shows it no more
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

/* The buffer of a gid, in whatever state it is; begins to make it. NULL: no memory. */
struct buffer *buffers_get(struct buffers *buffers, gid_id gid);

/* To be called when it is known, or known anew, what the compositor can show. */
void buffers_decide(struct buffers *buffers);

/* The buffer, which must be READY, is attached and will be committed: it keeps the frame. */
void buffer_take(struct buffer *buffer, const struct gid_frame *frame);

/* The subscription that all held frames came by is over: there is nothing to give back. */
void buffers_forget_frames(struct buffers *buffers);

#endif
