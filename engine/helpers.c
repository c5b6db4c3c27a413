// SPDX-License-Identifier: MIT
#include "helpers.h"

#include <errno.h>
#include <gid/gid.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "pause.h"
#include "thread.h"

/* How long a helper spins for the next job: commands of a list follow each other. */
#define SPIN_NS 50000ull
/* How long the canvas's thread spins for the last pieces, before it sleeps. */
#define PATIENCE_NS 20000ull
#define LONG_WAIT_NS 1000000ull
#define ALONE_LEAST_NS 50000000ull
#define ALONE_MOST_NS 1000000000ull

struct helper {
	struct helpers *all;
	uint32_t number;
	pthread_t thread;
	struct helper_memory memory;
};

struct helpers {
	pthread_mutex_t lock; /* of the list of jobs, and of who enters one */
	pthread_cond_t job_added;
	struct helper_job *jobs;
	uint32_t sleeping; /* helpers */
	bool ends;
	uint32_t processors;
	atomic_uint open;   /* jobs */
	atomic_uint awake;  /* canvases */
	atomic_uint inside; /* helpers, of all jobs */
	uint32_t count;
	struct helper each[HELPERS_MAX];
};

static uint32_t processors(void) {
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (uint32_t)CPU_COUNT(&set);
}

static uint32_t usual_count(void) {
	const uint32_t count = processors() - 1;
	return count < HELPERS_MAX ? count : HELPERS_MAX;
}

/* --- helpers ---------------------------------------------------------------------------------- */

/* Whether there is a processor for so many helpers. */
static bool has_processor(struct helpers *helpers, uint32_t inside) {
	return atomic_load_explicit(&helpers->awake, memory_order_relaxed) + inside <=
			helpers->processors;
}

static bool has_pieces(struct helper_job *job) {
	return atomic_load_explicit(&job->taken, memory_order_relaxed) < job->pieces;
}

/* The job with the fewest helpers. */
static struct helper_job *find(struct helpers *helpers) {
	struct helper_job *found = NULL;
	int fewest = HELPERS_MAX + 1;
	if (!has_processor(helpers, atomic_load(&helpers->inside) + 1)) {
		return NULL;
	}
	for (struct helper_job *job = helpers->jobs; job != NULL; job = job->next) {
		const int inside = __builtin_popcount(atomic_load(&job->inside));
		if (has_pieces(job) && inside < fewest) {
			found = job;
			fewest = inside;
		}
	}
	return found;
}

static void enter_job(struct helper *helper, struct helper_job *job) {
	pthread_mutex_lock(&job->working[helper->number]); /* free, as this helper is not inside */
	atomic_fetch_or(&job->inside, 1u << helper->number);
	atomic_fetch_add(&helper->all->inside, 1);
}

static void exit_job(struct helper *helper, struct helper_job *job, uint64_t used) {
	pthread_mutex_t *working = &job->working[helper->number];
	__atomic_fetch_add(&job->used_ns, used, __ATOMIC_RELAXED);
	atomic_fetch_sub(&helper->all->inside, 1);
	atomic_fetch_and(&job->inside, ~(1u << helper->number));
	pthread_mutex_unlock(working); /* helper_job_finish() waits for this */
}

/* Looks for a job for a while, then sleeps until there is one. NULL: it is to end. */
static struct helper_job *wait_for_job(struct helper *helper) {
	struct helpers *helpers = helper->all;
	const uint64_t until = gid_clock_now() + SPIN_NS;
	bool spins = true;
	struct helper_job *job = NULL;
	pthread_mutex_lock(&helpers->lock);
	while (!helpers->ends && (job = find(helpers)) == NULL) {
		if (!spins) {
			helpers->sleeping++;
			pthread_cond_wait(&helpers->job_added, &helpers->lock);
			helpers->sleeping--;
			continue;
		}
		pthread_mutex_unlock(&helpers->lock);
		do {
			pause_briefly();
			spins = gid_clock_now() < until;
		} while (spins && atomic_load(&helpers->open) == 0);
		pthread_mutex_lock(&helpers->lock);
	}
	if (job != NULL) {
		enter_job(helper, job);
	}
	pthread_mutex_unlock(&helpers->lock);
	return job;
}

static void *run(void *data) {
	struct helper *helper = data;
	struct helper_job *job;
	pthread_setname_np(pthread_self(), "helper");
	while ((job = wait_for_job(helper)) != NULL) {
		const uint64_t used = gid_thread_used();
		job->help(job, &helper->memory);
		exit_job(helper, job, gid_thread_used() - used);
	}
	return NULL;
}

int helpers_create(struct helpers **result, uint32_t count) {
	*result = NULL;
	count = count == HELPERS_AUTO ? usual_count() : count;
	if (count == 0) {
		return 0;
	}
	struct helpers *helpers = calloc(1, sizeof(*helpers));
	if (helpers == NULL) {
		return -ENOMEM;
	}
	gid_thread_init_lock(&helpers->lock);
	pthread_cond_init(&helpers->job_added, NULL);
	helpers->processors = processors();
	for (; helpers->count < count && helpers->count < HELPERS_MAX; helpers->count++) {
		struct helper *helper = &helpers->each[helpers->count];
		*helper = (struct helper){.all = helpers, .number = helpers->count};
		const int error = gid_thread_start(
				&helper->thread, GID_THREAD_STACK_USUAL, run, helper);
		if (error < 0) {
			helpers_destroy(helpers);
			return error;
		}
	}
	*result = helpers;
	return 0;
}

void helpers_destroy(struct helpers *helpers) {
	if (helpers == NULL) {
		return;
	}
	pthread_mutex_lock(&helpers->lock);
	helpers->ends = true;
	pthread_cond_broadcast(&helpers->job_added);
	pthread_mutex_unlock(&helpers->lock);
	for (uint32_t i = 0; i < helpers->count; i++) {
		pthread_join(helpers->each[i].thread, NULL);
		free(helpers->each[i].memory.bytes);
	}
	pthread_cond_destroy(&helpers->job_added);
	pthread_mutex_destroy(&helpers->lock);
	free(helpers);
}

/* --- canvases --------------------------------------------------------------------------------- */

void helper_job_init(struct helper_job *job, struct helpers *helpers) {
	*job = (struct helper_job){.helpers = helpers};
	if (helpers == NULL) {
		return;
	}
	for (uint32_t i = 0; i < HELPERS_MAX; i++) {
		gid_thread_init_lock(&job->working[i]);
	}
}

void helper_job_finish(struct helper_job *job) {
	if (job->helpers == NULL) {
		return;
	}
	for (uint32_t i = 0; i < HELPERS_MAX; i++) {
		/* A helper that has just left may still hold it. */
		pthread_mutex_lock(&job->working[i]);
		pthread_mutex_unlock(&job->working[i]);
		pthread_mutex_destroy(&job->working[i]);
	}
	job->helpers = NULL;
}

void helper_job_sleep(struct helper_job *job) {
	if (job->helpers != NULL) {
		atomic_fetch_sub_explicit(&job->helpers->awake, 1, memory_order_relaxed);
	}
}

void helper_job_wake(struct helper_job *job) {
	if (job->helpers != NULL) {
		atomic_fetch_add_explicit(&job->helpers->awake, 1, memory_order_relaxed);
	}
}

/* --- jobs ------------------------------------------------------------------------------------- */

bool helper_job_begin(struct helper_job *job,
		void (*help)(struct helper_job *job, struct helper_memory *memory), void *data,
		uint32_t pieces) {
	struct helpers *helpers = job->helpers;
	if (helpers == NULL || pieces < 2 || !has_processor(helpers, 1)) {
		return false;
	}
	if (job->alone_until != 0 && gid_clock_now() < job->alone_until) {
		return false;
	}
	job->help = help;
	job->data = data;
	job->pieces = pieces;
	job->is_open = true;
	atomic_store(&job->taken, 0);
	atomic_store(&job->stopped, false);
	pthread_mutex_lock(&helpers->lock);
	job->next = helpers->jobs;
	helpers->jobs = job;
	atomic_fetch_add(&helpers->open, 1);
	uint32_t wanted = helpers->sleeping < pieces - 1 ? helpers->sleeping : pieces - 1;
	pthread_mutex_unlock(&helpers->lock);
	for (uint32_t i = 0; i < wanted && has_processor(helpers, i + 1); i++) {
		pthread_cond_signal(&helpers->job_added);
	}
	return true;
}

int64_t helper_job_take(struct helper_job *job) {
	if (!has_pieces(job)) { /* so that `taken` cannot grow without bound */
		return -1;
	}
	const uint32_t piece = atomic_fetch_add(&job->taken, 1);
	return piece < job->pieces ? (int64_t)piece : -1;
}

int64_t helper_job_take_as_helper(struct helper_job *job) {
	struct helpers *helpers = job->helpers;
	return has_processor(helpers, atomic_load_explicit(&helpers->inside, memory_order_relaxed))
			? helper_job_take(job)
			: -1;
}

void helper_job_stop(struct helper_job *job) {
	atomic_store(&job->stopped, true);
	atomic_store(&job->taken, job->pieces);
}

bool helper_job_is_stopped(const struct helper_job *job) {
	return atomic_load_explicit(&job->stopped, memory_order_relaxed);
}

/* Sleeps until this helper leaves the job, at most so long. The lock lends it our priority. */
static void sleep_for(struct helper_job *job, uint32_t helper, uint64_t ns) {
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	ns += (uint64_t)deadline.tv_nsec;
	deadline.tv_sec += (time_t)(ns / 1000000000);
	deadline.tv_nsec = (long)(ns % 1000000000);
	pthread_mutex_t *working = &job->working[helper];
	if (pthread_mutex_timedlock(working, &deadline) == 0) {
		pthread_mutex_unlock(working);
	}
}

/* From here on no helper enters. */
static void close_job(struct helper_job *job) {
	struct helpers *helpers = job->helpers;
	pthread_mutex_lock(&helpers->lock);
	struct helper_job **at = &helpers->jobs;
	while (*at != job) {
		at = &(*at)->next;
	}
	*at = job->next;
	atomic_fetch_sub(&helpers->open, 1);
	pthread_mutex_unlock(&helpers->lock);
	job->waits_since = gid_clock_now();
}

/* Works alone for a while; for twice as long if the last time was not long ago. */
static void be_alone(struct helper_job *job, uint64_t now) {
	const bool is_again = now < job->alone_until + ALONE_MOST_NS;
	job->alone_ns = is_again ? 2 * job->alone_ns : ALONE_LEAST_NS;
	job->alone_ns = job->alone_ns < ALONE_MOST_NS ? job->alone_ns : ALONE_MOST_NS;
	job->alone_until = now + job->alone_ns;
	job->waits++;
}

bool helper_job_end(struct helper_job *job) {
	if (job->waits_since == 0) {
		close_job(job);
	}
	uint64_t now = gid_clock_now();
	const uint64_t begin = now;
	uint32_t inside;
	while ((inside = atomic_load(&job->inside)) != 0 && now - begin < LONG_WAIT_NS) {
		if (now - job->waits_since < PATIENCE_NS) {
			pause_briefly();
		} else {
			sleep_for(job, (uint32_t)__builtin_ctz(inside),
					LONG_WAIT_NS - (now - begin));
		}
		now = gid_clock_now();
	}
	if (inside != 0) {
		return false;
	}
	if (now - job->waits_since >= LONG_WAIT_NS) {
		be_alone(job, now);
	}
	job->waits_since = 0;
	job->is_open = false;
	return true;
}
