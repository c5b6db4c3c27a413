// SPDX-License-Identifier: MIT
/**
 * A thread that examines the frames of one stream, one at a time, with a budget: after each it
 * rests for as long as the frame took of a processor. So a stream takes half of one at most, and
 * one whose frames are dear is shown less often. Its scheduling is the ordinary one, but for what
 * worker_grant() gives. Its slice is as long as its last frame took, so that those whose frames are
 * cheap, and the display, go before.
 *
 * The display's thread never waits for it: it hands over a frame when the worker is free, and gets
 * the result from its event loop.
 */
#ifndef CLUSTER_WORKER_H
#define CLUSTER_WORKER_H

#include <wayland-server-core.h>

#include "examiner.h"
#include "work_bound.h"

struct worker;

/*
 * A frame was examined, on the display's thread; whoever keeps its picture takes a reference. NULL:
 * there is none, but the worker may be free again.
 */
typedef void (*worker_examined_func)(void *data, struct examination *examination);

struct worker_options {
	struct examiner_rules rules;
	uint32_t width, height; /* of its pictures */
	struct wl_event_loop *loop;
	worker_examined_func examined;
	void *data; /* of that */
};

/* NULL for want of memory or threads. */
struct worker *worker_create(const struct worker_options *options);

/* While it reads a frame, which may be for good, it is left alone, with all that it has. Takes
 * NULL.
 */
void worker_destroy(struct worker *worker);

/*
 * Begins, if it is free and has a picture that nobody uses: returns whether. The examination is
 * copied, and gets that picture. Its memory stays readable until the result.
 */
bool worker_start(struct worker *worker, const struct examination *examination);

/*
 * For so long in each refresh it goes before all ordinary programs from its next frame on. Called
 * once, for a stream that is not to be late because others use its processor.
 */
void worker_grant(struct worker *worker, const struct work_grant *grant, uint64_t refresh_ns);

/* The budget with which it does so; 0: it has none, as where that is not allowed. */
uint64_t worker_realtime_ns(const struct worker *worker);

/* In each refresh: its budget comes back, also to a frame that is being examined. */
void worker_tick(struct worker *worker);

/*
 * Until the result of what was begun is there, and was told, or until this time: memory of others
 * may keep who reads it waiting for good. Returns whether nothing is read any more. For our own
 * end: the display's thread waits for no worker else.
 */
bool worker_wait(struct worker *worker, uint64_t until);

#endif
