// SPDX-License-Identifier: MIT
/**
 * The stream safety/ROLE of one role: sends what its surface shows, repeats it as a sign of life,
 * and keeps the buffers that others read.
 *
 * Never waits for gidd or for a consumer. Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_FORWARD_H
#define GID_WESTON_FORWARD_H

#include "pixel_copies.h"
#include "safety_config.h"
#include <gid/stream.h>

/* What becomes of the frames; `lost` reasons are those of gid_safety_surface_v1. */
struct forward_events {
	/* The stream is there: show the picture again. */
	void (*ready)(void *data);
	/* Consumers took all pictures up to this one, as was found at this time. */
	void (*shown)(void *data, uint64_t sequence, uint64_t time);
	/* From now on they do not, until `shown`. */
	void (*lost)(void *data, uint32_t reason);
	/* Whether who drew the picture lives still: without that it is not repeated. */
	bool (*is_alive)(void *data);
};

/* One picture to send. */
struct forward_picture {
	gid_id gid;
	struct gid_slab *slab; /* that the gid names; a reference is taken */
	/* Not released to the client before all consumers let go. NULL for a copy. */
	struct weston_buffer *buffer;
	struct weston_buffer_release *release; /* NULL: the client did not ask for one */
	struct gid_box damage, crop;
	uint32_t transform;
	uint32_t flags; /* GID_FRAME_COPIED or 0 */
	uint64_t content_hash;
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

/* Another surface shows its content now: what it is told begins anew. */
void forward_begin(struct forward *forward);

/* Sends the picture, and repeats it from now on. */
void forward_show(struct forward *forward, const struct forward_picture *picture);

/* The picture that was sent is not what the surface shows now: it is repeated no more. */
void forward_outdate(struct forward *forward);

/*
 * There is nothing to show, and consumers are told so, and why. `reason`, where it is not negative,
 * is what the surface's owner hears.
 */
void forward_hide(struct forward *forward, int64_t reason, enum gid_hidden why);

#endif
