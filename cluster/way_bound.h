// SPDX-License-Identifier: MIT
/**
 * How long a picture of a role is on its way at the most, from its stream's ring to the light: the
 * sum of the steps, each of which waits at its worst for the one before. The choice of another
 * domain is in it only as far as the configuration allows it.
 *
 * It holds for a picture of memory that is known, which its device has drawn, while the display's
 * thread and the role's worker each have a processor. What the producer takes before, and what a
 * device does behind its memory, is not in it; nor is a ring that is longer than those of libgid,
 * by which a producer makes its own pictures late.
 */
#ifndef CLUSTER_WAY_BOUND_H
#define CLUSTER_WAY_BOUND_H

#include <stdio.h>

#include "cluster_config.h"
#include "examiner.h"

/* In ns. */
struct way_bound {
	uint64_t taken;	   /* from the ring by the display's thread */
	uint64_t examined; /* copied and checked by the worker */
	uint64_t shown;	   /* composed, checked, and brought to the light */
	uint64_t total;	   /* of the three */
};

/*
 * `frame_ns`: what the frames of all outputs take, as frame_bound.h has it. `output`: of the role.
 * `examine_ns`: what its dearest picture was measured to take. Pure.
 */
struct way_bound way_bound_of(
		uint64_t frame_ns, const struct output_config *output, uint64_t examine_ns);

/* A table for people, a line for each role. `costs`: of each role. */
void way_bound_print(const struct cluster_config *config, uint64_t frame_ns,
		const struct examiner_cost *costs, FILE *file);

#endif
