// SPDX-License-Identifier: MIT
/**
 * A consumer's inside, shared by consumer.c (its subscription and its life), consumer_frames.c
 * (frames, taken out and given back) and consumer_held.c (what is held), and for tests.
 */
#ifndef GID_CONSUMER_H
#define GID_CONSUMER_H

#include "connection.h"
#include "doorbell.h"
#include "life.h"
#include "memory_source.h"
#include "sleep.h"

/* How long gidd is not asked again for a stream that it has just been asked for. */
#define GID_BACK_OFF_MIN_NS 50000000ull

struct gid_consumer {
	/* --- used with each frame: together, so that those of many streams fit in the caches ---
	 */
	struct gid_domain *domain;	    /* NULL once it was destroyed */
	const struct gid_wire_ring *shared; /* NULL while not live */
	struct gid_memory_own memory;	    /* of our page */
	struct gid_timeline *timeline;	    /* NULL: none */
	enum gid_consumer_state state;
	uint32_t producer_domain;
	/* Calls under way. Callbacks may destroy us: that waits for the end of the outermost. */
	uint32_t busy;
	bool destroyed;
	bool over; /* no more comes; what is unread can be received still */
	/* gid_frame.index of the ring's entry 0: names frames of no two subscriptions. */
	uint64_t base;
	uint64_t lost; /* frames below it may have changed: a machine was restored (life.h) */
	uint64_t next_sequence; /* the one expected; 0: no frame of this subscription came yet */
	uint64_t back_off;
	uint64_t received; /* of this subscription */
	/* `submit_time` of the frame whose latency was measured last, and `received` then. */
	uint64_t measured, measured_at;
	struct gid_life life; /* of both machines, where the producer is on another one */
	struct gid_sleep sleep;
	struct gid_ring_consumer ring; /* last of these: what it has for notes is long */

	/* --- the present subscription --- */
	uint32_t number; /* ours for gidd; 0 where gidd does not know it (any more) */
	struct gid_doorbell doorbell;
	int ring_fd; /* what it is mapped from, for a gidd that comes later; -1: not live, a window
		      */
	struct gid_slab *metadata; /* the slab that frames' metadata was last read from, or NULL */
	uint64_t metadata_again;   /* when another one may be imported, ns */
	uint64_t renewed;	   /* when the leases of what is held were last renewed, ns */
	int reason;		   /* why it is over */

	/* --- across subscriptions --- */
	struct gid_endpoint endpoint;
	struct gid_consumer_options options;
	struct gid_consumer_stats stats; /* its frames: of the subscriptions before */
	char owner[GID_NAME_MAX + 1], name[GID_NAME_MAX + 1];
	bool was_live;
	struct gid_timer retry;
	uint64_t asked;	     /* when gidd was asked last */
	uint64_t dispatched; /* when gid_consumer_wait() last dispatched the domain */
	uint64_t listened;   /* when a quiet one last looked whether the other side hung up */
};

/* Whether the producer ended the stream in good order. While live. */
static inline bool gid_consumer_is_closed(const struct gid_consumer *consumer) {
	return __atomic_load_n(&consumer->shared->closed, __ATOMIC_ACQUIRE) == 1;
}

/* Every function that may run a callback is between these two. The consumer may be gone after. */
void gid_consumer_enter(struct gid_consumer *consumer);
void gid_consumer_leave(struct gid_consumer *consumer);

/*
 * The subscription is over, and nothing is left to receive. With `reconnect`, asks for the next
 * one. Runs the state callback.
 */
void gid_consumer_disconnect(struct gid_consumer *consumer, int reason);

/* Tells gidd whether we listen to the eventfd that bypasses it; and stops listening. */
void gid_consumer_send_hearing(struct gid_consumer *consumer, bool on);
void gid_consumer_stop_hearing(struct gid_consumer *consumer);

#endif
