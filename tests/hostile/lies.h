// SPDX-License-Identifier: MIT
/** What a peer writes that keeps to no rule, and frames to tell of it. */
#ifndef GID_TESTS_LIES_H
#define GID_TESTS_LIES_H

#include "ring_pair.h"

/* Into shared memory, while the other may look. */
static inline void poke(uint64_t *word, uint64_t value) {
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* Every seventh is without a picture. */
static inline void fill_numbered(struct gid_wire_frame *frame, uint64_t number) {
	memset(frame, 0, sizeof(*frame));
	frame->gid = number % 7 == 0 ? GID_NONE : gid_make(1, 1, number % 100, 0);
	frame->sequence = number;
}

#endif
