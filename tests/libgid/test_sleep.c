// SPDX-License-Identifier: MIT
/*
 * gid_consumer_sleep(): a thread that does nothing but receive frames of another domain, and what
 * wakes it. A wake that was lost would leave it asleep for good, so every check is that it did
 * wake.
 */
#include <errno.h>
#include <gid/stream.h>
#include <poll.h>
#include <pthread.h>

#include "cockpit.h"
#include "consumer.h"
#include "tap.h"

#define FRAMES 3000
#define INTERRUPTIONS 3000
#define LOOKS 300
#define PATIENCE_MS COCKPIT_PATIENCE_MS
#define BRIEFLY_NS 20000000ull

static struct gid_domain *open_domain, *cluster_domain;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of cluster_domain */

static struct {
	struct gid_consumer *consumer;
	pthread_t thread;
	bool alternates;      /* between the ring and the descriptor, at each sleep */
	bool stop;	      /* atomic, as all that follows */
	uint32_t told, heard; /* what was said before an interruption; what it came to know */
	uint32_t frames;      /* received */
	int end;	      /* what receiving said last, once it is over */
} sleeper;

/*
 * Receiving takes back what an interruption made readable: so who waits for the descriptor looks
 * after it for what the interruption is about.
 */
static bool is_told_more(void) {
	return __atomic_load_n(&sleeper.stop, __ATOMIC_SEQ_CST) ||
			__atomic_load_n(&sleeper.told, __ATOMIC_SEQ_CST) !=
			__atomic_load_n(&sleeper.heard, __ATOMIC_SEQ_CST);
}

/* Each time in the other way, which is chosen when there was no frame any more. */
static void sleep_otherwise(void) {
	pthread_mutex_lock(&lock);
	bool by_ring = !sleeper.consumer->options.sleeps;
	gid_consumer_set_sleeps(sleeper.consumer, by_ring);
	pthread_mutex_unlock(&lock);
	if (by_ring) {
		gid_consumer_sleep_until(sleeper.consumer, GID_TIME_NONE);
	} else if (!is_told_more()) {
		struct pollfd fd = {.fd = gid_consumer_get_fd(sleeper.consumer), .events = POLLIN};
		poll(&fd, 1, -1);
	}
}

static void *sleeper_run(void *data) {
	int got = 0;
	while (!__atomic_load_n(&sleeper.stop, __ATOMIC_SEQ_CST) && got != -EPIPE) {
		struct gid_frame frame;
		__atomic_store_n(&sleeper.heard, __atomic_load_n(&sleeper.told, __ATOMIC_SEQ_CST),
				__ATOMIC_SEQ_CST);
		pthread_mutex_lock(&lock);
		got = gid_consumer_receive(sleeper.consumer, &frame);
		if (got == 1) {
			gid_consumer_release(sleeper.consumer, &frame);
			__atomic_add_fetch(&sleeper.frames, 1, __ATOMIC_SEQ_CST);
		}
		pthread_mutex_unlock(&lock);
		if (got == -EAGAIN && sleeper.alternates) {
			sleep_otherwise();
		} else if (got == -EAGAIN) {
			gid_consumer_sleep(sleeper.consumer);
		}
	}
	__atomic_store_n(&sleeper.end, got, __ATOMIC_SEQ_CST);
	return NULL;
}

static void sleeper_start(bool alternates) {
	sleeper.alternates = alternates;
	struct gid_consumer_options options = {
			.size = sizeof(options), .credit = 8, .sleeps = true};
	sleeper.stop = false;
	sleeper.frames = sleeper.told = sleeper.heard = 0;
	sleeper.end = 0;
	int error = gid_consumer_create(
			cluster_domain, "open", "movie", &options, &sleeper.consumer);
	tap_ok(error == 0, "a consumer that sleeps (%s)", gid_domain_error(cluster_domain));
	tap_ok(gid_consumer_wait(sleeper.consumer, 0) == -EINVAL, "it does not wait otherwise");
	pthread_create(&sleeper.thread, NULL, sleeper_run, NULL);
}

static void dispatch(struct gid_producer *producer) {
	gid_domain_dispatch(open_domain);
	gid_producer_dispatch(producer);
	pthread_mutex_lock(&lock);
	gid_domain_dispatch(cluster_domain);
	pthread_mutex_unlock(&lock);
}

/* Until somebody is there, or nobody any more. */
static void await_consumers(struct gid_producer *producer, uint32_t count) {
	for (long start = cockpit_now_ms(); gid_producer_consumers(producer) != count &&
			cockpit_now_ms() - start < PATIENCE_MS;) {
		dispatch(producer);
	}
}

static void sleeper_finish(struct gid_producer *producer) {
	__atomic_store_n(&sleeper.stop, true, __ATOMIC_SEQ_CST);
	gid_consumer_interrupt(sleeper.consumer);
	pthread_join(sleeper.thread, NULL);
	gid_consumer_destroy(sleeper.consumer);
	await_consumers(producer, 0);
}

/* Waits, for long, until the counter is there. */
static bool reaches(struct gid_producer *producer, const uint32_t *counter, uint32_t goal) {
	long start = cockpit_now_ms();
	while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) < goal) {
		if (cockpit_now_ms() - start > PATIENCE_MS) {
			return false;
		}
		dispatch(producer);
	}
	return true;
}

static int send_slot(struct gid_producer *producer, struct gid_slab *slab, uint32_t slot) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, slot);
	return gid_producer_send(producer, &frame);
}

/* One at a time: the thread is always just falling asleep, or just waking. */
static bool send_frames(struct gid_producer *producer, struct gid_slab *slab, uint32_t count) {
	uint32_t before = __atomic_load_n(&sleeper.frames, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < count; i++) {
		if (send_slot(producer, slab, i % 4) != 1 ||
				!reaches(producer, &sleeper.frames, before + i + 1)) {
			return false;
		}
	}
	return true;
}

static bool asks_for_futex(const struct gid_consumer *consumer) {
	pthread_mutex_lock(&lock);
	const struct gid_wire_page *page = consumer->memory.data;
	bool futex = __atomic_load_n(&page->wake, __ATOMIC_SEQ_CST) == GID_WIRE_FUTEX;
	pthread_mutex_unlock(&lock);
	return futex;
}

static bool uses_futex(void) {
	return asks_for_futex(sleeper.consumer);
}

static void test_frames(struct gid_producer *producer, struct gid_slab *slab) {
	struct gid_producer_stats stats;
	tap_ok(send_frames(producer, slab, FRAMES), "each of %d frames wakes it", FRAMES);
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.doorbells > 0, "where it slept already, that is %lu times",
			(unsigned long)stats.doorbells);
	tap_ok(uses_futex() == gid_sleep_has_futex(),
			"by futex where the kernel has what it takes");
}

/* Each as soon as the one before was heard: the thread is just falling asleep again. */
static void test_interruptions(struct gid_producer *producer, int count) {
	bool heard = true;
	for (int i = 0; i < count && heard; i++) {
		uint32_t told = __atomic_add_fetch(&sleeper.told, 1, __ATOMIC_SEQ_CST);
		gid_consumer_interrupt(sleeper.consumer);
		heard = reaches(producer, &sleeper.heard, told);
	}
	tap_ok(heard, "each of %d interruptions wakes it", count);
}

/* They are its own program's: that a stream has nothing new says nothing of its producer. */
static void test_trust(struct gid_producer *producer) {
	test_interruptions(producer, INTERRUPTIONS);
	tap_ok(uses_futex() == gid_sleep_has_futex(), "and has it sleep as before");
}

static void test_noise(struct gid_producer *producer, struct gid_slab *slab) {
	const uint32_t *word = (const uint32_t *)&sleeper.consumer->shared->tail;
	long start = cockpit_now_ms();
	while (uses_futex() && cockpit_now_ms() - start < PATIENCE_MS) {
		gid_sleep_wake_futex(word);
	}
	tap_ok(!uses_futex(), "woken for nothing again and again, it asks for the doorbell");
	tap_ok(send_frames(producer, slab, 100), "which wakes it");
}

/* A wake in the way that was left just then must not be the only one. */
static void test_alternating(struct gid_producer *producer, struct gid_slab *slab) {
	sleeper_start(true);
	await_consumers(producer, 1);
	tap_ok(send_frames(producer, slab, FRAMES),
			"each of %d wakes who sleeps in two ways in turn", FRAMES);
	test_interruptions(producer, INTERRUPTIONS);
	sleeper_finish(producer);
}

/* Returns whether it slept so long, and no longer than somebody waits. */
static bool sleeps_briefly(struct gid_consumer *consumer) {
	struct gid_frame frame;
	uint64_t begin = gid_clock_now();
	do {
		if (gid_consumer_receive(consumer, &frame) != -EAGAIN ||
				gid_consumer_sleep_until(consumer, begin + BRIEFLY_NS) < 0) {
			return false;
		}
	} while (gid_clock_now() < begin + BRIEFLY_NS);
	return gid_clock_now() - begin < PATIENCE_MS * UINT64_C(1000000);
}

static void test_until(struct gid_producer *producer) {
	struct gid_consumer_options options = {.size = sizeof(options), .reconnect = true};
	struct gid_consumer *consumer = NULL;
	int error = gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer);
	tap_ok(error == 0, "a consumer that sleeps by the descriptor");
	tap_ok(gid_consumer_sleep_until(consumer, 0) == -EINVAL, "it must not over the ring");
	gid_consumer_set_sleeps(consumer, true);
	tap_ok(sleeps_briefly(consumer), "until there is a ring, it sleeps until a time");
	await_consumers(producer, 1);
	while (gid_consumer_get_state(consumer) != GID_CONSUMER_LIVE) {
		dispatch(producer);
	}
	tap_ok(sleeps_briefly(consumer), "and so it does over the ring");
	for (int i = 0; i < LOOKS; i++) {
		struct gid_frame frame;
		gid_consumer_receive(consumer, &frame);
		gid_consumer_sleep_until(consumer, gid_clock_now());
	}
	tap_ok(asks_for_futex(consumer) == gid_sleep_has_futex(),
			"also after %d times without a frame", LOOKS);
	gid_consumer_destroy(consumer);
	await_consumers(producer, 0);
}

static struct gid_producer *produce(void) {
	struct gid_producer *producer = NULL;
	int error = gid_producer_create(open_domain, "movie", NULL, &producer);
	tap_ok(error == 0, "a producer (%s)", gid_domain_error(open_domain));
	return producer;
}

int main(void) {
	static const struct gid_layout layout = {0x34325258, .width = 64, .height = 16,
			.plane_count = 1, .planes = {{0, 256}}};
	struct gid_slab *slab = NULL;
	if (!cockpit_init() || gid_domain_connect("open", &open_domain) < 0 ||
			gid_domain_connect("cluster", &cluster_domain) < 0 ||
			gid_slab_create(open_domain, &layout, 0, 4, NULL, &slab) < 0) {
		tap_ok(false, "two domains and a slab");
		cockpit_finish();
		return tap_finish();
	}
	struct gid_producer *producer = produce();
	sleeper_start(false);
	await_consumers(producer, 1);
	test_frames(producer, slab);
	test_trust(producer);
	if (gid_sleep_has_futex()) {
		test_noise(producer, slab);
		test_interruptions(producer, INTERRUPTIONS);
	}
	sleeper_finish(producer);
	test_alternating(producer, slab);
	test_until(producer);

	/* Nobody is left who could tell of the end. */
	sleeper_start(false);
	await_consumers(producer, 1);
	send_frames(producer, slab, 1);
	cockpit_kill(1);
	cockpit_kill(2);
	gid_producer_destroy(producer);
	pthread_join(sleeper.thread, NULL);
	tap_ok(sleeper.end == -EPIPE, "a producer that goes wakes it, without any gidd");
	gid_consumer_destroy(sleeper.consumer);
	gid_slab_destroy(slab, false);
	gid_domain_destroy(open_domain);
	gid_domain_destroy(cluster_domain);
	cockpit_finish();
	return tap_finish();
}
