// SPDX-License-Identifier: MIT
/** A ring between two threads with a random schedule, and an account of what became of each frame.
 */
#ifndef GID_TESTS_RING_RUN_H
#define GID_TESTS_RING_RUN_H

#include <semaphore.h>
#include <time.h>

#include "ring_pair.h"

#define SLOTS 80u
#define SLOT_WORDS 8u

/* What became of a frame; each bit can be set once. */
enum fate {
	FATE_SENT = 1,
	FATE_RECEIVED = 2,
	FATE_RELEASED = 4,
	FATE_TAKEN_BACK = 8,
	FATE_FORCED = 16,
};

struct schedule {
	const char *name;
	uint32_t frames, credit;
	bool drop_old;
	bool patient;		  /* the producer waits for credit */
	uint32_t force_percent;	  /* how often the producer takes by force what is claimed */
	uint32_t hold_max;	  /* frames that the consumer keeps, in random order */
	uint32_t producer_pauses; /* one in so many steps */
	uint32_t consumer_pauses;
	uint32_t no_picture_percent;
};

struct run {
	const struct schedule *schedule;
	struct gid_wire_ring *ring;
	struct gid_wire_page *page;
	struct gid_ring_producer begin; /* as made before there is a consumer */
	sem_t bell;
	uint64_t slots[SLOTS][SLOT_WORDS];
	bool out[SLOTS];
	unsigned char *fates; /* by sequence; each thread writes its own bits, atomically */
	uint64_t sent, dropped, taken_back, forced, released, received, discarded;
	uint64_t rings;
	bool finished;
	const char *failure;
};

static inline void fail(struct run *run, const char *what) {
	const char *none = NULL;
	__atomic_compare_exchange_n(
			&run->failure, &none, what, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline void set_fate(struct run *run, uint64_t sequence, enum fate fate) {
	unsigned char old = __atomic_fetch_or(
			&run->fates[sequence], (unsigned char)fate, __ATOMIC_RELAXED);
	if ((old & fate) != 0) {
		fail(run, "something happened twice to a frame");
	}
}

static inline uint32_t random_below(uint64_t *state, uint32_t bound) {
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)((*state >> 16) % bound);
}

static inline void pause_randomly(uint64_t *state, uint32_t one_in) {
	if (one_in != 0 && random_below(state, one_in) == 0) {
		nanosleep(&(struct timespec){0, (long)random_below(state, 50000)}, NULL);
	}
}

#endif
