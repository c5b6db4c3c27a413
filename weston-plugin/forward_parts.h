// SPDX-License-Identifier: MIT
/**
 * Shared by the files that implement forward.h: forward_commit.c finds the content of a surface,
 * forward_tree.c composites a surface with its subsurfaces, forward_dmabuf.c waits for the fences
 * of dma-bufs and copies them, forward_stream.c has the stream and the buffers that consumers hold.
 */
#ifndef GID_WESTON_FORWARD_PARTS_H
#define GID_WESTON_FORWARD_PARTS_H

#include "dmabuf_exports.h"
#include "drawn_wait.h"
#include "forward.h"
#include "forward_picture.h"
#include "lent_buffers.h"
#include "pixel_copies.h"
#include "refusal.h"

struct forward {
	const struct safety_config *config;
	struct wl_event_loop *loop;
	const struct forward_events *events;
	void *data;

	struct gid_domain *domain;     /* NULL: not connected */
	struct gid_producer *producer; /* NULL: the timer creates it */
	bool published;
	int publish_error; /* as last logged */
	struct wl_event_source *source, *timer;

	struct wl_list lent;	       /* struct lent_buffer: current, or held by consumers */
	struct lent_buffer *current;   /* what `frame` shows */
	struct gid_frame frame;	       /* the last frame, of `current` */
	struct gid_box seen;	       /* the part of the surface that `current` shows */
	bool outdated;		       /* the surface has newer content, which cannot be sent yet */
	bool skipped;		       /* content was skipped since `frame` */
	bool drawn;		       /* the last content was composited from several surfaces */
	bool awaits_grant;	       /* `frame` is sent when gidd has granted its slab */
	struct pixel_copies copies;    /* of content that cannot be lent */
	struct dmabuf_exports dmabufs; /* of the surface's client */
	struct drawn_wait wait;	       /* for dma-bufs whose fences did not signal yet */
	struct wl_event_source *redo;  /* the idle source that sends the event `again`, or NULL */

	uint64_t sent;		/* sequence of the last frame that a consumer received */
	uint64_t reported;	/* the same, of the last event `shown` */
	uint64_t untaken_since; /* when a consumer had unclaimed frames first; 0: none has */
	bool had_consumer;
	bool hidden; /* there is nothing to show, for the reason `why` */
	enum gid_hidden why;
	int64_t reason; /* of the last event `lost`; -1: none */
	struct weston_log_pacer log_pacer;
};

/* --- forward_stream.c ------------------------------------------------------------------------- */

/* Whether the stream is published, so that frames can be sent. */
bool forward_is_ready(const struct forward *forward);

/* Whether content of this size may be copied; if not, sets `refusal`. */
bool forward_may_copy(const struct forward *forward, uint32_t width, uint32_t height,
		struct refusal *refusal);

/* Sends the picture as a frame, and repeats that from now on. */
void forward_show(struct forward *forward, const struct forward_picture *picture);

/* Sends a hidden frame. The client gets the event `lost`, and the log the reason. */
void forward_refuse(struct forward *forward, const struct refusal *refusal);

/* The last frame is out of date: it is not repeated any more. */
void forward_outdate(struct forward *forward);

/* --- forward_dmabuf.c ------------------------------------------------------------------------- */

/*
 * Sends content in dma-bufs once their fences have signalled: with its hash, and as a copy if a
 * consumer is on another machine. Returns false if it cannot be sent, with the reason in `refusal`.
 */
bool forward_show_dmabuf(struct forward *forward, const struct forward_picture *picture,
		struct refusal *refusal);

/* --- forward_tree.c: composites on the processor, from the clients' memory -------------------- */

/* The most surfaces of one tree. More are refused, as is a tree that is too deep. */
#define FORWARD_TREE_SURFACES_MAX 32

enum tree_result {
	TREE_DRAWN,
	TREE_LATER, /* the memory of some buffer is not there yet */
	TREE_REFUSED,
};

/* Whether any of its subsurfaces has content. */
bool forward_tree_has_children(const struct weston_surface *surface);

/*
 * Returns the only visible surface of the tree, if that is opaque and covers the whole main
 * surface, as the video of a player does. NULL: several may be visible, or there are no
 * subsurfaces.
 */
struct weston_surface *forward_tree_find_cover(struct weston_surface *surface);

/*
 * Composites the tree alone into `pixels`: XRGB8888, on black, with `scale` pixels for each unit of
 * surface coordinates, so surface->width * scale pixels a row. `parts`: also the window's menus and
 * dialogs, clipped to this part of it; NULL: without them. `pixels_max`: the limit for the pixels
 * of all surfaces together; more are refused.
 */
enum tree_result forward_tree_draw(struct weston_surface *surface, const struct gid_box *parts,
		int32_t scale, uint64_t pixels_max, uint32_t *pixels, size_t stride,
		struct refusal *refusal);

#endif
