// SPDX-License-Identifier: MIT
#include "worker.h"

#include <errno.h>
#include <gid/gid.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "realtime_share.h"
#include "slice.h"
#include "thread.h"

/* Shorter work is not followed by a pause: the wake-up would cost more. */
#define THROTTLE_LEAST_NS UINT64_C(500000)

enum worker_state {
	WORKER_FREE,
	WORKER_BUSY, /* the thread owns the examination */
	WORKER_DONE, /* the display's thread owns it, and has not collected it yet */
};

struct worker {
	pthread_t thread;
	sem_t wake, done;
	int fd; /* an eventfd that wakes the display's thread */
	_Atomic enum worker_state state;
	atomic_bool throttled, ends;
	struct examiner examiner;
	struct examination examination;
	struct picture_pool pool;
	struct wl_event_source *source; /* of `fd` */
	worker_examined_func examined;
	void *data;	/* its argument */
	uint64_t slice; /* the last slice that the thread asked for, ns; 0: none */
	/*
	 * CPU time in each refresh, granted by the display's thread and applied with the next
	 * frame.
	 */
	struct {
		atomic_bool is_new;
		struct work_grant grant;
		uint64_t refresh_ns;
	} granted;
	struct realtime_share share;
	_Atomic uint64_t realtime_ns; /* the budget in `share`; 0: the thread has none yet */
};

/* --- the thread ------------------------------------------------------------------------------- */

/*
 * Asks the scheduler for a slice as long as the last picture took: so expensive streams do not
 * delay cheap ones, and least of all the display.
 */
static void worker_request_slice(struct worker *worker, uint64_t spent) {
	uint64_t slice = spent < SLICE_SHORTEST_NS ? SLICE_SHORTEST_NS
			: spent > SLICE_LONGEST_NS ? SLICE_LONGEST_NS
						   : spent;
	if (!worker->share.enabled && (slice > 2 * worker->slice || slice < worker->slice / 2)) {
		worker->slice = slice;
		(void)slice_ask(slice); /* without it pictures come later, that is all */
	}
}

static struct timespec timespec_of(uint64_t ns) {
	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* Pauses. Meanwhile only the end is worth a wake-up, and the loop handles that. */
static void worker_throttle(struct worker *worker, uint64_t ns) {
	const struct timespec until = timespec_of(gid_clock_now() + ns);
	if (sem_clockwait(&worker->wake, CLOCK_MONOTONIC, &until) == 0) {
		sem_post(&worker->wake);
	}
	atomic_store(&worker->throttled, false);
	eventfd_write(worker->fd, 1);
}

/* Without the share, pictures come later when others use the processor. */
static void worker_take_share(struct worker *worker) {
	if (atomic_exchange(&worker->granted.is_new, false) &&
			realtime_share_init(&worker->share, worker->granted.grant.ns,
					worker->granted.refresh_ns,
					worker->granted.grant.priority) == 0) {
		atomic_store(&worker->realtime_ns, worker->granted.grant.ns);
	}
}

static uint64_t worker_examine(struct worker *worker) {
	uint64_t begin = gid_thread_used();
	realtime_share_begin(&worker->share);
	examiner_examine(&worker->examiner, &worker->examination);
	realtime_share_end(&worker->share);
	return gid_thread_used() - begin;
}

static void *run(void *data) {
	struct worker *worker = data;
	while (true) {
		while (sem_wait(&worker->wake) < 0) {
		}
		if (atomic_load(&worker->ends)) {
			realtime_share_finish(&worker->share);
			return NULL;
		}
		worker_take_share(worker);
		uint64_t spent = worker_examine(worker);
		worker->examination.spent_ns = spent;
		atomic_store(&worker->throttled, spent >= THROTTLE_LEAST_NS);
		atomic_store(&worker->state, WORKER_DONE);
		sem_post(&worker->done);
		eventfd_write(worker->fd, 1);
		worker_request_slice(worker, spent);
		if (spent >= THROTTLE_LEAST_NS) {
			worker_throttle(worker, spent);
		}
	}
}

/* --- the display's thread --------------------------------------------------------------------- */

bool worker_start(struct worker *worker, const struct examination *examination) {
	bool is_free = atomic_load(&worker->state) == WORKER_FREE &&
			!atomic_load(&worker->throttled);
	struct own_picture *picture = is_free ? picture_pool_acquire(&worker->pool) : NULL;
	if (picture == NULL) {
		return false;
	}
	worker->examination = *examination;
	worker->examination.picture = picture;
	atomic_store(&worker->state, WORKER_BUSY);
	sem_post(&worker->wake);
	return true;
}

void worker_grant(struct worker *worker, const struct work_grant *grant, uint64_t refresh_ns) {
	worker->granted.grant = *grant;
	worker->granted.refresh_ns = refresh_ns;
	atomic_store(&worker->granted.is_new, true);
}

uint64_t worker_realtime_ns(const struct worker *worker) {
	return atomic_load(&worker->realtime_ns);
}

void worker_tick(struct worker *worker) {
	if (worker_realtime_ns(worker) > 0) { /* so the share is there */
		realtime_share_renew(&worker->share);
	}
}

static void worker_hand_over(struct worker *worker) {
	if (atomic_load(&worker->state) != WORKER_DONE) {
		worker->examined(worker->data, NULL);
		return;
	}
	struct examination examination = worker->examination;
	(void)sem_trywait(&worker->done);
	atomic_store(&worker->state, WORKER_FREE);
	worker->examined(worker->data, &examination);
	own_picture_unref(examination.picture);
}

static int handle_done(int fd, uint32_t mask, void *data) {
	eventfd_t count;
	(void)eventfd_read(fd, &count);
	worker_hand_over(data);
	return 0;
}

bool worker_wait(struct worker *worker, uint64_t until) {
	const struct timespec time = timespec_of(until);
	bool is_late = false;
	if (atomic_load(&worker->state) == WORKER_FREE) {
		return true;
	}
	while (atomic_load(&worker->state) == WORKER_BUSY && !is_late) {
		is_late = sem_clockwait(&worker->done, CLOCK_MONOTONIC, &time) < 0 &&
				errno == ETIMEDOUT;
	}
	if (!is_late) {
		worker_hand_over(worker);
	}
	return !is_late;
}

static void worker_free(struct worker *worker) {
	if (worker->source != NULL) {
		wl_event_source_remove(worker->source);
	}
	if (worker->fd >= 0) {
		close(worker->fd);
	}
	sem_destroy(&worker->wake);
	sem_destroy(&worker->done);
	examiner_finish(&worker->examiner);
	picture_pool_finish(&worker->pool);
	free(worker);
}

struct worker *worker_create(const struct worker_options *options) {
	struct worker *worker = calloc(1, sizeof(*worker));
	if (worker == NULL) {
		return NULL;
	}
	worker->examiner.rules = options->rules;
	worker->examined = options->examined;
	worker->data = options->data;
	sem_init(&worker->wake, 0, 0);
	sem_init(&worker->done, 0, 0);
	worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->fd >= 0) {
		worker->source = wl_event_loop_add_fd(
				options->loop, worker->fd, WL_EVENT_READABLE, handle_done, worker);
	}
	if (worker->source == NULL ||
			picture_pool_init(&worker->pool, options->width, options->height) < 0 ||
			gid_thread_start(&worker->thread, GID_THREAD_STACK, run, worker) != 0) {
		worker_free(worker);
		return NULL;
	}
	return worker;
}

void worker_destroy(struct worker *worker) {
	if (worker == NULL) {
		return;
	}
	atomic_store(&worker->ends, true);
	sem_post(&worker->wake);
	/* A worker that is still reading uses its memory: it stays until the process ends. */
	bool reads = atomic_load(&worker->state) == WORKER_BUSY;
	if (!reads && gid_thread_join(worker->thread) == 0) {
		worker_free(worker);
	}
}
