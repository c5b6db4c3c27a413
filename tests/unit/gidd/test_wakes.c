// SPDX-License-Identifier: MIT
/*
 * A consumer whose producer is on another machine: rings go through the gidds of both, each of
 * which keeps back those that would wake nobody. Here each of the four is a thread, with the
 * gidds' own code about the very ring; a ring that is lost lets the stream stand still.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "link.h"
#include "ring.h"
#include "subscriptions.h"
#include "tap.h"

#define FRAMES 50000u
#define CREDIT 4u
#define PATIENCE_MS 180000
#define NUMBER 7u

static struct gid_wire_ring ring;
static struct gid_wire_page page;
static int to_near[2], to_far[2], to_consumer[2]; /* pipes: [0] is read */

static void ring_bell(int fd) {
	(void)!write(fd, "", 1);
}

/* --- the gidds -------------------------------------------------------------------------------- */

static void ring_client(struct link *link, uint32_t number) {
	ring_bell(to_consumer[1]);
}

static const struct link_kind kind = {.name = "test", .windows_only = true, .ring = ring_client};
static const struct config_domain domains[3] = {[1] = {.number = 1}, [2] = {.number = 2}};

/* A gidd with one live subscription over one link. */
struct side {
	struct gidd gidd;
	struct link link;
	struct stream *stream; /* any: what matters is whether there is one */
	struct subscription subscription;
};

static void side_init(struct side *side, uint32_t self, uint32_t other, bool produces) {
	*side = (struct side){.gidd.self = &domains[self]};
	side->link.peer.gidd = &side->gidd;
	side->link.peer.domain = other;
	side->link.kind = &kind;
	side->subscription = (struct subscription){
			.number = NUMBER,
			.state = SUBSCRIPTION_LIVE,
			.stream = produces ? (struct stream *)&side->stream : NULL,
			.via = produces ? NULL : &side->link.peer,
			.consumer = produces ? &side->link.peer : NULL,
			.consumer_number = NUMBER,
			.page = &page,
			.ring = &ring,
	};
	TAILQ_INIT(&side->gidd.subscriptions);
	TAILQ_INSERT_TAIL(&side->gidd.subscriptions, &side->subscription, entry);
}

/* The producer's: passes on what may wake somebody. */
static void *run_near(void *data) {
	struct side *side = data;
	char byte;
	while (read(to_near[0], &byte, 1) > 0) {
		if (subscription_should_ring(&side->link, NUMBER)) {
			ring_bell(to_far[1]);
		}
	}
	close(to_far[1]);
	return NULL;
}

/* The consumer's, which is late now and then: by then the ring may be for an earlier sleep. */
static void *run_far(void *data) {
	struct side *side = data;
	char byte;
	for (unsigned i = 0; read(to_far[0], &byte, 1) > 0; i++) {
		if (i % 8 == 0) {
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
		}
		subscription_rung(&side->link, NUMBER);
	}
	return NULL;
}

/* --- the producer ----------------------------------------------------------------------------- */

/* Its end, made before there is a consumer. */
static void *produce(void *data) {
	struct gid_ring_producer end = *(const struct gid_ring_producer *)data;
	struct gid_wire_frame frame = {.gid = gid_make(1, 1, 0, 0)};
	for (unsigned sent = 0; sent < FRAMES;) {
		struct gid_ring_sent released;
		while (gid_ring_collect(&end, &released) == 1) {
		}
		if (gid_ring_send(&end, &frame, NULL, 0) == 1) {
			sent++;
			if (gid_ring_should_wake_consumer(&end)) {
				ring_bell(to_near[1]);
			}
		} else {
			sched_yield();
		}
	}
	close(to_near[1]);
	return NULL;
}

/* --- the consumer ----------------------------------------------------------------------------- */

static bool is_rung(void) {
	struct pollfd bell = {.fd = to_consumer[0], .events = POLLIN};
	char bytes[64];
	return poll(&bell, 1, PATIENCE_MS) == 1 && read(to_consumer[0], bytes, sizeof(bytes)) > 0;
}

/* How many frames came before no ring did; `*sleeps` counts those that it slept for. */
static unsigned consume(unsigned *sleeps) {
	struct gid_ring_consumer end;
	gid_ring_consumer_init(&end, &ring, &page);
	unsigned got = 0;
	while (got < FRAMES) {
		struct gid_wire_frame frame;
		if (gid_ring_receive(&end, &frame) == 1) {
			gid_ring_consumer_wake(&end);
			gid_ring_release(&end, frame.index);
			got++;
		} else if (!gid_ring_consumer_sleep(&end)) {
			++*sleeps;
			/* Now and then it wakes by itself, and leaves a ring behind. */
			if (*sleeps % 3 != 0 && !is_rung()) {
				return got;
			}
			gid_ring_consumer_wake(&end);
		}
	}
	return got;
}

static unsigned rings(void) {
	struct pollfd bell = {.fd = to_consumer[0], .events = POLLIN};
	char bytes[64];
	return poll(&bell, 1, 0) == 1 ? (unsigned)read(to_consumer[0], bytes, sizeof(bytes)) : 0;
}

/*
 * Two rings are on their way when all that they are for was seen: they wake for nothing, each once
 * at most, and no more than these. The next one must wake, even if its sender saw a sleep that
 * began after the last frame had been read: it rings no more for that one.
 */
static void test_late_rings(struct side *near, struct side *far) {
	struct gid_ring_producer producer;
	struct gid_ring_consumer consumer;
	struct gid_wire_frame copy, frame = {.gid = gid_make(1, 1, 0, 0)};
	gid_ring_producer_init(&producer, &ring, &page, CREDIT);
	gid_ring_consumer_init(&consumer, &ring, &page);
	unsigned on_their_way = 0;
	for (int i = 0; i < 2; i++) {
		gid_ring_consumer_sleep(&consumer);
		gid_ring_send(&producer, &frame, NULL, 0);
		on_their_way += gid_ring_should_wake_consumer(&producer) &&
				subscription_should_ring(&near->link, NUMBER);
		gid_ring_receive(&consumer, &copy); /* it wakes by itself */
		gid_ring_consumer_wake(&consumer);
	}
	tap_ok(on_their_way == 2, "two rings are on their way");
	for (int i = 0; i < 2; i++) {
		gid_ring_consumer_sleep(&consumer);
		subscription_rung(&far->link, NUMBER);
		subscription_rung(&far->link, NUMBER);
		tap_ok(rings() == 1, "a late one wakes once");
		gid_ring_consumer_wake(&consumer);
	}
	gid_ring_consumer_sleep(&consumer);
	subscription_rung(&far->link, NUMBER);
	tap_ok(rings() == 0, "but not more often than there was a frame");
	gid_ring_consumer_wake(&consumer);

	gid_ring_send(&producer, &frame, NULL, 0);
	gid_ring_receive(&consumer, &copy);
	gid_ring_consumer_sleep(&consumer);
	tap_ok(!gid_ring_should_wake_consumer(&producer) &&
					subscription_should_ring(&near->link, NUMBER),
			"no ring is sent for a frame that was just read; another library may");
	subscription_rung(&far->link, NUMBER);
	tap_ok(rings() == 1, "and wakes: its sender rings no more for this sleep");
	memset(&ring, 0, sizeof(ring));
	memset(&page, 0, sizeof(page));
}

/* A doorbell that many subscriptions share: each ring may be for another. */
static void test_rings_of_others(struct side *far) {
	struct gid_ring_producer producer;
	struct gid_ring_consumer consumer;
	struct gid_wire_frame copy, frame = {.gid = gid_make(1, 1, 0, 0)};
	unsigned woken = 0;
	gid_ring_producer_init(&producer, &ring, &page, CREDIT);
	gid_ring_consumer_init(&consumer, &ring, &page);
	for (int i = 0; i < 100; i++) { /* none of which needs a ring */
		gid_ring_send(&producer, &frame, NULL, 0);
		gid_ring_receive(&consumer, &copy);
		gid_ring_release(&consumer, copy.index);
		struct gid_ring_sent released;
		gid_ring_collect(&producer, &released);
	}
	for (int i = 0; i < 100; i++) {
		gid_ring_consumer_sleep(&consumer);
		subscription_rung(&far->link, 0);
		woken += rings();
		gid_ring_consumer_wake(&consumer);
	}
	tap_ok(woken > 0 && woken < 8, "a hundred rings for others wake it %u times", woken);
	gid_ring_consumer_sleep(&consumer);
	gid_ring_send(&producer, &frame, NULL, 0);
	subscription_rung(&far->link, 0);
	tap_ok(rings() == 1, "and one with something new does");
	memset(&ring, 0, sizeof(ring));
	memset(&page, 0, sizeof(page));
}

int main(void) {
	static struct side near, far;
	pthread_t threads[3];
	unsigned sleeps = 0;
	side_init(&near, 1, 2, true);
	side_init(&far, 2, 1, false);
	/* The number on the link is that of the consumer's side, whose domain is the higher one. */
	if (!tap_ok(pipe(to_near) == 0 && pipe(to_far) == 0 && pipe(to_consumer) == 0, "pipes")) {
		return tap_finish();
	}
	test_late_rings(&near, &far);
	side_init(&far, 2, 1, false);
	test_rings_of_others(&far);
	side_init(&near, 1, 2, true);
	side_init(&far, 2, 1, false);
	struct gid_ring_producer producer;
	gid_ring_producer_init(&producer, &ring, &page, CREDIT);
	pthread_create(&threads[0], NULL, produce, &producer);
	pthread_create(&threads[1], NULL, run_near, &near);
	pthread_create(&threads[2], NULL, run_far, &far);
	unsigned got = consume(&sleeps);
	tap_ok(got == FRAMES, "no ring is lost on its way: %u of %u frames, %u sleeps", got, FRAMES,
			sleeps);
	tap_ok(sleeps > 100, "it slept often enough to tell");
	if (got == FRAMES) {
		for (int i = 0; i < 3; i++) {
			pthread_join(threads[i], NULL);
		}
	}
	return tap_finish();
}
