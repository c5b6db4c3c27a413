// SPDX-License-Identifier: MIT
/**
 * Sends the input of the display's panels as streams of our domain, one for each picture that takes
 * input. A thread of ordinary scheduling does this, by its own connection: the display's thread
 * only puts events into a ring of fixed size. If that is full, the event is dropped, and everything
 * that its stream holds is released.
 */
#ifndef CLUSTER_INPUT_OUTLET_H
#define CLUSTER_INPUT_OUTLET_H

#include "input_router.h"

struct input_outlet;

/* Of one stream, which is named by what is shown: input_stream_name(). */
struct input_outlet_stream {
	const char *shown;
	uint32_t devices; /* enum input_devices; 0: there is no such stream */
};

/*
 * `domain` names our own, NULL: $GID_DOMAIN. `streams` are copied, their names are not. NULL for
 * want of memory or threads.
 */
struct input_outlet *input_outlet_create(
		const char *domain, const struct input_outlet_stream *streams, size_t count);

/* Releases everything that is pressed. Accepts NULL. */
void input_outlet_destroy(struct input_outlet *outlet);

/* An event of the stream with this number. Never waits. */
void input_outlet_post(
		struct input_outlet *outlet, size_t stream, const struct input_record *event);

/* Releases all that the stream holds. */
void input_outlet_release(struct input_outlet *outlet, size_t stream);

/* A sign of life of the display: without one for 2 s all streams release what they hold. */
void input_outlet_alive(struct input_outlet *outlet);

/* What happened to a stream so far, and how many readers it has; from any thread. */
struct input_outlet_stats {
	uint64_t events, left_out;
	uint32_t readers;
};
struct input_outlet_stats input_outlet_get_stats(const struct input_outlet *outlet, size_t stream);

#endif
