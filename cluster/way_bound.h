// SPDX-License-Identifier: MIT
/**
 * The worst-case latency of a role's picture, from its stream's ring to the light: the sum of the
 * steps, each of which waits at worst for the one before. Another domain's choices count only as
 * far as the configuration allows them.
 *
 * It holds for a picture in known memory, whose drawing is done, while the display's thread and the
 * role's worker each have a processor. Not included: the producer's own time, what a device does
 * behind its memory, and a ring that is longer than those of libgid, by which a producer delays its
 * own pictures.
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
