// SPDX-License-Identifier: MIT
/** How both ends of a ring touch shared memory: each word at once, in the orders of ring.h. */
#ifndef GID_RING_MEMORY_H
#define GID_RING_MEMORY_H

#include <string.h>

#include "wire_ring.h"

#define RING_ENTRY_WORDS (sizeof(struct gid_wire_frame) / sizeof(uint64_t))

static inline uint64_t ring_load(const uint64_t *word) {
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void ring_store(uint64_t *word, uint64_t value) {
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* Word by word: the other side may read or write the place meanwhile. */
static inline void ring_put_entry(struct gid_wire_frame *place, const struct gid_wire_frame *entry) {
	uint64_t words[RING_ENTRY_WORDS];
	memcpy(words, entry, sizeof(words));
	for (size_t i = 0; i < RING_ENTRY_WORDS; i++) {
		__atomic_store_n((uint64_t *)place + i, words[i], __ATOMIC_RELEASE);
	}
}

static inline void ring_get_entry(struct gid_wire_frame *copy, const struct gid_wire_frame *place) {
	uint64_t words[RING_ENTRY_WORDS];
	for (size_t i = 0; i < RING_ENTRY_WORDS; i++) {
		words[i] = __atomic_load_n((const uint64_t *)place + i, __ATOMIC_ACQUIRE);
	}
	memcpy(copy, words, sizeof(words));
}

/* `own` is our copy of the word at `asleep`, which we alone write. */
static inline void ring_sleep(uint64_t *asleep, uint64_t *own) {
	*own |= 1;
	ring_store(asleep, *own);
}

static inline void ring_wake(uint64_t *asleep, uint64_t *own) {
	*own += *own & 1;
	__atomic_store_n(asleep, *own, __ATOMIC_RELAXED);
}

/* Whether the other side sleeps and was not rung for this sleep. */
static inline bool ring_should_wake(const uint64_t *asleep, uint64_t *rung) {
	uint64_t value = ring_load(asleep);
	if ((value & 1) == 0 || value == *rung) {
		return false;
	}
	*rung = value;
	return true;
}

#endif
