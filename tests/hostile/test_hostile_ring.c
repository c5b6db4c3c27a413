// SPDX-License-Identifier: MIT
/*
 * One honest end of a ring against memory that says anything at all: it must end, stay inside its
 * own memory, and never give back what is not out.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lies.h"
#include "tap.h"

/* Of one thread, in which TSan has nothing to find: it has the first steps of the others. */
#ifdef __SANITIZE_THREAD__
#define STEPS 300000
#else
#define STEPS 3000000
#endif

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_word(void) {
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A number near what matters, or anything. */
static uint64_t random_lie(uint64_t near) {
	switch (random_word() % 6) {
	case 0:
		return near + random_word() % 5 - 2;
	case 1:
		return near + random_word() % 300 - 150;
	case 2:
		return UINT64_MAX - random_word() % 200;
	case 3:
		return random_word() % 200;
	case 4:
		return (uint64_t)1 << random_word() % 64;
	default:
		return random_word();
	}
}

/* --- a lying consumer ------------------------------------------------------------------------- */

/* What an honest page would say, or a lie, into one random word. */
static void scribble_page(struct gid_wire_page *page, const struct gid_ring_producer *end) {
	switch (random_word() % 5) {
	case 0:
		poke(&page->head, random_lie(end->head));
		break;
	case 1:
		poke(&page->release_tail, random_lie(end->release_tail));
		break;
	case 2:
		poke(&page->asleep, random_lie(page->asleep));
		break;
	case 3:
		poke(&page->releases[random_word() % (GID_RING_RELEASES_EACH * end->entries)],
				random_lie(end->tail));
		break;
	default:
		poke((uint64_t *)page + random_word() % (sizeof(*page) / 8), random_word());
		break;
	}
}

/* A scribble that an honest page could hold, so that much of it passes. */
static void act_honestly(struct gid_wire_page *page, const struct gid_ring_producer *end) {
	if (random_word() % 2 == 0 && page->head < end->tail) {
		poke(&page->head, page->head + 1);
	} else if (end->release_tail < page->head) {
		poke(&page->releases[end->release_tail % (GID_RING_RELEASES_EACH * end->entries)],
				end->release_tail);
		poke(&page->release_tail, end->release_tail + 1);
	}
}

static bool is_out(const struct gid_ring_producer *end, const struct gid_ring_sent *sent) {
	const struct gid_ring_sent *at = &end->sent[sent->index % end->entries];
	return gid_ring_is_out(at) && at->index == sent->index;
}

/* One random step of a producer. Returns -EPROTO where it found the other out. */
static int step_producer(struct gid_ring_producer *end, bool *good, uint64_t number) {
	struct gid_ring_sent sent = {0};
	struct gid_wire_frame frame;
	uint32_t before = end->in_flight;
	int got = 0;
	switch (random_word() % 7) {
	case 0:
	case 1:
		fill_numbered(&frame, number);
		got = gid_ring_send(end, &frame, NULL, number);
		*good &= end->in_flight == before + (uint32_t)got;
		return 0;
	case 2:
	case 3:
		got = gid_ring_collect(end, &sent);
		break;
	case 4:
		got = gid_ring_oldest_unread(end, &sent);
		*good &= end->in_flight == before;
		return got < 0 ? got : 0;
	case 5:
		got = gid_ring_take_back(end, random_lie(end->tail), &sent);
		break;
	default:
		got = gid_ring_oldest(end, &sent) && gid_ring_take_by_force(end, sent.index, &sent);
		gid_ring_should_wake_consumer(end);
		break;
	}
	/* What comes back was out, once. */
	*good &= got <= 0 ||
			(end->in_flight == before - 1 && gid_ring_is_out(&sent) &&
					!is_out(end, &sent));
	return got < 0 ? got : 0;
}

static bool counts_are_right(const struct gid_ring_producer *end) {
	uint32_t in_flight = 0, pictures = 0;
	for (uint32_t i = 0; i < GID_RING_ENTRIES; i++) {
		in_flight += gid_ring_is_out(&end->sent[i]);
		pictures += gid_ring_is_out(&end->sent[i]) && end->sent[i].gid != GID_NONE;
	}
	return in_flight == end->in_flight && pictures == end->pictures && pictures <= end->credit;
}

static void test_lying_consumer(void) {
	struct gid_wire_ring *ring = ring_memory(sizeof(*ring));
	struct gid_wire_page *page = ring_memory(sizeof(*page));
	struct gid_ring_producer end;
	uint32_t caught = 0;
	bool good = true;
	for (uint64_t number = 0; number < STEPS && good; number++) {
		if (number == 0 || step_producer(&end, &good, number) < 0) {
			good &= number == 0 || counts_are_right(&end);
			caught += number != 0;
			memset(page, 0, sizeof(*page));
			memset(ring, 0, sizeof(*ring));
			gid_ring_producer_init(&end, ring, page,
					1 + (uint32_t)(random_word() % GID_CREDIT_MAX));
		}
		if (random_word() % 40 == 0) {
			scribble_page(page, &end);
		} else {
			act_honestly(page, &end);
		}
	}
	tap_ok(good && caught > STEPS / 3000, "a producer lives through %u consumers that lie",
			caught);
	free(ring);
	free(page);
}

/* --- a lying producer ------------------------------------------------------------------------- */

static void scribble_ring(struct gid_wire_ring *ring, const struct gid_ring_consumer *end) {
	struct gid_wire_entry *entry = &ring->frames_ring[random_word() % GID_RING_ENTRIES];
	switch (random_word() % 6) {
	case 0:
		poke(&ring->tail, random_lie(end->tail));
		break;
	case 1:
		poke(&ring->floor, random_lie(end->head));
		break;
	case 2:
		poke(&ring->asleep, random_lie(ring->asleep));
		break;
	case 3:
		poke(&entry->index, random_lie(end->head));
		break;
	default:
		poke((uint64_t *)ring + random_word() % (sizeof(*ring) / 8), random_word());
		break;
	}
}

static void send_honestly(struct gid_wire_ring *ring) {
	uint64_t tail = ring->tail;
	ring->frames_ring[tail % GID_RING_ENTRIES].index = tail;
	poke(&ring->tail, tail + 1);
	if (random_word() % 8 == 0 && ring->floor < tail) {
		poke(&ring->floor, ring->floor + random_word() % 3);
	}
}

static void test_lying_producer(void) {
	struct gid_wire_ring *ring = ring_memory(sizeof(*ring));
	struct gid_wire_page *page = ring_memory(sizeof(*page));
	struct gid_ring_consumer end;
	uint32_t caught = 0, received = 0;
	bool good = true;
	uint64_t held[128];
	uint32_t held_count = 0;
	for (uint64_t number = 0; number < STEPS && good; number++) {
		struct gid_wire_frame copy;
		uint64_t head = number == 0 ? 0 : end.head;
		int got = number == 0 ? -EPROTO : gid_ring_receive(&end, &copy);
		if (got < 0) {
			caught += number != 0;
			memset(page, 0, sizeof(*page));
			memset(ring, 0, sizeof(*ring));
			gid_ring_consumer_init(&end, ring, page);
			held_count = 0;
		} else if (got == 1) {
			received++;
			good &= copy.index >= head && end.head == copy.index + 1;
			held[held_count++ % 128] = copy.index;
		}
		good &= end.held <= GID_RING_ENTRIES && end.head == page->head;
		if (held_count > 0 && random_word() % 2 == 0) {
			uint32_t held_before = end.held;
			int error = gid_ring_release(&end, held[random_word() % held_count % 128]);
			good &= end.held == held_before - (error == 0);
		}
		gid_ring_should_wake_producer(&end);
		gid_ring_is_readable(&end);
		if (random_word() % 40 == 0) {
			scribble_ring(ring, &end);
		} else {
			send_honestly(ring);
		}
	}
	tap_ok(good && caught > STEPS / 3000 && received > STEPS / 30,
			"a consumer lives through %u producers that lie, with %u frames between",
			caught, received);
	free(ring);
	free(page);
}

/* --- while it is being looked at -------------------------------------------------------------- */

struct noise {
	uint64_t *words;
	size_t count;
	bool stop;
};

static void *make_noise(void *data) {
	struct noise *noise = data;
	uint64_t state = 362436069362436069ull;
	while (!__atomic_load_n(&noise->stop, __ATOMIC_RELAXED)) {
		state ^= state << 13, state ^= state >> 7, state ^= state << 17;
		uint64_t word = (state >> 20) % noise->count;
		poke(&noise->words[word], state % 3 == 0 ? state : state % 130);
	}
	return NULL;
}

static bool over(const struct timespec *start, double seconds) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9 >
			seconds;
}

static void test_noise(void) {
	struct gid_wire_ring *ring = ring_memory(sizeof(*ring));
	struct gid_wire_page *page = ring_memory(sizeof(*page));
	struct noise noise = {(uint64_t *)page, sizeof(*page) / 8, false};
	pthread_t thread;
	struct timespec start;
	struct gid_ring_producer producer;
	bool good = true;
	uint64_t number = 0;
	pthread_create(&thread, NULL, make_noise, &noise);
	clock_gettime(CLOCK_MONOTONIC, &start);
	gid_ring_producer_init(&producer, ring, page, GID_CREDIT_MAX);
	while (!over(&start, 1)) {
		if (step_producer(&producer, &good, ++number) < 0) {
			good &= counts_are_right(&producer);
			gid_ring_producer_init(&producer, ring, page, GID_CREDIT_MAX);
		}
	}
	__atomic_store_n(&noise.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	tap_ok(good, "a producer lives with a page that changes while it looks (%" PRIu64 " steps)",
			number);

	noise = (struct noise){(uint64_t *)ring, sizeof(*ring) / 8, false};
	struct gid_ring_consumer consumer;
	uint64_t frames = 0;
	memset(page, 0, sizeof(*page));
	pthread_create(&thread, NULL, make_noise, &noise);
	clock_gettime(CLOCK_MONOTONIC, &start);
	gid_ring_consumer_init(&consumer, ring, page);
	for (number = 0; !over(&start, 1); number++) {
		struct gid_wire_frame copy;
		int got = gid_ring_receive(&consumer, &copy);
		frames += got == 1;
		good &= consumer.held <= GID_RING_ENTRIES;
		if (got < 0) {
			gid_ring_consumer_init(&consumer, ring, page);
		}
	}
	__atomic_store_n(&noise.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	tap_ok(good,
			"a consumer lives with a ring that changes while it looks (%" PRIu64
			" steps, %" PRIu64 " frames)",
			number, frames);
	free(ring);
	free(page);
}

int main(void) {
	test_lying_consumer();
	test_lying_producer();
	test_noise();
	return tap_finish();
}
