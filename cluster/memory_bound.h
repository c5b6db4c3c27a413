// SPDX-License-Identifier: MIT
/**
 * How much memory the display takes for what it shows: a matter of the configuration alone, and all
 * of it is there before the domain is sealed. Code, and what libraries keep for themselves in the
 * heap, are not counted.
 */
#ifndef CLUSTER_MEMORY_BOUND_H
#define CLUSTER_MEMORY_BOUND_H

#include <stdint.h>
#include <stdio.h>

#include "cluster_config.h"

/*
 * One line for people. `first`: bytes that the first thread has, its heap and stack. An output
 * whose size is not configured is taken to have the usual one.
 */
void memory_bound_print(const struct cluster_config *config, uint64_t first, FILE *file);

#endif
