// SPDX-License-Identifier: MIT
/** Whose turn it is among ordinary threads that share a processor. */
#ifndef CLUSTER_SLICE_H
#define CLUSTER_SLICE_H

#include <stdint.h>

/* What the kernel takes. */
#define SLICE_SHORTEST_NS UINT64_C(100000)
#define SLICE_LONGEST_NS UINT64_C(100000000)

/*
 * How soon the calling thread, of ordinary scheduling, gets a processor when it wakes, beside
 * others of its core: the shorter its slice, the sooner. How much of the processor it gets in all
 * stays the same. Every user may ask for that, and take it back; threads that it starts have the
 * usual one. Linux before 6.12 takes no notice. Returns 0, also in another class of scheduling,
 * which has no slices; or -errno.
 */
int slice_ask(uint64_t ns);

#endif
