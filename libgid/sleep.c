// SPDX-License-Identifier: MIT
/*
 * A consumer's sleep without a descriptor. The producer wakes it by a futex on the tail of its
 * ring, which costs both sides less than a doorbell: one system call each, and no bytes to be read
 * after.
 *
 * Most fields of `struct gid_sleep` belong to the one thread that receives and sleeps. The ring may
 * be lost and unmapped by another thread while we sleep over it, so we only name its address to the
 * kernel, and never look there ourselves. Everything that is not a frame comes as an interruption,
 * but for the hang-up of a doorbell that nobody tells of: that we look for now and then.
 */
#include "sleep.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "socket.h"

#define NS_PER_S 1000000000ull
#define LOOK_NS 500000000ull
/* An honest producer wakes us for frames: after so many wakes for none it has to use the doorbell.
 */
#define IDLE_WAKES_MAX 100u

/* --- futex(2) over words in memory that domains of one kernel share --------------------------- */

bool gid_sleep_has_futex(void) {
	/* Waiting for no word at all is an error, where waiting is known. */
	return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, CLOCK_MONOTONIC) < 0 && errno == EINVAL;
}

void gid_sleep_wake_futex(const uint32_t *word) {
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Wakes the threads of this process that wait for the word. */
static void wake_private(const uint32_t *word) {
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/*
 * Sleeps until someone wakes us by one of the words, or until `deadline` (CLOCK_MONOTONIC, ns).
 * Returns at once where a word has not the value that is expected, or where `shared` is not mapped
 * any more. It may be mapped read-only. Returns 1 where one of the words was it; 0: a signal, or
 * there is no such memory; -ETIMEDOUT at the deadline.
 */
static int wait_for_words(const uint32_t *shared, uint32_t shared_value, const uint32_t *own,
		uint32_t own_value, uint64_t deadline) {
	struct futex_waitv words[] = {
			{.val = shared_value, .uaddr = (uintptr_t)shared, .flags = FUTEX_32},
			{
					.val = own_value,
					.uaddr = (uintptr_t)own,
					.flags = FUTEX_32 | FUTEX_PRIVATE_FLAG,
			},
	};
	struct timespec until = {(time_t)(deadline / NS_PER_S), (long)(deadline % NS_PER_S)};
	long ret = syscall(SYS_futex_waitv, words, 2, 0, &until, CLOCK_MONOTONIC);
	if (ret >= 0 || errno == EAGAIN) {
		return 1;
	}
	return errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}

/* --- life ------------------------------------------------------------------------------------- */

int gid_sleep_init(struct gid_sleep *sleep, bool by_futex) {
	*sleep = (struct gid_sleep){
			.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
			.nudge_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
			.by_futex = by_futex,
	};
	struct epoll_event event = {.events = EPOLLIN, .data.fd = sleep->nudge_fd};
	if (sleep->epoll_fd < 0 || sleep->nudge_fd < 0 ||
			epoll_ctl(sleep->epoll_fd, EPOLL_CTL_ADD, sleep->nudge_fd, &event) < 0) {
		int error = -errno;
		gid_sleep_finish(sleep);
		return error;
	}
	return 0;
}

void gid_sleep_finish(struct gid_sleep *sleep) {
	if (sleep->nudge_fd >= 0) {
		close(sleep->nudge_fd);
	}
	if (sleep->epoll_fd >= 0) {
		close(sleep->epoll_fd);
	}
	sleep->nudge_fd = sleep->epoll_fd = -1;
}

/* --- what receiving tells, under the caller's lock -------------------------------------------- */

static void ask_for_wake(const struct gid_sleep *sleep, struct gid_wire_page *page) {
	bool futex = sleep->one_kernel && sleep->by_futex && gid_sleep_has_futex() &&
			!__atomic_load_n(&sleep->distrusts, __ATOMIC_RELAXED);
	__atomic_store_n(&page->wake, futex ? GID_WIRE_FUTEX : GID_WIRE_BY_DOORBELL,
			__ATOMIC_SEQ_CST);
}

void gid_sleep_attach(struct gid_sleep *sleep, struct gid_wire_page *page, bool one_kernel) {
	sleep->one_kernel = one_kernel;
	ask_for_wake(sleep, page);
}

/*
 * The producer may have used up the one wake-up of this sleep, in the way that we chose before: so
 * a new sleep begins.
 */
static void fall_asleep_anew(struct gid_sleep *sleep, struct gid_ring_consumer *ring) {
	gid_ring_consumer_wake(ring);
	if (gid_ring_consumer_sleep(ring)) {
		gid_sleep_interrupt(sleep);
	}
}

void gid_sleep_prepare(struct gid_sleep *sleep, struct gid_ring_consumer *ring) {
	struct gid_wire_page *page = ring->page;
	if (page->wake != GID_WIRE_FUTEX) {
		return;
	}
	if (sleep->idle_wakes <= IDLE_WAKES_MAX) {
		sleep->word = (const uint32_t *)&ring->ring->tail;
		sleep->value = (uint32_t)ring->tail;
		return;
	}
	__atomic_store_n(&sleep->distrusts, true, __ATOMIC_RELAXED);
	__atomic_store_n(&page->wake, GID_WIRE_BY_DOORBELL, __ATOMIC_SEQ_CST);
	fall_asleep_anew(sleep, ring);
}

void gid_sleep_change(struct gid_sleep *sleep, struct gid_ring_consumer *ring, bool by_futex) {
	sleep->by_futex = by_futex;
	sleep->word = NULL;
	if (ring->page == NULL) {
		return; /* the next subscription's page will say it */
	}
	ask_for_wake(sleep, ring->page);
	if (ring->asleep % 2 != 0) {
		fall_asleep_anew(sleep, ring);
		gid_sleep_prepare(sleep, ring);
	}
}

bool gid_sleep_was_rung(struct gid_sleep *sleep, const struct gid_wire_page *page) {
	bool rung = page->wake != GID_WIRE_FUTEX || sleep->rung;
	sleep->rung = false;
	return rung;
}

/* --- sleeping: without the caller's lock ------------------------------------------------------ */

static bool is_interrupted(struct gid_sleep *sleep) {
	uint32_t count = __atomic_load_n(&sleep->interruptions, __ATOMIC_SEQ_CST);
	bool news = count != sleep->seen;
	sleep->seen = count;
	return news;
}

static bool poll_descriptor(struct gid_sleep *sleep, int timeout_ms) {
	struct pollfd fd = {.fd = sleep->epoll_fd, .events = POLLIN};
	return poll(&fd, 1, timeout_ms) > 0;
}

/* Rounded up, so as not to come too early by less than a millisecond. -1: there is no end. */
static int milliseconds_until(uint64_t until) {
	uint64_t now = gid_clock_now(), left = until > now ? until - now : 0;
	return left / 1000000 >= INT_MAX ? -1 : (int)((left + 999999) / 1000000);
}

void gid_sleep_wait(struct gid_sleep *sleep, uint64_t until) {
	if (sleep->word == NULL) {
		/* gid_sleep_calm_down() may just have consumed the nudge of a new interruption. */
		if (!is_interrupted(sleep)) {
			poll_descriptor(sleep, milliseconds_until(until));
		}
		return;
	}
	for (uint64_t look = 0; look < until;) {
		uint64_t later = gid_clock_now() + LOOK_NS;
		look = later < until ? later : until;
		int ret = wait_for_words(sleep->word, sleep->value, &sleep->interruptions,
				sleep->seen, look);
		if (is_interrupted(sleep) || ret == 0) {
			return;
		}
		if (ret > 0) {
			sleep->idle_wakes++; /* unless there is a frame */
			return;
		}
		if (poll_descriptor(sleep, 0)) {
			sleep->rung = true;
			return;
		}
	}
}

void gid_sleep_interrupt(struct gid_sleep *sleep) {
	__atomic_add_fetch(&sleep->interruptions, 1, __ATOMIC_SEQ_CST);
	wake_private(&sleep->interruptions);
	/* In this order: who sees `nudged` finds the descriptor readable. */
	eventfd_write(sleep->nudge_fd, 1);
	__atomic_store_n(&sleep->nudged, true, __ATOMIC_SEQ_CST);
}

void gid_sleep_calm_down(struct gid_sleep *sleep) {
	if (__atomic_exchange_n(&sleep->nudged, false, __ATOMIC_SEQ_CST)) {
		eventfd_t nudges;
		eventfd_read(sleep->nudge_fd, &nudges);
	}
}
