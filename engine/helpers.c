// SPDX-License-Identifier: MIT
#include "helpers.h"

#include <errno.h>
#include <gid/gid.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "pause.h"

#define SPIN_NS 50000ull     /* for the next job: commands of a list follow each other */
#define PATIENCE_NS 20000ull /* for the last pieces, before the canvas's thread sleeps */
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
	pthread_cond_t came;
	struct helped *jobs;
	uint32_t sleeping; /* helpers */
	bool ends;
	uint32_t processors;
	atomic_uint open;   /* jobs */
	atomic_uint awake;  /* canvases */
	atomic_uint inside; /* helpers, of all jobs */
	uint32_t count;
	struct helper each[HELPERS_MAX];
};

static uint64_t used_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t processors(void) {
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (uint32_t)CPU_COUNT(&set);
}

static uint32_t usual_count(void) {
	const uint32_t count = processors() - 1;
	return count < HELPERS_MAX ? count : HELPERS_MAX;
}

/* Whoever waits for it with a real-time priority lends that to the thread that has it. */
static void lending_init(pthread_mutex_t *mutex) {
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

/* --- helpers ---------------------------------------------------------------------------------- */

/* Whether there is a processor for so many helpers. */
static bool has_processor(struct helpers *helpers, uint32_t inside) {
	return atomic_load_explicit(&helpers->awake, memory_order_relaxed) + inside <=
			helpers->processors;
}

static bool has_pieces(struct helped *helped) {
	return atomic_load_explicit(&helped->taken, memory_order_relaxed) < helped->pieces;
}

/* The job with the fewest helpers. */
static struct helped *find(struct helpers *helpers) {
	struct helped *found = NULL;
	int fewest = HELPERS_MAX + 1;
	if (!has_processor(helpers, atomic_load(&helpers->inside) + 1)) {
		return NULL;
	}
	for (struct helped *job = helpers->jobs; job != NULL; job = job->next) {
		const int inside = __builtin_popcount(atomic_load(&job->inside));
		if (has_pieces(job) && inside < fewest) {
			found = job;
			fewest = inside;
		}
	}
	return found;
}

static void enter(struct helper *helper, struct helped *job) {
	pthread_mutex_lock(&job->working[helper->number]); /* which nobody has: it is not inside */
	atomic_fetch_or(&job->inside, 1u << helper->number);
	atomic_fetch_add(&helper->all->inside, 1);
}

static void leave(struct helper *helper, struct helped *job, uint64_t used) {
	pthread_mutex_t *working = &job->working[helper->number];
	__atomic_fetch_add(&job->used_ns, used, __ATOMIC_RELAXED);
	atomic_fetch_sub(&helper->all->inside, 1);
	atomic_fetch_and(&job->inside, ~(1u << helper->number));
	pthread_mutex_unlock(working); /* helped_finish() waits for this */
}

/* Looks for a job for a while, then sleeps until there is one. NULL: it is to end. */
static struct helped *wait_for_job(struct helper *helper) {
	struct helpers *helpers = helper->all;
	const uint64_t until = gid_clock_now() + SPIN_NS;
	bool spins = true;
	struct helped *job = NULL;
	pthread_mutex_lock(&helpers->lock);
	while (!helpers->ends && (job = find(helpers)) == NULL) {
		if (!spins) {
			helpers->sleeping++;
			pthread_cond_wait(&helpers->came, &helpers->lock);
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
		enter(helper, job);
	}
	pthread_mutex_unlock(&helpers->lock);
	return job;
}

static void *run(void *data) {
	struct helper *helper = data;
	struct helped *job;
	pthread_setname_np(pthread_self(), "helper");
	/* Whatever class the engine was started in. */
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
	while ((job = wait_for_job(helper)) != NULL) {
		const uint64_t used = used_ns();
		job->help(job, &helper->memory);
		leave(helper, job, used_ns() - used);
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
	lending_init(&helpers->lock);
	pthread_cond_init(&helpers->came, NULL);
	helpers->processors = processors();
	for (; helpers->count < count && helpers->count < HELPERS_MAX; helpers->count++) {
		struct helper *helper = &helpers->each[helpers->count];
		*helper = (struct helper){.all = helpers, .number = helpers->count};
		const int error = pthread_create(&helper->thread, NULL, run, helper);
		if (error != 0) {
			helpers_destroy(helpers);
			return -error;
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
	pthread_cond_broadcast(&helpers->came);
	pthread_mutex_unlock(&helpers->lock);
	for (uint32_t i = 0; i < helpers->count; i++) {
		pthread_join(helpers->each[i].thread, NULL);
		free(helpers->each[i].memory.bytes);
	}
	pthread_cond_destroy(&helpers->came);
	pthread_mutex_destroy(&helpers->lock);
	free(helpers);
}

/* --- canvases --------------------------------------------------------------------------------- */

void helped_init(struct helped *helped, struct helpers *helpers) {
	*helped = (struct helped){.helpers = helpers};
	if (helpers == NULL) {
		return;
	}
	for (uint32_t i = 0; i < HELPERS_MAX; i++) {
		lending_init(&helped->working[i]);
	}
}

void helped_finish(struct helped *helped) {
	if (helped->helpers == NULL) {
		return;
	}
	for (uint32_t i = 0; i < HELPERS_MAX; i++) {
		pthread_mutex_lock(&helped->working[i]); /* who left it has it for a moment still */
		pthread_mutex_unlock(&helped->working[i]);
		pthread_mutex_destroy(&helped->working[i]);
	}
	helped->helpers = NULL;
}

void helped_sleep(struct helped *helped) {
	if (helped->helpers != NULL) {
		atomic_fetch_sub_explicit(&helped->helpers->awake, 1, memory_order_relaxed);
	}
}

void helped_wake(struct helped *helped) {
	if (helped->helpers != NULL) {
		atomic_fetch_add_explicit(&helped->helpers->awake, 1, memory_order_relaxed);
	}
}

/* --- jobs ------------------------------------------------------------------------------------- */

bool helped_begin(struct helped *helped,
		void (*help)(struct helped *helped, struct helper_memory *memory), void *data,
		uint32_t pieces) {
	struct helpers *helpers = helped->helpers;
	if (helpers == NULL || pieces < 2 || !has_processor(helpers, 1)) {
		return false;
	}
	if (helped->alone_until != 0 && gid_clock_now() < helped->alone_until) {
		return false;
	}
	helped->help = help;
	helped->data = data;
	helped->pieces = pieces;
	atomic_store(&helped->taken, 0);
	atomic_store(&helped->stopped, false);
	pthread_mutex_lock(&helpers->lock);
	helped->next = helpers->jobs;
	helpers->jobs = helped;
	atomic_fetch_add(&helpers->open, 1);
	uint32_t wanted = helpers->sleeping < pieces - 1 ? helpers->sleeping : pieces - 1;
	pthread_mutex_unlock(&helpers->lock);
	for (uint32_t i = 0; i < wanted && has_processor(helpers, i + 1); i++) {
		pthread_cond_signal(&helpers->came);
	}
	return true;
}

int64_t helped_take(struct helped *helped) {
	if (!has_pieces(helped)) { /* so that the number stays near to the last one */
		return -1;
	}
	const uint32_t piece = atomic_fetch_add(&helped->taken, 1);
	return piece < helped->pieces ? (int64_t)piece : -1;
}

int64_t helped_take_as_helper(struct helped *helped) {
	struct helpers *helpers = helped->helpers;
	return has_processor(helpers, atomic_load_explicit(&helpers->inside, memory_order_relaxed))
			? helped_take(helped)
			: -1;
}

void helped_stop(struct helped *helped) {
	atomic_store(&helped->stopped, true);
	atomic_store(&helped->taken, helped->pieces);
}

bool helped_is_stopped(const struct helped *helped) {
	return atomic_load_explicit(&helped->stopped, memory_order_relaxed);
}

/* Sleeps until this helper leaves the job, or so long. Lends it the thread's priority. */
static void sleep_for(struct helped *helped, uint32_t helper, uint64_t ns) {
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	ns += (uint64_t)deadline.tv_nsec;
	deadline.tv_sec += (time_t)(ns / 1000000000);
	deadline.tv_nsec = (long)(ns % 1000000000);
	pthread_mutex_t *working = &helped->working[helper];
	if (pthread_mutex_timedlock(working, &deadline) == 0) {
		pthread_mutex_unlock(working);
	}
}

/* From here on nobody enters. */
static void close_job(struct helped *helped) {
	struct helpers *helpers = helped->helpers;
	pthread_mutex_lock(&helpers->lock);
	struct helped **at = &helpers->jobs;
	while (*at != helped) {
		at = &(*at)->next;
	}
	*at = helped->next;
	atomic_fetch_sub(&helpers->open, 1);
	pthread_mutex_unlock(&helpers->lock);
	helped->waits_since = gid_clock_now();
}

/* For a while, and for twice as long where that was so not long ago. */
static void be_alone(struct helped *helped, uint64_t now) {
	const bool is_again = now < helped->alone_until + ALONE_MOST_NS;
	helped->alone_ns = is_again ? 2 * helped->alone_ns : ALONE_LEAST_NS;
	helped->alone_ns = helped->alone_ns < ALONE_MOST_NS ? helped->alone_ns : ALONE_MOST_NS;
	helped->alone_until = now + helped->alone_ns;
	helped->waits++;
}

bool helped_end(struct helped *helped) {
	if (helped->waits_since == 0) {
		close_job(helped);
	}
	uint64_t now = gid_clock_now();
	const uint64_t begin = now;
	uint32_t inside;
	while ((inside = atomic_load(&helped->inside)) != 0 && now - begin < LONG_WAIT_NS) {
		if (now - helped->waits_since < PATIENCE_NS) {
			pause_briefly();
		} else {
			sleep_for(helped, (uint32_t)__builtin_ctz(inside),
					LONG_WAIT_NS - (now - begin));
		}
		now = gid_clock_now();
	}
	if (inside != 0) {
		return false;
	}
	if (now - helped->waits_since >= LONG_WAIT_NS) {
		be_alone(helped, now);
	}
	helped->waits_since = 0;
	return true;
}
