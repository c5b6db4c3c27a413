// SPDX-License-Identifier: MIT
/**
 * The worst-case time of a frame: computed from the configured outputs, layers and roles, and from
 * what this machine takes for a pixel. And the worst-case time until a role's fallback is shown.
 * Nothing of this depends on another domain.
 */
#ifndef CLUSTER_FRAME_BOUND_H
#define CLUSTER_FRAME_BOUND_H

#include "cluster_config.h"

/*
 * What the start cannot measure is what others do meanwhile to the memory, or on the other half of
 * a core. On a machine with six builds, one frame in 1500 took 1.75 times what was measured.
 */
#define FRAME_BOUND_MARGIN 2

/* Of this machine, in ns for a pixel of which its caches have nothing. */
struct pixel_costs {
	double copy; /* of a picture to the output */
	double veil; /* likewise, under the veil */
	double hash; /* of a role's region, to check it */
};

/* One output's frame, in ns. */
struct frame_bound {
	uint64_t compose, check;
	uint64_t total; /* of both, with a margin for what others do to memory and cores */
};

/*
 * Measures, of pictures of this width that have that many rows at the most. Takes some 0.3 s.
 * Returns 0 or -ENOMEM.
 */
int pixel_costs_measure(struct pixel_costs *costs, uint32_t width, uint32_t most);

/* Of the configuration's output, which has this size. Pure. */
struct frame_bound frame_bound_of(const struct cluster_config *config, size_t output,
		uint32_t width, uint32_t height, const struct pixel_costs *costs);

/*
 * The same of this machine. What `bound` knows already, if it is not all 0, is replaced only by
 * less. Returns 0 or -ENOMEM.
 */
int frame_bound_measure(const struct cluster_config *config, size_t output, uint32_t width,
		uint32_t height, struct frame_bound *bound);

/*
 * All outputs are composed by one thread, so `ns`, their sum, is compared with the shortest
 * refresh. Whether the configuration allows that.
 */
bool frame_bound_is_allowed(const struct cluster_config *config, uint64_t ns, uint64_t refresh_ns);

/*
 * While `ns` is not allowed, `again` is to measure it, for 3 s: a machine whose hypervisor runs
 * others meanwhile seems to be slower than it is. Returns what came last.
 */
uint64_t frame_bound_remeasure(const struct cluster_config *config, uint64_t ns,
		uint64_t refresh_ns, uint64_t (*again)(void *data), void *data);

/*
 * From the moment at which a role has failed, as when its deadline passes, until its output shows
 * the fallback, at the most; `ns` as above. A frame may just have begun without it, a window before
 * its refresh, and the next one, which has it, is shown by the refresh after that. Pure.
 */
uint64_t fallback_bound_of(enum pacing pacing, uint64_t ns, uint64_t refresh_ns);

/* Of this output, in ns, as configured. Pure. */
uint64_t frame_bound_refresh_of(const struct output_config *output);

/* Of the configuration's output that is refreshed most often. Pure. */
uint64_t frame_bound_refresh(const struct cluster_config *config);

/*
 * Measures, and writes the tables for people, with sizes and refreshes as configured. Sets what the
 * frames of all outputs take together, in ns. Returns 0; -E2BIG: it is more than is allowed;
 * -ENOMEM.
 */
int frame_bound_print(const struct cluster_config *config, uint64_t *ns, FILE *file);

#endif
