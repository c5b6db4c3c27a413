// SPDX-License-Identifier: MIT
/**
 * One canvas and the program that draws on it: a thread with a connection to gidd of its own. What
 * the program sends, and however long that takes, concerns this thread alone; the kernel shares the
 * processors among the threads.
 */
#ifndef ENGINE_REQUESTER_H
#define ENGINE_REQUESTER_H

#include "engine_config.h"
#include <stdatomic.h>

struct requester;

/* What all of them share; constant but for `ends`. */
struct requester_options {
	const char *domain; /* the engine's, NULL: as gid_domain_connect() finds it */
	uint32_t spin_us;
	int wake_fd;	  /* becomes readable when they are to end */
	atomic_bool ends; /* set before that */
};

/* Starts the thread. Both arguments live longer than it. Returns 0 or -errno. */
int requester_start(struct requester **requester, const struct canvas_config *config,
		const struct requester_options *options);

/* Waits for the end of the thread, after `ends` and `wake_fd` were set, and frees everything. */
void requester_join(struct requester *requester);

#endif
