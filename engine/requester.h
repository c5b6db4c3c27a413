// SPDX-License-Identifier: MIT
/**
 * One canvas and the program that draws on it: a thread with a connection to gidd of its own. What
 * the program sends, and however long that takes, concerns this thread, and helpers where nobody
 * else needs a processor; the kernel shares the processors among the threads.
 */
#ifndef ENGINE_REQUESTER_H
#define ENGINE_REQUESTER_H

#include "engine_config.h"
#include "helpers.h"

struct requester;

/*
 * Starts the thread. The configuration is copied. `domain` is the engine's, NULL: as
 * gid_domain_connect() finds it; it lives longer than the thread, and so do `helpers`, which may be
 * NULL. Returns 0 or -errno.
 */
int requester_start(struct requester **requester, const struct canvas_config *config,
		const char *domain, uint32_t spin_us, struct helpers *helpers);

/* Has the thread end, without waiting for that. */
void requester_end(struct requester *requester);

/* Waits for the end of the thread, after requester_end(), and frees everything. */
void requester_join(struct requester *requester);

#endif
