/* SPDX-License-Identifier: MIT */
/** Threads of our own beside the caller's, for what may wait. They take nothing from the caller. */
#ifndef GID_THREAD_H
#define GID_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* In bytes: all of it may be locked in memory. Enough for our own code. */
#define GID_THREAD_STACK (256u << 10)
/* What programs usually have: for libraries that draw. */
#define GID_THREAD_STACK_USUAL 0u

/*
 * Starts a thread with the scheduling of ordinary programs, whatever the caller's is, and with all
 * signals blocked: those are for the caller's loop. Where `thread` is NULL, nobody waits for its
 * end. Returns 0 or -errno.
 */
int gid_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *data), void *data);

/* Waits for its end, but no longer than 200 ms. Returns 0; or -errno: it may go on. */
int gid_thread_join(pthread_t thread);

/* A lock that such a thread shares with others: whoever waits for it, with a higher priority, lends
 * that to the one who has it. */
void gid_thread_init_lock(pthread_mutex_t *lock);

/* How long the calling thread, whoever started it, has had a processor, in ns. */
static inline uint64_t gid_thread_used(void) {
	struct timespec used;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

#endif
