// SPDX-License-Identifier: MIT
/**
 * What a worker takes of a processor for one picture, by what the configuration takes of a stream:
 * of all formats and turns that it has, the dearest. The display's thread pays none of that.
 */
#ifndef CLUSTER_READ_COST_H
#define CLUSTER_READ_COST_H

#include "cluster_config.h"

/* Measures, and writes the table for people. Returns 0 or -ENOMEM. */
int read_cost_print(const struct cluster_config *config, FILE *file);

#endif
