// SPDX-License-Identifier: MIT
/*
 * A consumer's sleep without a descriptor. The producer wakes it by a futex on the tail of its
 * ring, which costs both sides less than a doorbell: one system call each, and no bytes to be read
 * after.
 *
 * The fields of `struct gid_sleep` belong to the one thread that receives and sleeps. The ring may
 * be lost and unmapped by another thread while we sleep over it, so we only name its address to the
 * kernel, and never look there ourselves. Everything that is not a frame comes as an interruption,
 * but for the hang-up of a doorbell that nobody tells of: that we look for now and then.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "consumer.h"
#include "futex.h"
#include "socket.h"

#define LOOK_NS 500000000ull
/* An honest producer wakes us for frames: after so many wakes for none it has to use the doorbell.
 */
#define IDLE_WAKES_MAX 100

/* --- what receiving tells, under the caller's lock -------------------------------------------- */

void gid_sleep_attach(struct gid_consumer *consumer, bool one_kernel) {
	bool futex = one_kernel && consumer->options.sleeps && gid_futex_is_there() &&
		!__atomic_load_n(&consumer->sleep.distrusts, __ATOMIC_RELAXED);
	struct gid_wire_page *page = consumer->memory.data;
	__atomic_store_n(&page->wake, futex ? GID_WIRE_FUTEX : GID_WIRE_DOORBELL, __ATOMIC_SEQ_CST);
}

void gid_sleep_prepare(struct gid_consumer *consumer) {
	struct gid_sleep *sleep = &consumer->sleep;
	struct gid_wire_page *page = consumer->memory.data;
	if (page->wake != GID_WIRE_FUTEX) {
		return;
	}
	if (++sleep->idle_wakes <= IDLE_WAKES_MAX) {
		sleep->word = (const uint32_t *)&consumer->shared->tail;
		sleep->value = (uint32_t)consumer->ring.tail;
		return;
	}
	/* Falls asleep anew: for this sleep the producer may have used the futex. */
	__atomic_store_n(&sleep->distrusts, true, __ATOMIC_RELAXED);
	__atomic_store_n(&page->wake, GID_WIRE_DOORBELL, __ATOMIC_SEQ_CST);
	gid_ring_consumer_wake(&consumer->ring);
	if (gid_ring_consumer_sleep(&consumer->ring)) {
		gid_consumer_interrupt(consumer);
	}
}

void gid_sleep_end(struct gid_consumer *consumer) {
	consumer->sleep.idle_wakes = 0;
}

bool gid_sleep_was_rung(struct gid_consumer *consumer) {
	const struct gid_wire_page *page = consumer->memory.data;
	bool rung = page->wake != GID_WIRE_FUTEX || consumer->sleep.rung;
	consumer->sleep.rung = false;
	return rung;
}

/* --- sleeping: without the caller's lock ------------------------------------------------------ */

static bool is_interrupted(struct gid_consumer *consumer) {
	uint32_t count = __atomic_load_n(&consumer->interruptions, __ATOMIC_SEQ_CST);
	bool news = count != consumer->sleep.seen;
	consumer->sleep.seen = count;
	return news;
}

static bool poll_descriptor(struct gid_consumer *consumer, int timeout_ms) {
	struct pollfd fd = {.fd = consumer->epoll_fd, .events = POLLIN};
	return poll(&fd, 1, timeout_ms) > 0;
}

int gid_consumer_sleep(struct gid_consumer *consumer) {
	struct gid_sleep *sleep = &consumer->sleep;
	if (!consumer->options.sleeps) {
		return -EINVAL;
	}
	if (sleep->word == NULL) {
		/* Calming the one before may have taken the nudge of this one. */
		if (!is_interrupted(consumer)) {
			poll_descriptor(consumer, -1);
		}
		return 0;
	}
	for (;;) {
		int ret = gid_futex_wait(sleep->word, sleep->value, &consumer->interruptions,
			sleep->seen, gid_socket_now() + LOOK_NS);
		if (is_interrupted(consumer) || ret == 0) {
			return 0;
		}
		if (poll_descriptor(consumer, 0)) {
			sleep->rung = true;
			return 0;
		}
	}
}

void gid_consumer_interrupt(struct gid_consumer *consumer) {
	__atomic_add_fetch(&consumer->interruptions, 1, __ATOMIC_SEQ_CST);
	gid_futex_wake_private(&consumer->interruptions);
	/* In this order: who sees `nudged` finds the descriptor readable. */
	eventfd_write(consumer->nudge_fd, 1);
	__atomic_store_n(&consumer->nudged, true, __ATOMIC_SEQ_CST);
}

void gid_consumer_calm(struct gid_consumer *consumer) {
	if (__atomic_load_n(&consumer->nudged, __ATOMIC_RELAXED) &&
		__atomic_exchange_n(&consumer->nudged, false, __ATOMIC_SEQ_CST)) {
		eventfd_t nudges;
		eventfd_read(consumer->nudge_fd, &nudges);
	}
}
