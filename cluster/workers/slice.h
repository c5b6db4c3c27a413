// SPDX-License-Identifier: MIT
/** The scheduling slice of ordinary threads, which decides how soon they are scheduled. */
#ifndef CLUSTER_SLICE_H
#define CLUSTER_SLICE_H

#include <stdint.h>

/* What the kernel takes. */
#define SLICE_SHORTEST_NS UINT64_C(100000)
#define SLICE_LONGEST_NS UINT64_C(100000000)

/*
 * Sets the slice of the calling thread: the shorter it is, the sooner the thread runs after a
 * wake-up, beside others of its core. Its share of the processor stays the same. Every user may do
 * that; threads that it starts have the usual slice. Linux before 6.12 ignores it. Returns 0, also
 * in a scheduling class that has no slices; or -errno.
 */
int slice_ask(uint64_t ns);

#endif
