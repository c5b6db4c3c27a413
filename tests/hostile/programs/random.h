// SPDX-License-Identifier: MIT
/* Random bytes for the hostile programs: fast, and the same ones for the same seed. */
#ifndef HOSTILE_RANDOM_H
#define HOSTILE_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct random {
	uint64_t state; /* not 0 */
};

/* xorshift64*, Sebastiano Vigna, "An experimental exploration of Marsaglia's xorshift generators,
 * scrambled", 2016. */
static inline uint64_t random_next(struct random *random) {
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * 0x2545f4914f6cdd1dull;
}

static inline uint64_t random_below(struct random *random, uint64_t limit) {
	return random_next(random) % limit;
}

static inline void random_fill(struct random *random, void *data, size_t size) {
	uint8_t *at = data;
	while (size > 0) {
		uint64_t word = random_next(random);
		size_t part = size < sizeof(word) ? size : sizeof(word);
		memcpy(at, &word, part);
		at += part;
		size -= part;
	}
}

#endif
