// SPDX-License-Identifier: MIT
/** Threads beside the event loop: for what may wait, as writing a log or a file. */
#ifndef CLUSTER_AUX_THREAD_H
#define CLUSTER_AUX_THREAD_H

#include <pthread.h>

/*
 * Starts a thread with the scheduling of ordinary programs, whatever the caller's is, and with all
 * signals blocked: those are for the event loop. Returns 0 or an errno.
 */
int aux_thread_start(pthread_t *thread, void *(*run)(void *), void *data);

/* A lock that such a thread may share with the event loop: whoever waits for it, with a higher
 * priority, lends that to the one who has it. */
void aux_thread_init_lock(pthread_mutex_t *lock);

/* Waits for the thread to end, but no longer than 200 ms. Returns 0, or why it did not. */
int aux_thread_join(pthread_t thread);

#endif
