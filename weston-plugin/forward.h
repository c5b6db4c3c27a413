// SPDX-License-Identifier: MIT
/**
 * The stream safety/ROLE of one role: sends what its surface shows, repeats it as a sign of life,
 * and keeps the buffers that others read.
 *
 * Never waits for gidd or for a consumer. Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_FORWARD_H
#define GID_WESTON_FORWARD_H

#include <gid/stream.h>

#include "dmabuf_exports.h"
#include "drawn_wait.h"
#include "forward_picture.h"
#include "pixel_copies.h"
#include "safety_config.h"

/* What becomes of the frames; `lost` reasons are those of gid_safety_surface_v1. */
struct forward_events {
	/* The stream is there: show the picture again. */
	void (*ready)(void *data);
	/* The same, where the stream was there: the picture needs other memory now. */
	void (*again)(void *data);
	/* Consumers took all pictures up to this one, as was found at this time. */
	void (*shown)(void *data, uint64_t sequence, uint64_t time);
	/* From now on they do not, until `shown`. */
	void (*lost)(void *data, uint32_t reason);
	/* Whether who drew the picture lives still: without that it is not repeated. */
	bool (*is_alive)(void *data);
};

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

	struct wl_list held;	    /* struct held: what is shown, and what consumers have still */
	struct held *current;	    /* what is shown */
	struct gid_frame frame;	    /* of `current` */
	bool outdated;		    /* the surface has another picture, which cannot be sent yet */
	bool waits;		    /* for a grant: then it is sent */
	struct pixel_copies copies; /* of pictures that cannot be lent */
	struct dmabuf_exports dmabufs; /* of the surface's client */
	struct drawn_wait wait;	       /* for those that a device draws still */
	struct wl_event_source *redo;  /* an idle one, which has the event `again`, or NULL */

	uint64_t sent, told;	/* sequences: the last picture that somebody got, and was told of */
	uint64_t untaken_since; /* some consumer has pictures that it did not take; 0: none */
	bool had_consumer;
	bool hidden; /* and that was sent, with `why` */
	enum gid_hidden why;
	int64_t reason; /* as last told; -1: none */
	struct weston_log_pacer pacer;
};

/* For what clients can bring about as often as they like: at most 30 lines a minute for each role.
 */
#define forward_log(forward, ...) weston_log_paced(&(forward)->pacer, 30, 60000, __VA_ARGS__)

/* `config`, `events` and `data` outlive it. Returns 0 or -ENOMEM. */
int forward_init(struct forward *forward, const struct safety_config *config,
		struct wl_event_loop *loop, const struct forward_events *events, void *data);
void forward_finish(struct forward *forward);

/* The domain came; NULL: it goes, and everything of it is given back. */
void forward_set_domain(struct forward *forward, struct gid_domain *domain);

/* Whether pictures can be sent, or copied, now. */
bool forward_is_ready(const struct forward *forward);

/* Whether consumers were told that there is nothing to show, and this reason. */
bool forward_is_hidden(const struct forward *forward, enum gid_hidden why);

/* The surface goes, or has the role no more: there is nothing to show, and its client's dma-bufs
 * are forgotten. */
void forward_end(struct forward *forward);

/* Another surface shows its content now: what it is told begins anew. */
void forward_begin(struct forward *forward);

/* Sends the picture, and repeats it from now on. */
void forward_show(struct forward *forward, const struct forward_picture *picture);

/*
 * Sends a picture in dma-bufs, when it is drawn: with its hash, and copied where a consumer is on
 * another machine. Returns false where it cannot be sent, for the reason in `refusal`.
 */
bool forward_show_dmabuf(struct forward *forward, const struct forward_picture *picture,
		struct refusal *refusal);

/* As drawn_wait.drawn; `data` is the struct forward. */
void forward_show_when_drawn(void *data, struct forward_picture *picture);

/* Consumers get no picture, and are told why; so are the client and the log. */
void forward_refuse(struct forward *forward, const struct refusal *refusal);

/* The picture that was sent is not what the surface shows now: it is repeated no more. */
void forward_outdate(struct forward *forward);

/*
 * There is nothing to show, and consumers are told so, and why. `reason`, where it is not negative,
 * is what the surface's owner hears.
 */
void forward_hide(struct forward *forward, int64_t reason, enum gid_hidden why);

#endif
