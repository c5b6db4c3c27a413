// SPDX-License-Identifier: MIT
/**
 * Whether the thread of a canvas comes before those of others. One that the configuration marks has
 * a real-time priority, but only for half of each 10 ms: whoever makes it work without end does not
 * keep others, marked or not, from their share of the processor.
 */
#ifndef ENGINE_PRECEDENCE_H
#define ENGINE_PRECEDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct precedence {
	bool marked;
	bool has;	/* the priority, now */
	uint64_t began; /* CLOCK_MONOTONIC ns: these 10 ms */
	uint64_t used;	/* ns of a processor that the thread had used when it last looked with it */
	uint64_t spent; /* ns of a processor with the priority, in these 10 ms or beyond those
			   before */
	uint64_t yielded; /* CLOCK_MONOTONIC ns: when it let others go on */
};

/*
 * For the calling thread, which need not have the scheduling class of who started it. Returns 0, or
 * -errno if a marked one gets no priority: it then is as others.
 */
int precedence_init(struct precedence *precedence, bool marked);

/* Others did so many ns of its work. */
void precedence_add(struct precedence *precedence, uint64_t ns);

/*
 * Between two parts of its work, each of which takes about a millisecond: lets others of the same
 * priority go on, and gives the priority back, or takes it, as is due. By the same thread.
 */
void precedence_look(struct precedence *precedence);

#endif
