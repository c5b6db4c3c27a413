// SPDX-License-Identifier: MIT
/**
 * How long the workers take: what the configuration allows of each stream, times what this machine
 * takes for a pixel of that; and for how long they go before ordinary programs, those of roles and
 * of layers that our own domain draws. Nothing of that is the choice of another domain.
 */
#ifndef CLUSTER_WORK_BOUND_H
#define CLUSTER_WORK_BOUND_H

#include <stdio.h>

#include "cluster_config.h"
#include "examiner.h"

/* What the configuration takes of a role's frames. It outlives the rules. */
struct examiner_rules work_rules_of_role(const struct role_config *role);
struct examiner_rules work_rules_of_layer(const struct layer_config *layer);

/* Whether the layer's worker may go before ordinary programs, as those of all roles. */
bool work_bound_has_layer(const struct layer_config *layer);

/* What a worker has before ordinary programs. */
struct work_grant {
	uint64_t ns;  /* of a processor, in each refresh; 0: nothing */
	int priority; /* real-time */
};

/*
 * With a margin as a frame's bound, what pictures of the cheapest format take: those that take
 * least first, as long as all together have half of a refresh, for the display has the other half.
 * These have the higher priorities as well, all of them less than `below`. So one that is dear, or
 * may be sent what is, keeps none of them waiting. `costs`: all 0 for who gets nothing. Returns 0
 * or -ENOMEM. Pure.
 */
int work_bound_grant(const struct examiner_cost *costs, size_t count, uint64_t refresh_ns,
		int below, struct work_grant *grants);

/*
 * Measures, and writes a table for people. `priority`: the display's own, 0: it is as others.
 * Returns 0 or -ENOMEM. `costs`: set for each role, and for each layer behind them.
 */
int work_bound_print(const struct cluster_config *config, int priority, struct examiner_cost *costs,
		FILE *file);

#endif
