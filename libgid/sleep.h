// SPDX-License-Identifier: MIT
/** How a consumer sleeps, by a descriptor or by a futex over the tail of its ring. */
#ifndef GID_SLEEP_H
#define GID_SLEEP_H

#include "ring.h"

struct gid_sleep {
	int epoll_fd;	 /* readable: there is something to do; -1 before gid_sleep_init() */
	int nudge_fd;	 /* makes it readable where no doorbell does */
	bool by_futex;	 /* a thread calls gid_sleep_wait(), and may be woken by the futex */
	bool one_kernel; /* so that a futex can wake us */
	bool nudged;
	uint32_t interruptions;
	/* The futex to wait for, in the ring; NULL: the descriptor is waited for. */
	const uint32_t *word;
	uint32_t value;	     /* of the word while there is nothing new */
	uint32_t seen;	     /* interruptions */
	uint32_t idle_wakes; /* by the word in the ring, since the last frame */
	bool rung;	     /* the doorbell, although the futex is to wake us */
	bool distrusts;	     /* was woken for nothing too often, for good */
};

/* Whether this kernel can wait for two words at once (Linux 5.16), and lets us. */
bool gid_sleep_has_futex(void);

/* Wakes the thread, of any process, that waits for the word. */
void gid_sleep_wake_futex(const uint32_t *word);

int gid_sleep_init(struct gid_sleep *sleep, bool by_futex);
void gid_sleep_finish(struct gid_sleep *sleep);

/* A new subscription's page says how we are to be woken; a futex is of `one_kernel`. */
void gid_sleep_attach(struct gid_sleep *sleep, struct gid_wire_page *page, bool one_kernel);

/* Chooses between futex and descriptor, also for the present sleep if the ring sleeps. */
void gid_sleep_change(struct gid_sleep *sleep, struct gid_ring_consumer *ring, bool by_futex);

/*
 * There is no frame and the ring is asleep: the caller may sleep, too. gid_sleep_end(): there was
 * one.
 */
void gid_sleep_prepare(struct gid_sleep *sleep, struct gid_ring_consumer *ring);
static inline void gid_sleep_end(struct gid_sleep *sleep) {
	sleep->idle_wakes = 0;
}

/* Whether the doorbell may have to be silenced. */
bool gid_sleep_was_rung(struct gid_sleep *sleep, const struct gid_wire_page *page);

/* See gid_consumer_sleep_until(), gid_consumer_interrupt(). */
void gid_sleep_wait(struct gid_sleep *sleep, uint64_t until);
void gid_sleep_interrupt(struct gid_sleep *sleep);

/* Makes the descriptor unreadable again after an interruption, such as a change of state. */
void gid_sleep_calm_down(struct gid_sleep *sleep);

static inline void gid_sleep_calm(struct gid_sleep *sleep) {
	if (__atomic_load_n(&sleep->nudged, __ATOMIC_RELAXED)) {
		gid_sleep_calm_down(sleep);
	}
}

#endif
