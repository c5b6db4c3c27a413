// SPDX-License-Identifier: MIT
/*
 * A worker that reads memory which never comes, as of a device that has it locked: neither the end
 * of the display nor that of the worker waits for it. The examiner is one of the test.
 */
#include "cluster/workers/worker.h"

#include <errno.h>
#include <semaphore.h>

#include "cluster/workers/realtime_share.h"
#include "cluster/workers/slice.h"
#include "tap.h"

#define MS UINT64_C(1000000)
#define PATIENCE_NS (100 * MS)
#define AT_ONCE_NS (5 * PATIENCE_NS) /* a machine may be busy */

static sem_t begins, goes_on;
static uint64_t takes_ns; /* of a processor */
static unsigned examined, ended, renewed;

void examiner_examine(struct examiner *examiner, struct examination *examination) {
	const uint64_t begin = gid_clock_now();
	sem_post(&begins);
	while (sem_wait(&goes_on) < 0) {
	}
	while (gid_clock_now() - begin < takes_ns) {
	}
}

void examiner_finish(struct examiner *examiner) {
	ended++;
}

int picture_pool_init(struct picture_pool *pool, uint32_t width, uint32_t height) {
	return 0;
}

void picture_pool_finish(struct picture_pool *pool) {
}

struct own_picture *picture_pool_acquire(struct picture_pool *pool) {
	static struct own_picture picture;
	return &picture;
}

void own_picture_unref(struct own_picture *picture) {
}

int slice_ask(uint64_t ns) {
	return 0;
}

int realtime_share_init(struct realtime_share *share, uint64_t budget_ns, uint64_t refresh_ns,
		int priority) {
	return priority > 0 ? 0 : -EPERM;
}

void realtime_share_begin(struct realtime_share *share) {
}

void realtime_share_end(struct realtime_share *share) {
}

void realtime_share_renew(struct realtime_share *share) {
	renewed++;
}

void realtime_share_finish(struct realtime_share *share) {
}

static void handle_examined(void *data, struct examination *examination) {
	examined += examination != NULL;
}

static struct worker *begin(struct wl_event_loop *loop) {
	const struct worker_options options = {.loop = loop, .examined = handle_examined};
	struct worker *worker = worker_create(&options);
	examined = ended = 0;
	if (worker != NULL && worker_start(worker, &(struct examination){0})) {
		while (sem_wait(&begins) < 0) {
		}
	}
	return worker;
}

static bool waits(struct worker *worker, uint64_t *took_ns) {
	const uint64_t begin = gid_clock_now();
	bool done = worker_wait(worker, begin + PATIENCE_NS);
	*took_ns = gid_clock_now() - begin;
	return done;
}

static void destroy(struct worker *worker, const char *what) {
	const uint64_t begin = gid_clock_now();
	worker_destroy(worker);
	tap_ok(gid_clock_now() - begin < AT_ONCE_NS, "%s ends at once", what);
}

/* A refresh renews only what was granted, and what the thread has taken. */
static void test_tick(struct wl_event_loop *loop, int priority, unsigned renewals) {
	const struct work_grant grant = {.ns = MS, .priority = priority};
	uint64_t took_ns;
	struct worker *worker = begin(loop);
	sem_post(&goes_on);
	waits(worker, &took_ns);
	worker_grant(worker, &grant, 10 * MS);
	renewed = 0;
	worker_tick(worker);
	bool is_before = renewed == 0 && worker_start(worker, &(struct examination){0});
	sem_post(&goes_on);
	waits(worker, &took_ns);
	worker_tick(worker);
	tap_ok(is_before && renewed == renewals &&
					worker_realtime_ns(worker) == renewals * grant.ns,
			"its time is renewed %u times", renewed);
	worker_destroy(worker);
	sem_wait(&begins);
}

int main(void) {
	struct wl_event_loop *loop = wl_event_loop_create();
	uint64_t took_ns;
	sem_init(&begins, 0, 0);
	sem_init(&goes_on, 0, 0);

	struct worker *worker = begin(loop);
	sem_post(&goes_on);
	tap_ok(waits(worker, &took_ns) && examined == 1, "what is read is waited for, and told");
	tap_ok(waits(worker, &took_ns) && examined == 1, "then there is nothing to wait for");
	destroy(worker, "one that is free");
	tap_ok(ended == 1, "and is freed");

	takes_ns = 700 * MS;
	worker = begin(loop);
	sem_post(&goes_on);
	tap_ok(worker_wait(worker, gid_clock_now() + 10 * takes_ns) && examined == 1,
			"a picture that is dear is waited for");
	destroy(worker, "one that rests for as long as it took");
	tap_ok(ended == 1, "and is freed");
	takes_ns = 0;

	test_tick(loop, 1, 1);
	test_tick(loop, 0, 0);

	/* Its thread reads on until the program ends. */
	worker = begin(loop);
	bool done = waits(worker, &took_ns);
	tap_ok(!done && examined == 0 && took_ns >= PATIENCE_NS && took_ns < AT_ONCE_NS,
			"for what never comes it is waited as long as was said: %llu ms",
			(unsigned long long)(took_ns / MS));
	destroy(worker, "one that reads such");
	tap_ok(ended == 0, "and has what it reads with");
	return tap_finish();
}
