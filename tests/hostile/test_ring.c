// SPDX-License-Identifier: MIT
/*
 * One honest end of a ring against memory that says anything at all: it must end, stay inside its
 * own memory, and never give back what is not out. Then the exact outcome of each single lie.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "doorbell.h"
#include "ring.h"
#include "../unit/tap.h"

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

static void poke(uint64_t *word, uint64_t value) {
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static void *shared(size_t size) {
	void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
	memset(memory, 0, size);
	return memory;
}

static void fill_frame(struct gid_wire_frame *frame, uint64_t number) {
	memset(frame, 0, sizeof(*frame));
	frame->gid = number % 7 == 0 ? GID_NONE : gid_make(1, 1, number % 100, 0);
	frame->sequence = number;
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
		poke(&page->releases[random_word() % GID_RING_RELEASES], random_lie(end->tail));
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
		poke(&page->releases[end->release_tail % GID_RING_RELEASES], end->release_tail);
		poke(&page->release_tail, end->release_tail + 1);
	}
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
		fill_frame(&frame, number);
		got = gid_ring_send(end, &frame, number);
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
		got = gid_ring_oldest(end, &sent) &&
			gid_ring_take_by_force(end, sent.index, &sent);
		gid_ring_should_wake_consumer(end);
		break;
	}
	/* What comes back was out, once. */
	*good &= got <= 0 || (end->in_flight == before - 1 && sent.in_flight &&
				     !(end->sent[sent.index % GID_RING_ENTRIES].in_flight &&
					     end->sent[sent.index % GID_RING_ENTRIES].index ==
						     sent.index));
	return got < 0 ? got : 0;
}

static bool counts_are_right(const struct gid_ring_producer *end) {
	uint32_t in_flight = 0, pictures = 0;
	for (uint32_t i = 0; i < GID_RING_ENTRIES; i++) {
		in_flight += end->sent[i].in_flight;
		pictures += end->sent[i].in_flight && end->sent[i].gid != GID_NONE;
	}
	return in_flight == end->in_flight && pictures == end->pictures && pictures <= end->credit;
}

static void test_lying_consumer(void) {
	struct gid_wire_ring *ring = shared(sizeof(*ring));
	struct gid_wire_page *page = shared(sizeof(*page));
	struct gid_ring_producer end;
	uint32_t caught = 0;
	bool good = true;
	for (uint64_t number = 0; number < 3000000 && good; number++) {
		if (number == 0 || step_producer(&end, &good, number) < 0) {
			good &= number == 0 || counts_are_right(&end);
			caught += number != 0;
			memset(page, 0, sizeof(*page));
			memset(ring, 0, sizeof(*ring));
			gid_ring_producer_init(
				&end, ring, page, 1 + (uint32_t)(random_word() % GID_CREDIT_MAX));
		}
		if (random_word() % 40 == 0) {
			scribble_page(page, &end);
		} else {
			act_honestly(page, &end);
		}
	}
	tap_ok(good && caught > 1000, "a producer lives through %u consumers that lie", caught);
	free(ring);
	free(page);
}

/* --- a lying producer ------------------------------------------------------------------------- */

static void scribble_ring(struct gid_wire_ring *ring, const struct gid_ring_consumer *end) {
	struct gid_wire_frame *frame = &ring->frames_ring[random_word() % GID_RING_ENTRIES];
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
		poke(&frame->index, random_lie(end->head));
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
	struct gid_wire_ring *ring = shared(sizeof(*ring));
	struct gid_wire_page *page = shared(sizeof(*page));
	struct gid_ring_consumer end;
	uint32_t caught = 0, received = 0;
	bool good = true;
	uint64_t held[128];
	uint32_t held_count = 0;
	for (uint64_t number = 0; number < 3000000 && good; number++) {
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
	tap_ok(good && caught > 1000 && received > 100000,
		"a consumer lives through %u producers that lie, with %u frames between", caught,
		received);
	free(ring);
	free(page);
}

/* --- while it is being looked at --------------------------------------------------------------- */

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
	return (double)(now.tv_sec - start->tv_sec) +
		(double)(now.tv_nsec - start->tv_nsec) / 1e9 > seconds;
}

static void test_noise(void) {
	struct gid_wire_ring *ring = shared(sizeof(*ring));
	struct gid_wire_page *page = shared(sizeof(*page));
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
	tap_ok(good, "a producer lives with a page that changes while it looks (%lu steps)", number);

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
	tap_ok(good, "a consumer lives with a ring that changes while it looks (%lu steps, %lu frames)",
		number, frames);
	free(ring);
	free(page);
}

/* --- single lies ------------------------------------------------------------------------------- */

static struct gid_wire_ring *ring;
static struct gid_wire_page *page;
static struct gid_ring_producer producer;
static struct gid_ring_consumer consumer;

/* Both ends with `sent` frames, of which the consumer took and gave back some. */
static void begin(uint32_t sent, uint32_t received, uint32_t released) {
	struct gid_wire_frame frame;
	memset(ring, 0, sizeof(*ring));
	memset(page, 0, sizeof(*page));
	gid_ring_producer_init(&producer, ring, page, GID_CREDIT_MAX);
	gid_ring_consumer_init(&consumer, ring, page);
	for (uint64_t i = 0; i < sent; i++) {
		fill_frame(&frame, i * 7 + 1);
		gid_ring_send(&producer, &frame, i);
	}
	for (uint64_t i = 0; i < received; i++) {
		gid_ring_receive(&consumer, &frame);
	}
	for (uint64_t i = 0; i < released; i++) {
		gid_ring_release(&consumer, i);
	}
}

static void test_lies_of_consumers(void) {
	struct gid_ring_sent sent;
	begin(8, 4, 0);
	poke(&page->releases[0], 8);
	poke(&page->release_tail, 1);
	tap_ok(gid_ring_collect(&producer, &sent) == -EPROTO, "a release of what was never sent");
	begin(8, 4, 0);
	poke(&page->releases[0], UINT64_MAX);
	poke(&page->release_tail, 1);
	tap_ok(gid_ring_collect(&producer, &sent) == -EPROTO, "a release of index 2^64-1");
	begin(8, 4, 0);
	poke(&page->releases[0], 4);
	poke(&page->release_tail, 1);
	tap_ok(gid_ring_collect(&producer, &sent) == -EPROTO, "a release of what was not claimed");
	begin(8, 4, 1);
	poke(&page->releases[1], 0);
	poke(&page->release_tail, 2);
	tap_ok(gid_ring_collect(&producer, &sent) == 1 && sent.index == 0 &&
			gid_ring_collect(&producer, &sent) == 0 && producer.in_flight == 7,
		"a second release of one frame does nothing");
	begin(8, 4, 0);
	poke(&page->release_tail, 9);
	tap_ok(gid_ring_collect(&producer, &sent) == -EPROTO, "more releases than frames");
	begin(8, 4, 0);
	poke(&page->release_tail, UINT64_MAX);
	tap_ok(gid_ring_collect(&producer, &sent) == -EPROTO, "2^64-1 releases");
	begin(8, 4, 4);
	while (gid_ring_collect(&producer, &sent) == 1) {
	}
	poke(&page->release_tail, 3);
	tap_ok(gid_ring_collect(&producer, &sent) == -EPROTO, "fewer releases than before");
	begin(8, 4, 0);
	poke(&page->head, 9);
	tap_ok(gid_ring_oldest_unread(&producer, &sent) == -EPROTO, "a claim of what was never sent");
	tap_ok(gid_ring_take_back(&producer, 8, &sent) == -EPROTO, "the same when it is taken back");
	begin(8, 4, 0);
	gid_ring_look(&producer);
	poke(&page->head, 3);
	tap_ok(gid_ring_look(&producer) == -EPROTO, "a claim that is taken back");

	/* More than 256 releases that nobody looked at can only be of a consumer that lies. */
	struct gid_wire_frame frame;
	begin(0, 0, 0);
	for (uint64_t i = 0; i < 300; i++) {
		fill_frame(&frame, i * 7 + 1);
		gid_ring_send(&producer, &frame, i);
		gid_ring_oldest(&producer, &sent);
		gid_ring_take_by_force(&producer, sent.index, &sent);
	}
	poke(&page->release_tail, GID_RING_RELEASES + 1);
	tap_ok(gid_ring_collect(&producer, &sent) == -EPROTO, "257 releases at once");

	/* Every `asleep` of a flood rings at most once. */
	begin(1, 0, 0);
	poke(&page->asleep, 7);
	tap_ok(gid_ring_should_wake_consumer(&producer) && !gid_ring_should_wake_consumer(&producer),
		"one doorbell a sleep");
}

static void test_lies_of_producers(void) {
	struct gid_wire_frame frame;
	begin(4, 4, 0);
	poke(&ring->tail, 3);
	tap_ok(gid_ring_receive(&consumer, &frame) == -EPROTO, "fewer frames than before");
	begin(4, 2, 0);
	poke(&ring->floor, 5);
	tap_ok(gid_ring_receive(&consumer, &frame) == -EPROTO, "more taken back than were sent");
	begin(4, 2, 0);
	poke(&ring->frames_ring[2].index, 3);
	tap_ok(gid_ring_receive(&consumer, &frame) == -EPROTO, "an entry with another's index");
	begin(4, 4, 0);
	poke(&ring->frames_ring[0].index, 64);
	poke(&ring->tail, 65);
	for (uint64_t i = 4; i < 64; i++) {
		poke(&ring->frames_ring[i].index, i);
	}
	int got = 1;
	for (int i = 0; i < 60 && got == 1; i++) {
		got = gid_ring_receive(&consumer, &frame);
		gid_ring_release(&consumer, frame.index);
	}
	tap_ok(got == 1 && gid_ring_receive(&consumer, &frame) == -EPROTO,
		"the place of a frame that is held is filled again");
	begin(0, 0, 0);
	poke(&ring->tail, UINT64_MAX);
	tap_ok(gid_ring_receive(&consumer, &frame) == 1 || consumer.head <= 2 * GID_RING_ENTRIES,
		"2^64-1 frames end after a while");
	begin(0, 0, 0);
	poke(&ring->tail, UINT64_MAX);
	poke(&ring->floor, UINT64_MAX);
	tap_ok(gid_ring_receive(&consumer, &frame) == 0, "2^64-1 frames that were all taken back");
	begin(0, 0, 0);
	poke(&ring->tail, UINT64_MAX);
	poke(&ring->floor, UINT64_MAX - 1);
	poke(&ring->frames_ring[62].index, UINT64_MAX - 1);
	tap_ok(gid_ring_receive(&consumer, &frame) == 1 && frame.index == UINT64_MAX - 1 &&
			gid_ring_release(&consumer, UINT64_MAX) == -EINVAL &&
			gid_ring_release(&consumer, frame.index) == 0,
		"the last index there is");
}

/* --- doorbells --------------------------------------------------------------------------------- */

static void test_doorbells(void) {
	struct gid_doorbell ours, theirs;
	int fd;
	tap_ok(gid_doorbell_create(&ours, &fd) == 0 && gid_doorbell_take(&theirs, fd) == 0, "a pair");
	tap_ok(gid_doorbell_silence(&ours, 0) == 0, "silence");
	/* The other side makes its end blocking and never looks: ringing goes on all the same. */
	fcntl(theirs.fd, F_SETFL, 0);
	fcntl(ours.fd, F_SETFL, 0);
	for (int i = 0; i < 1000000; i++) {
		gid_doorbell_ring(&ours);
	}
	tap_ok(true, "a million rings that nobody hears do not block");
	tap_ok(gid_doorbell_silence(&ours, 0) == 0, "nor does listening on a blocking end");
	tap_ok(gid_doorbell_silence(&theirs, 1) == -EPROTO, "noise is told from a ring");
	gid_doorbell_finish(&ours);
	while (gid_doorbell_silence(&theirs, UINT64_MAX) == 0) {
	}
	tap_ok(gid_doorbell_silence(&theirs, UINT64_MAX) == -EPIPE, "a hang-up is told");
	gid_doorbell_ring(&theirs);
	tap_ok(true, "ringing after it does no harm");
	gid_doorbell_finish(&theirs);

	gid_doorbell_create(&ours, &fd);
	gid_doorbell_take(&theirs, fd);
	gid_doorbell_ring(&ours);
	gid_doorbell_ring(&theirs);
	gid_doorbell_finish(&theirs);
	int heard = gid_doorbell_silence(&ours, 1);
	tap_ok(heard == -EPIPE || gid_doorbell_silence(&ours, 1) == -EPIPE,
		"a hang-up with a ring unheard is told");
	gid_doorbell_finish(&ours);

	int wrong[] = {epoll_create1(0), open("/dev/null", O_RDWR), -1,
		socket(AF_UNIX, SOCK_DGRAM, 0), socket(AF_INET, SOCK_STREAM, 0),
		socket(AF_UNIX, SOCK_SEQPACKET, 0)};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		tap_ok(gid_doorbell_take(&ours, wrong[i]) == -EPROTO, "no doorbell, %zu", i);
		if (wrong[i] >= 0) {
			close(wrong[i]);
		}
	}
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	tap_ok(gid_doorbell_take(&ours, fd) == 0 && gid_doorbell_silence(&ours, 1) == -EPIPE,
		"one that is connected to nobody has hung up");
	gid_doorbell_finish(&ours);
}

int main(void) {
	ring = shared(sizeof(*ring));
	page = shared(sizeof(*page));
	test_lies_of_consumers();
	test_lies_of_producers();
	test_doorbells();
	test_lying_consumer();
	test_lying_producer();
	test_noise();
	free(ring);
	free(page);
	return tap_finish();
}
