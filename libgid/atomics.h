// SPDX-License-Identifier: MIT
/** Words in shared memory. Each has one writer, so plain loads and stores with an order suffice. */
#ifndef GID_ATOMICS_H
#define GID_ATOMICS_H

#include <stdatomic.h>
#include <stdint.h>

static inline uint64_t shared_load(const uint64_t *word) {
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void shared_store(uint64_t *word, uint64_t value) {
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/*
 * For Dekker's scheme, where each side writes its own word and then reads the other's: the store
 * is sequentially consistent, and so is the load that follows it. A fence would do as well, but
 * thread sanitizers do not understand fences.
 */
static inline void shared_announce(uint64_t *word, uint64_t value) {
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t shared_look(const uint64_t *word) {
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

#endif
