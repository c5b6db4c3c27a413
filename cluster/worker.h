// SPDX-License-Identifier: MIT
/**
 * A thread of ordinary scheduling that examines the frames of one stream, one at a time, with a
 * budget: after each it rests for as long as the frame took of a processor. So a stream takes half
 * of one at most, and one whose frames are dear is shown less often. Its slice is as long as its
 * last frame took, so that those whose frames are cheap, and the display, go before.
 *
 * The display's thread never waits for it: it hands over a frame when the worker is free, and gets
 * the result when the descriptor is readable.
 */
#ifndef CLUSTER_WORKER_H
#define CLUSTER_WORKER_H

#include "examiner.h"

struct worker;

/* NULL for want of memory or threads. */
struct worker *worker_create(const struct examiner_rules *rules);

/* Waits for a frame that is being examined. Takes NULL. */
void worker_destroy(struct worker *worker);

/* Readable when there may be a result, or the worker may be free again: then worker_collect(). */
int worker_get_fd(const struct worker *worker);

/* Whether a frame can be handed over. */
bool worker_is_free(const struct worker *worker);

/* A free worker begins; the examination is copied. Its memory stays readable until the result. */
void worker_start(struct worker *worker, const struct examination *examination);

/* Returns whether there is a result: then it is here, once. */
bool worker_collect(struct worker *worker, struct examination *examination);

/* Until the result is there. For our own end: the display's thread waits for no worker else. */
void worker_wait(struct worker *worker);

#endif
