// SPDX-License-Identifier: MIT
/** Threads beside the event loop, for what may wait, as writing a file; and whose turn it is. */
#ifndef GID_AUX_THREAD_H
#define GID_AUX_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Starts a thread with the scheduling of ordinary programs, whatever the caller's is, and with all
 * signals blocked: those are for the event loop. Returns 0 or an errno.
 */
int aux_thread_start(pthread_t *thread, void *(*run)(void *), void *data);

/* How many bytes its stack has. */
size_t aux_thread_stack(void);

/* A lock that such a thread may share with the event loop: whoever waits for it, with a higher
 * priority, lends that to the one who has it. */
void aux_thread_init_lock(pthread_mutex_t *lock);

/* Waits for the thread to end, but no longer than 200 ms. Returns 0, or why it did not. */
int aux_thread_join(pthread_t thread);

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
