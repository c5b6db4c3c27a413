// SPDX-License-Identifier: MIT
/*
 * One descriptor sent, received and released, amortised over a tight loop of two threads on two
 * cores, or of one thread that does all of it; beside it a bare word that goes there and back, and
 * an eventfd that does.
 *
 *     gid-bench-ring ring|alone|spin|eventfd COUNT CORE CORE
 *
 * Prints ns for one round, and cycles of the time stamp counter (0 where there is none).
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "ring.h"

#define CREDIT GID_CREDIT_MAX

struct both {
	struct gid_wire_ring ring;
	struct gid_wire_page page;
	_Alignas(64) uint64_t ping;
	_Alignas(64) uint64_t pong;
	int there, back;
	uint64_t count;
	int cores[2];
};

static void pin(int core) {
	cpu_set_t cores;
	CPU_ZERO(&cores);
	CPU_SET(core, &cores);
	if (sched_setaffinity(0, sizeof(cores), &cores) < 0) {
		err(1, "core %d", core);
	}
}

/* On its core from the beginning: one that does not sleep may never let it run on ours. */
static pthread_t start(void *(*run)(void *), struct both *both) {
	cpu_set_t cores;
	pthread_attr_t attributes;
	pthread_t thread;
	CPU_ZERO(&cores);
	CPU_SET(both->cores[1], &cores);
	int error = pthread_attr_init(&attributes);
	if (error == 0) {
		error = pthread_attr_setaffinity_np(&attributes, sizeof(cores), &cores);
	}
	if (error == 0) {
		error = pthread_create(&thread, &attributes, run, both);
	}
	if (error != 0) {
		errx(1, "no second thread on core %d: %s", both->cores[1], strerror(error));
	}
	pthread_attr_destroy(&attributes);
	return thread;
}

/*
 * A frame goes by the functions that the public calls use for one: it is a picture that fits in an
 * entry's first line. The frame itself is made once, as a program's time is not the ring's.
 */
static struct gid_frame make_frame(void) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_make(1, 1, 0, 0);
	return frame;
}

/* To the compiler a program may have written there, and may read all of it. */
static inline void is_programs(struct gid_frame *frame) {
	__asm__ volatile("" : : "r"(frame) : "memory");
}

static bool send_frame(struct gid_ring_producer *end, struct gid_frame *frame, uint64_t number) {
	is_programs(frame);
	frame->sequence = number;
	int sent = gid_ring_put_line(end, gid_wire_make_line(frame), 1);
	gid_ring_publish(end);
	return sent == 1;
}

static bool read_line(void *frame, const struct gid_wire_entry *line) {
	return gid_wire_read_picture(frame, line, gid_wire_first_gid(1));
}

/* Receives the frame with that number, if it is there, and gives it back. */
static bool take_frame(struct gid_ring_consumer *end, struct gid_frame *frame, uint64_t number) {
	uint64_t index;
	int claimed = gid_ring_claim(end, 1, &index);
	if (claimed == 0) {
		return false;
	}
	if (claimed < 0 || !gid_ring_take(end, index, read_line, frame) ||
			frame->sequence != number || gid_ring_put_back(end, index) < 0) {
		errx(1, "frame %lu: wrong", (unsigned long)number);
	}
	is_programs(frame);
	gid_ring_publish_releases(end);
	return true;
}

static void count_back(void *count, const struct gid_ring_sent *sent) {
	*(uint64_t *)count += sent->gid != GID_NONE;
}

static void collect_frames(struct gid_ring_producer *end, uint64_t *count) {
	if (gid_ring_collect_all(end, count_back, count) < 0) {
		errx(1, "frame %lu: given back wrong", (unsigned long)*count);
	}
}

static void *ring_consume(void *data) {
	struct both *both = data;
	struct gid_ring_consumer end;
	struct gid_frame frame;
	gid_ring_consumer_init(&end, &both->ring, &both->page);
	for (uint64_t i = 0; i < both->count;) {
		i += take_frame(&end, &frame, i);
	}
	return NULL;
}

/* Sends what it may, then takes what came back: one look at the other core serves many frames. */
static void ring_produce(struct both *both) {
	struct gid_ring_producer end;
	struct gid_frame frame = make_frame();
	gid_ring_producer_init(&end, &both->ring, &both->page, CREDIT);
	uint64_t sent = 0, released = 0;
	while (released < both->count) {
		while (sent < both->count && send_frame(&end, &frame, sent)) {
			sent++;
		}
		collect_frames(&end, &released);
	}
}

/* Both ends on the first core: what the instructions cost, without lines that change cores. */
static void ring_alone(struct both *both) {
	struct gid_ring_producer producer;
	struct gid_ring_consumer consumer;
	struct gid_frame frame = make_frame(), received;
	gid_ring_producer_init(&producer, &both->ring, &both->page, CREDIT);
	gid_ring_consumer_init(&consumer, &both->ring, &both->page);
	for (uint64_t i = 0, released = 0; i < both->count; i++) {
		if (!send_frame(&producer, &frame, i) || !take_frame(&consumer, &received, i)) {
			errx(1, "frame %lu: not there", (unsigned long)i);
		}
		collect_frames(&producer, &released);
		if (released != i + 1) {
			errx(1, "frame %lu: not given back", (unsigned long)i);
		}
	}
}

static void *nobody(void *data) {
	return data;
}

static void *spin_answer(void *data) {
	struct both *both = data;
	for (uint64_t i = 1; i <= both->count; i++) {
		while (__atomic_load_n(&both->ping, __ATOMIC_ACQUIRE) != i) {
		}
		__atomic_store_n(&both->pong, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void spin_ask(struct both *both) {
	for (uint64_t i = 1; i <= both->count; i++) {
		__atomic_store_n(&both->ping, i, __ATOMIC_RELEASE);
		while (__atomic_load_n(&both->pong, __ATOMIC_ACQUIRE) != i) {
		}
	}
}

static void *eventfd_answer(void *data) {
	struct both *both = data;
	for (uint64_t i = 0; i < both->count; i++) {
		eventfd_t value;
		eventfd_read(both->there, &value);
		eventfd_write(both->back, 1);
	}
	return NULL;
}

static void eventfd_ask(struct both *both) {
	for (uint64_t i = 0; i < both->count; i++) {
		eventfd_t value;
		eventfd_write(both->there, 1);
		eventfd_read(both->back, &value);
	}
}

static const struct way {
	const char *name;
	void (*here)(struct both *both);
	void *(*there)(void *both);
} ways[] = {
		{"ring", ring_produce, ring_consume},
		{"alone", ring_alone, nobody},
		{"spin", spin_ask, spin_answer},
		{"eventfd", eventfd_ask, eventfd_answer},
};

static double seconds(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t cycles(void) {
#ifdef __x86_64__
	return __rdtsc();
#else
	return 0;
#endif
}

int main(int argc, char *argv[]) {
	if (argc != 5) {
		errx(2, "usage: gid-bench-ring ring|alone|spin|eventfd COUNT CORE CORE");
	}
	struct both *both = aligned_alloc(4096, (sizeof(*both) + 4095) / 4096 * 4096);
	if (both == NULL) {
		err(1, "memory");
	}
	memset(both, 0, sizeof(*both));
	both->count = strtoull(argv[2], NULL, 10);
	both->cores[0] = atoi(argv[3]);
	both->cores[1] = atoi(argv[4]);
	both->there = eventfd(0, EFD_CLOEXEC);
	both->back = eventfd(0, EFD_CLOEXEC);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[1]) != 0) {
			continue;
		}
		pin(both->cores[0]);
		/* The consumer's end reads what the producer's end sets up. */
		both->ring.magic = GID_RING_MAGIC;
		both->ring.entries = GID_RING_ENTRIES;
		double begin = seconds(CLOCK_MONOTONIC), own = seconds(CLOCK_THREAD_CPUTIME_ID);
		uint64_t first = cycles();
		pthread_t thread = start(ways[i].there, both);
		ways[i].here(both);
		pthread_join(thread, NULL);
		double passed = seconds(CLOCK_MONOTONIC) - begin;
		/* What waits for nobody is counted in its own time: other programs do not matter.
		 */
		own = ways[i].there == nobody ? seconds(CLOCK_THREAD_CPUTIME_ID) - own : passed;
		double ticks = (double)(cycles() - first) * own / passed;
		printf("%.1f %.1f\n", own / (double)both->count * 1e9, ticks / (double)both->count);
		return 0;
	}
	errx(2, "no such way: %s", argv[1]);
}
