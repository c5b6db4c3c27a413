// SPDX-License-Identifier: MIT
/*
 * libgid's own ring.c and sleep.c for the checker: each atomic access of theirs is a call of it,
 * and so is each system call. The ring is so short that its places come round. build.rs makes one
 * copy of all this as it is, and one for each mutant.
 */
#define GID_RING_ENTRIES 2u

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t model_load(const void *word, size_t size, int order);
void model_store(void *word, uint64_t value, size_t size, int order);
uint64_t model_exchange(void *word, uint64_t value, size_t size);
void model_fence(void);
void model_futex_wait(const void *word, uint32_t value);
void model_futex_wake(const void *word);

#define __atomic_load_n(word, order) ((__typeof__(*(word)))model_load(word, sizeof(*(word)), order))
#define __atomic_store_n(word, value, order) model_store(word, value, sizeof(*(word)), order)
#define __atomic_exchange_n(word, value, order)                                                    \
	((__typeof__(*(word)))model_exchange(word, value, sizeof(*(word))))
#define __atomic_thread_fence(order) model_fence()
#define syscall(...) model_syscall(__VA_ARGS__)

static long model_syscall(long number, ...);

#include RING
#include SLEEP
#include ONE_RING

#include <stdarg.h>

/* The two futex calls of sleep.c; what a thread of our own process sleeps over is not modelled. */
static long model_syscall(long number, ...) {
	va_list arguments;
	va_start(arguments, number);
	if (number == SYS_futex_waitv) {
		const struct futex_waitv *words = va_arg(arguments, const struct futex_waitv *);
		model_futex_wait((const void *)(uintptr_t)words[0].uaddr, (uint32_t)words[0].val);
	} else {
		const void *word = va_arg(arguments, const void *);
		if (va_arg(arguments, int) == FUTEX_WAKE) {
			model_futex_wake(word);
		}
	}
	va_end(arguments);
	return 0;
}

uint64_t gid_clock_now(void) {
	return 0;
}

static struct {
	struct gid_wire_ring ring;
	struct gid_wire_page page;
	struct gid_ring_producer producer;
	struct gid_ring_consumer consumer;
	/* The last of all rings, of a consumer that never looks. */
	struct gid_wire_ring last_ring;
	struct gid_wire_page last_page;
	struct gid_ring_producer last;
	struct gid_sleep sleep;
	bool two_lines; /* entries have a second one, and its words are looked at */
} m;

/* Those that both ends may touch at once; NULL behind the last. All else has one thread. */
static uint64_t *word(uint32_t number) {
	uint64_t *words[] = {
			&m.ring.asleep,
			&m.ring.taken,
			&m.ring.tail,
			&m.ring.floor,
			&m.ring.frames_ring[0].index,
			&m.ring.frames_ring[0].gid,
			&m.ring.frames_ring[1].index,
			&m.ring.frames_ring[1].gid,
			&m.page.asleep,
			&m.page.head,
			&m.page.release_tail,
			&m.page.shown_count,
			&m.page.shown_sequence,
			&m.page.shown_time,
			&m.page.shown_refresh_ns,
			&m.page.shown_window_ns,
			&m.last_ring.tail,
	};
	const uint32_t count = sizeof(words) / sizeof(words[0]);
	if (number < count) {
		return words[number];
	}
	if (number - count < GID_RING_RELEASES) {
		return &m.page.releases[number - count];
	}
	if (!m.two_lines) {
		return one_word(number - count - GID_RING_RELEASES);
	}
	uint64_t *lines[] = {
			&m.ring.frames_ring[0].kind,   /* with `more` */
			&m.ring.more_ring[0].words[5], /* content_hash */
			NULL,
	};
	return lines[number - count - GID_RING_RELEASES];
}

static void reset(bool two_lines) {
	memset(&m, 0, sizeof(m));
	m.two_lines = two_lines;
	memset(&one, 0, sizeof(one));
	gid_ring_producer_init(&m.producer, &m.ring, &m.page, GID_RING_ENTRIES);
	gid_ring_consumer_init(&m.consumer, &m.ring, &m.page);
	gid_ring_producer_init(&m.last, &m.last_ring, &m.last_page, GID_RING_ENTRIES);
	m.page.wake = GID_WIRE_FUTEX;
	m.sleep.epoll_fd = m.sleep.nudge_fd = -1;
}

static uint64_t hash_of(uint64_t gid) {
	return m.two_lines ? gid : 0;
}

static struct gid_wire_entry line_of(const void *gid, uint32_t number) {
	return (struct gid_wire_entry){.gid = *(const uint64_t *)gid + number};
}

static int put(uint64_t gid) {
	struct gid_wire_frame frame = {
			.gid = gid,
			.content_hash = hash_of(gid),
			.more = hash_of(gid) != 0,
	};
	return m.two_lines ? gid_ring_put(&m.producer, &frame, NULL, 1)
			   : (int)gid_ring_put_lines(&m.producer, 1, line_of, &gid, 1);
}

static void publish(void) {
	gid_ring_publish(&m.producer);
}

static void publish_to_both(void) {
	gid_ring_show(&m.producer);
	gid_ring_publish(&m.last);
}

static int take_back(uint64_t below, uint64_t *gid) {
	struct gid_ring_sent taken;
	int got = gid_ring_take_back(&m.producer, below, &taken);
	*gid = got == 1 ? taken.gid : 0;
	return got;
}

static bool take_by_force(uint64_t index) {
	struct gid_ring_sent taken;
	return gid_ring_take_by_force(&m.producer, index, &taken);
}

static int collect(uint64_t *gid) {
	struct gid_ring_sent released;
	int got = gid_ring_collect(&m.producer, &released);
	*gid = got == 1 ? released.gid : 0;
	return got;
}

static int receive_some(uint32_t most, uint64_t *gids, uint64_t *indices) {
	struct gid_wire_frame copies[GID_BURST_MAX];
	int got = most == 1 ? gid_ring_receive(&m.consumer, copies)
			    : gid_ring_receive_burst(&m.consumer, copies, most);
	for (int i = 0; i < got; i++) {
		if (copies[i].content_hash != hash_of(copies[i].gid)) {
			return -EBADMSG; /* its lines are of two entries */
		}
		gids[i] = copies[i].gid;
		indices[i] = copies[i].index;
	}
	return got;
}

static int release(uint64_t index) {
	return gid_ring_release(&m.consumer, index);
}

static bool is_held(uint64_t index) {
	return gid_ring_is_held(&m.consumer, index);
}

static bool consumer_sleeps(void) {
	return !gid_ring_consumer_sleep(&m.consumer);
}

static bool producer_sleeps(void) {
	return !gid_ring_producer_sleep(&m.producer);
}

static bool wakes_consumer(void) {
	return gid_ring_should_wake_consumer(&m.producer);
}

static bool wakes_producer(void) {
	return gid_ring_should_wake_producer(&m.consumer);
}

static void sleep_by_futex(void) {
	gid_sleep_prepare(&m.sleep, &m.consumer);
	gid_sleep_wait(&m.sleep, UINT64_MAX);
}

static void wake_by_futex(void) {
	gid_sleep_wake_futex((const uint32_t *)&m.ring.tail);
}

static void tell_shown(uint64_t number) {
	struct gid_shown shown = {.sequence = number, .time = 2 * number, .refresh_ns = 3 * number};
	gid_ring_tell_shown(&m.consumer, &shown);
}

static bool get_shown(uint64_t shown[3]) {
	struct gid_shown told;
	bool some = gid_ring_get_shown(&m.producer, &told);
	shown[0] = told.sequence;
	shown[1] = told.time;
	shown[2] = told.refresh_ns;
	return some;
}

/* As main.rs has it. */
const struct {
	__typeof__(word) *word;
	__typeof__(reset) *reset;
	__typeof__(put) *put;
	__typeof__(publish) *publish;
	__typeof__(publish_to_both) *publish_to_both;
	__typeof__(take_back) *take_back;
	__typeof__(take_by_force) *take_by_force;
	__typeof__(collect) *collect;
	__typeof__(receive_some) *receive;
	__typeof__(release) *release;
	__typeof__(is_held) *is_held;
	__typeof__(consumer_sleeps) *consumer_sleeps;
	__typeof__(producer_sleeps) *producer_sleeps;
	__typeof__(wakes_consumer) *wakes_consumer;
	__typeof__(wakes_producer) *wakes_producer;
	__typeof__(sleep_by_futex) *sleep_by_futex;
	__typeof__(wake_by_futex) *wake_by_futex;
	__typeof__(tell_shown) *tell_shown;
	__typeof__(get_shown) *get_shown;
	__typeof__(one_send) *one_send;
	__typeof__(one_take_back) *one_take_back;
	__typeof__(one_collect) *one_collect;
	__typeof__(one_receive) *one_receive;
	__typeof__(one_release) *one_release;
} MODEL = {
		word,
		reset,
		put,
		publish,
		publish_to_both,
		take_back,
		take_by_force,
		collect,
		receive_some,
		release,
		is_held,
		consumer_sleeps,
		producer_sleeps,
		wakes_consumer,
		wakes_producer,
		sleep_by_futex,
		wake_by_futex,
		tell_shown,
		get_shown,
		one_send,
		one_take_back,
		one_collect,
		one_receive,
		one_release,
};
