// SPDX-License-Identifier: MIT
/* Jobs that helpers take part in: each piece is done once, and nobody waits for long. */
#include "helpers.h"

#include <errno.h>
#include <gid/gid.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#define PIECES 64
#define MS 1000000ull

struct work {
	atomic_int done[PIECES];
	atomic_int helpers;	/* pieces that they did */
	uint64_t piece_ns;	/* of a helper's piece */
	atomic_bool piece_runs; /* a helper is in one */
	int cpu;		/* that the helper goes to, or -1 */
	atomic_bool has_left;	/* a helper has: there is nothing for it to do */
};

static void rest(uint64_t ns) {
	nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}

/* So many ns of a processor. */
static void work_for(uint64_t ns) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	const uint64_t end = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + ns;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec < end);
}

static void pin(int cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void help(struct helper_job *job, struct helper_memory *memory) {
	struct work *work = job->data;
	int64_t piece;
	if (work->cpu >= 0) {
		pin(work->cpu);
	}
	while ((piece = helper_job_take_as_helper(job)) >= 0) {
		atomic_store(&work->piece_runs, true);
		atomic_fetch_add(&work->done[piece], 1);
		atomic_fetch_add(&work->helpers, 1);
		work_for(work->piece_ns);
	}
	atomic_store(&work->has_left, true);
}

static void end(struct helper_job *job) {
	while (!helper_job_end(job)) {
	}
}

static struct work *work_of(uint64_t piece_ns) {
	static struct work work;
	memset(&work, 0, sizeof(work));
	work.piece_ns = piece_ns;
	work.cpu = -1;
	return &work;
}

/* Begins a job, and waits until a helper is in one of its pieces. */
static bool begin_with_helper(struct helper_job *job, struct work *work) {
	if (!helper_job_begin(job, help, work, PIECES)) {
		return false;
	}
	while (!atomic_load(&work->piece_runs)) {
		rest(MS / 10);
	}
	return true;
}

static void test_pieces(struct helper_job *job) {
	bool once = true;
	int by_helpers = 0, jobs = 0;
	for (; jobs < 200 || (by_helpers == 0 && jobs < 20000); jobs++) {
		struct work *work = work_of(jobs % 3 == 0 ? 0 : 20000);
		int64_t piece;
		if (!helper_job_begin(job, help, work, PIECES)) {
			rest(10 * MS); /* alone, on a machine with much else to do */
			continue;
		}
		while ((piece = helper_job_take(job)) >= 0) {
			atomic_fetch_add(&work->done[piece], 1);
			work_for(20000);
		}
		end(job);
		for (int i = 0; i < PIECES; i++) {
			once &= work->done[i] == 1;
		}
		by_helpers += work->helpers;
	}
	tap_ok(once && by_helpers > 0, "each piece is done once: %d by helpers, of %d jobs",
			by_helpers, jobs);
	tap_ok(job->used_ns > 0, "what helpers did is counted");
}

static void test_stop(struct helper_job *job) {
	job->alone_until = 0;
	struct work *work = work_of(20 * MS);
	begin_with_helper(job, work);
	helper_job_stop(job);
	const bool none = helper_job_take(job) < 0;
	end(job);
	int done = 0;
	for (int i = 0; i < PIECES; i++) {
		done += work->done[i];
	}
	const int helpers = work->helpers;
	rest(5 * MS);
	tap_ok(none && done < PIECES && helpers == work->helpers,
			"a job that is stopped ends: %d pieces were done", done);
}

/* A canvas that is awake has a processor. */
static void test_processors(struct helpers *helpers, struct helper_job *job) {
	struct helper_job others[CPU_SETSIZE];
	cpu_set_t set;
	sched_getaffinity(0, sizeof(set), &set);
	const int count = CPU_COUNT(&set) - 1;
	job->alone_until = 0;
	struct work *work = work_of(20 * MS);
	begin_with_helper(job, work);
	for (int i = 0; i < count; i++) {
		helper_job_init(&others[i], helpers);
		helper_job_wake(&others[i]);
	}
	while (!atomic_load(&work->has_left)) {
		rest(MS);
	}
	const int done = work->helpers;
	tap_ok(done < PIECES && helper_job_take(job) >= 0,
			"helpers go when others want the processors: after %d pieces", done);
	end(job);
	job->alone_until = 0;
	tap_ok(!helper_job_begin(job, help, work, PIECES), "and do not come");
	for (int i = 0; i < count; i++) {
		helper_job_sleep(&others[i]);
		helper_job_finish(&others[i]);
	}
	if (tap_ok(begin_with_helper(job, work_of(0)), "until these sleep")) {
		end(job);
	}
}

static void test_long_wait(struct helper_job *job) {
	struct work *work = work_of(300 * MS);
	job->alone_until = 0;
	const uint64_t waits = job->waits;
	begin_with_helper(job, work);
	helper_job_stop(job);
	const uint64_t begin = gid_clock_now();
	const bool first = helper_job_end(job);
	const uint64_t took = gid_clock_now() - begin;
	tap_ok(!first && took >= MS, "who waits for a helper can look at other things meanwhile");
	end(job);
	tap_ok(job->waits == waits + 1 && !helper_job_begin(job, help, work, PIECES),
			"and then works alone");
	job->alone_until = gid_clock_now();
	if (tap_ok(helper_job_begin(job, help, work_of(0), PIECES), "for some time")) {
		helper_job_stop(job);
		end(job);
	}
}

/* --- a helper that does not get a processor ----------------------------------------------------
 */

static atomic_bool hog_ends;

static void *hog(void *data) {
	pin(*(int *)data);
	while (!atomic_load(&hog_ends)) {
	}
	return NULL;
}

static bool set_class(int policy, int priority) {
	const struct sched_param param = {.sched_priority = priority};
	return sched_setscheduler(0, policy, &param) == 0;
}

/* Another thread has the helper's processor for itself, but not before who waits for the helper. */
static void test_lending(struct helper_job *job) {
	cpu_set_t set, all;
	int cpus[2] = {-1, -1};
	pthread_t thread;
	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0, found = 0; i < CPU_SETSIZE && found < 2; i++) {
		if (CPU_ISSET(i, &all)) {
			cpus[found++] = i;
		}
	}
	if (!set_class(SCHED_FIFO, 3)) {
		tap_ok(true, "a priority is lent # SKIP there is no right to one");
		return;
	}
	pin(cpus[0]);
	job->alone_until = 0;
	struct work *work = work_of(2 * MS);
	work->cpu = cpus[1];
	begin_with_helper(job, work);
	set_class(SCHED_FIFO, 2); /* which the other thread has from its beginning */
	atomic_store(&hog_ends, false);
	pthread_create(&thread, NULL, hog, &cpus[1]);
	set_class(SCHED_FIFO, 3);
	rest(30 * MS); /* the other thread has the processor now */
	const int before = work->helpers;
	rest(30 * MS);
	const bool starves = work->helpers == before;
	helper_job_stop(job);
	const uint64_t begin = gid_clock_now();
	end(job);
	const uint64_t took = gid_clock_now() - begin;
	atomic_store(&hog_ends, true);
	pthread_join(thread, NULL);
	set_class(SCHED_OTHER, 0);
	sched_setaffinity(0, sizeof(all), &all);
	CPU_ZERO(&set);
	tap_ok(starves && took < 25 * MS,
			"who waits lends its priority: %llu us for a piece of 2 ms",
			(unsigned long long)took / 1000);
}

int main(void) {
	struct helpers *helpers;
	struct helper_job job;
	cpu_set_t set;
	sched_getaffinity(0, sizeof(set), &set);
	tap_ok(helpers_create(&helpers, 0) == 0 && helpers == NULL, "there need not be helpers");
	helper_job_init(&job, NULL);
	helper_job_wake(&job);
	tap_ok(!helper_job_begin(&job, help, NULL, PIECES), "then nobody helps");
	helper_job_sleep(&job);
	helper_job_finish(&job);
	if (CPU_COUNT(&set) < 2) {
		tap_ok(true, "all else # SKIP there is one processor");
		return tap_finish();
	}
	tap_ok(helpers_create(&helpers, 3) == 0, "there are some");
	helper_job_init(&job, helpers);
	helper_job_wake(&job);
	test_pieces(&job);
	test_stop(&job);
	test_processors(helpers, &job);
	test_long_wait(&job);
	helper_job_sleep(&job);
	helper_job_finish(&job);
	helpers_destroy(helpers);

	helpers_create(&helpers, 1); /* its one thread is moved to another processor */
	helper_job_init(&job, helpers);
	helper_job_wake(&job);
	test_lending(&job);
	helper_job_sleep(&job);
	helper_job_finish(&job);
	helpers_destroy(helpers);
	return tap_finish();
}
