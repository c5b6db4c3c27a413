// SPDX-License-Identifier: MIT
/**
 * Worker threads that help the threads of canvases with long commands while processors are free.
 * All canvases of an engine share them.
 *
 * Threads: struct helpers is made and destroyed by one thread. A struct helper_job belongs to a
 * canvas, and all its functions are called by the canvas's thread, unless they say otherwise.
 *
 * A job is cut into pieces. The canvas's thread itself does the pieces that no helper has begun: it
 * never waits for a helper to begin. At the end it waits for the piece that each helper may still
 * be in. Helpers are ordinary threads; a real-time canvas that waits for one lends it its priority.
 * After a wait of more than a millisecond, as on a busy machine, the canvas works alone for 50 ms;
 * if that happens again soon, for twice as long each time, up to a second.
 *
 * Each canvas that is awake counts as using a processor. Helpers begin a piece only if there are
 * more processors than that: so another canvas that wakes up waits at most for the rest of a piece.
 */
#ifndef ENGINE_HELPERS_H
#define ENGINE_HELPERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELPERS_MAX 15u
#define HELPERS_AUTO UINT32_MAX /* one less than there are processors */

struct helpers;

/* Memory of malloc() that a helper keeps between its jobs. */
struct helper_memory {
	void *bytes;
	size_t size;
};

struct helper_job {
	struct helpers *helpers; /* NULL: there are none */
	uint64_t used_ns;	 /* processor time of helpers for this canvas so far */
	uint64_t waits;		 /* how often it waited for longer than a millisecond */
	bool is_open;		 /* helpers may work: between helper_job_begin() and its end */

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
	uint64_t alone_ns;		      /* the last duration of working alone */
	pthread_mutex_t working[HELPERS_MAX]; /* held by such a helper */
};

/* Returns 0 or -errno. `count` is HELPERS_AUTO, or at most HELPERS_MAX; 0: `*result` is NULL. */
int helpers_create(struct helpers **result, uint32_t count);

/* To be called when no canvas is left. */
void helpers_destroy(struct helpers *helpers);

/* Begins as asleep. `helpers` may be NULL. */
void helper_job_init(struct helper_job *job, struct helpers *helpers);
void helper_job_finish(struct helper_job *job);

/* The canvas's thread needs a processor from now on; or does not any more. */
void helper_job_wake(struct helper_job *job);
void helper_job_sleep(struct helper_job *job);

/*
 * Begins a job of so many pieces, in which helpers call `help`, which takes pieces until there are
 * none. Returns false if no helper is free: then there is no job. If true, the caller takes pieces
 * as well, and then calls helper_job_end().
 */
bool helper_job_begin(struct helper_job *job,
		void (*help)(struct helper_job *job, struct helper_memory *memory), void *data,
		uint32_t pieces);

/* The next piece, or -1: there is none left. */
int64_t helper_job_take(struct helper_job *job);

/* The same for a helper. -1 also if a canvas needs its processor. */
int64_t helper_job_take_as_helper(struct helper_job *job);

/* By any thread of the job: no more pieces begin, and helpers may give up theirs. */
void helper_job_stop(struct helper_job *job);
bool helper_job_is_stopped(const struct helper_job *job);

/*
 * Waits until no helper is in the job any more, for at most a millisecond: false: call it again.
 * Pieces that were not taken are not done.
 */
bool helper_job_end(struct helper_job *job);

#endif
