// SPDX-License-Identifier: MIT
/**
 * Between the files of forward.h: forward_commit.c finds the picture that a surface shows,
 * forward_tree.c draws one of a surface with subsurfaces, forward_dmabuf.c waits for dma-bufs and
 * copies them, forward_stream.c has the stream and the buffers that are out.
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

	struct gid_domain *domain;     /* NULL: there is none */
	struct gid_producer *producer; /* NULL: to be made when the timer ticks */
	bool published;
	int publish_error; /* as last said in the log */
	struct wl_event_source *source, *timer;

	struct wl_list lent; /* struct lent_buffer: what is shown, and what consumers have still */
	struct lent_buffer *current; /* what is shown */
	struct gid_frame frame;	     /* of `current` */
	struct gid_box seen;	     /* of the surface, in `current` */
	bool outdated;		     /* the surface has another picture, which cannot be sent yet */
	bool skipped;		     /* some picture was left out since `frame` */
	bool drawn;		     /* what was sent last was drawn from several surfaces */
	bool awaits_grant;	     /* then it is sent */
	struct pixel_copies copies;  /* of pictures that cannot be lent */
	struct dmabuf_exports dmabufs; /* of the surface's client */
	struct drawn_wait wait;	       /* for those that a device draws still */
	struct wl_event_source *redo;  /* an idle one, which has the event `again`, or NULL */

	uint64_t sent;		/* sequence of the last picture that somebody got */
	uint64_t reported;	/* the same of the last event `shown` */
	uint64_t untaken_since; /* some consumer has pictures that it did not take; 0: none */
	bool had_consumer;
	bool hidden; /* and that was sent, with `why` */
	enum gid_hidden why;
	int64_t reason; /* of the last event `lost`; -1: none */
	struct weston_log_pacer log_pacer;
};

/* --- forward_stream.c --------------------------------------------------------------------------
 */

/* Whether pictures can be sent, or copied, now. */
bool forward_is_ready(const struct forward *forward);

/* Whether a picture of this size may be copied; if not, `refusal` says so. */
bool forward_may_copy(const struct forward *forward, uint32_t width, uint32_t height,
		struct refusal *refusal);

/* Sends the picture, and repeats it from now on. */
void forward_show(struct forward *forward, const struct forward_picture *picture);

/* Consumers get no picture, and are told why; so are the client and the log. */
void forward_refuse(struct forward *forward, const struct refusal *refusal);

/* The picture that was sent is not what the surface shows now: it is repeated no more. */
void forward_outdate(struct forward *forward);

/* --- forward_dmabuf.c ------------------------------------------------------------------------- */

/*
 * Sends a picture in dma-bufs, when it is drawn: with its hash, and copied where a consumer is on
 * another machine. Returns false where it cannot be sent, for the reason in `refusal`.
 */
bool forward_show_dmabuf(struct forward *forward, const struct forward_picture *picture,
		struct refusal *refusal);

/* --- forward_tree.c: the processor draws, from the clients' memory ---------------------------- */

/* Surfaces of one tree: more are refused, as is a tree that is too deep. */
#define FORWARD_TREE_SURFACES_MAX 32

enum tree_result {
	TREE_DRAWN,
	TREE_LATER, /* some client's memory is not there yet */
	TREE_REFUSED,
};

/* Whether any subsurface of it has something to show. */
bool forward_tree_has_children(const struct weston_surface *surface);

/*
 * The one surface of the tree that is seen, where it is opaque and lies in front of all of the main
 * surface, as the video of a player does; NULL: several may be seen, or there is no other surface.
 */
struct weston_surface *forward_tree_find_cover(struct weston_surface *surface);

/*
 * Draws the tree as a display would show it that had nothing else: into `pixels`, words of
 * XRGB8888, where one length of the surface takes `scale` pixels: surface->width * scale of them
 * across. `parts`: with the window's menus and dialogs, within this part of it; NULL: without.
 * `pixels_max`: more are refused, of all surfaces together.
 */
enum tree_result forward_tree_draw(struct weston_surface *surface, const struct gid_box *parts,
		int32_t scale, uint64_t pixels_max, uint32_t *pixels, size_t stride,
		struct refusal *refusal);

#endif
