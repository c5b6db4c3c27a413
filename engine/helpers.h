// SPDX-License-Identifier: MIT
/**
 * Threads that help the threads of canvases with long commands, where processors are free for it.
 * All canvases of an engine share them.
 *
 * Threads: struct helpers is made and destroyed by one thread. A struct helper_job belongs to a
 * canvas, and all its functions are called by the canvas's thread, but for those that say
 * otherwise.
 *
 * A job is cut into pieces. The canvas's thread does those that no helper has begun: it never waits
 * for a helper to begin something. At the end it waits for the one piece that each helper may be
 * in. Helpers are ordinary threads; a real-time canvas that waits for one lends it its priority
 * meanwhile. A canvas that had to wait for longer than a millisecond, as on a machine with much
 * else to do, works alone for the 50 ms after it, then for 100, up to a second if it goes on so.
 *
 * A canvas that is awake has a processor. Helpers begin a piece only if a processor is left beside
 * those: they take nothing from another canvas, but for the rest of a piece when that wakes.
 */
#ifndef ENGINE_HELPERS_H
#define ENGINE_HELPERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELPERS_MAX 15u
#define HELPERS_AUTO UINT32_MAX /* as many as there are processors, without one */

struct helpers;

/* What a helper keeps between its jobs, of malloc(). */
struct helper_memory {
	void *bytes;
	size_t size;
};

struct helper_job {
	struct helpers *helpers; /* NULL: there are none */
	uint64_t used_ns;	 /* of processors, by helpers for this canvas, ever */
	uint64_t waits;		 /* for longer than a millisecond, ever */

	/* The job in work; the rest is of engine/helpers. */
	void (*help)(struct helper_job *job, struct helper_memory *memory);
	void *data;
	uint32_t pieces;
	atomic_uint taken;
	atomic_bool stopped;
	atomic_uint inside; /* a bit for each helper that is in it */
	struct helper_job *next;
	uint64_t waits_since;		      /* CLOCK_MONOTONIC ns; 0: the job is not closed */
	uint64_t alone_until;		      /* CLOCK_MONOTONIC ns */
	uint64_t alone_ns;		      /* for so long when it was alone last */
	pthread_mutex_t working[HELPERS_MAX]; /* held by such a helper */
};

/* Returns 0 or -errno. `count` is HELPERS_AUTO, or at most HELPERS_MAX; 0: `*result` is NULL. */
int helpers_create(struct helpers **result, uint32_t count);

/* When no canvas is left. */
void helpers_destroy(struct helpers *helpers);

/* A canvas that sleeps. `helpers` may be NULL. */
void helper_job_init(struct helper_job *job, struct helpers *helpers);
void helper_job_finish(struct helper_job *job);

/* From here on its thread may need a processor; and no more. */
void helper_job_wake(struct helper_job *job);
void helper_job_sleep(struct helper_job *job);

/*
 * A job of `pieces`, in which helpers call `help`. It must take pieces until there are none.
 * Returns false if nobody would help now: then there is no job. Otherwise take pieces as well, and
 * end it.
 */
bool helper_job_begin(struct helper_job *job,
		void (*help)(struct helper_job *job, struct helper_memory *memory), void *data,
		uint32_t pieces);

/* The next piece, or -1: there is none left. */
int64_t helper_job_take(struct helper_job *job);

/* The same for a helper. -1 also if its processor is wanted. */
int64_t helper_job_take_as_helper(struct helper_job *job);

/* By any thread of the job: no more pieces are begun, and helpers may leave theirs. */
void helper_job_stop(struct helper_job *job);
bool helper_job_is_stopped(const struct helper_job *job);

/*
 * Waits until no helper is in the job any more, but for a millisecond at most: false says that it
 * is to be called again. Pieces that were not taken are not done.
 */
bool helper_job_end(struct helper_job *job);

#endif
