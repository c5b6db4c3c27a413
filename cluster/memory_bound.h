// SPDX-License-Identifier: MIT
/**
 * The bound on the display's memory. It follows from the configuration alone, and all of it is
 * allocated before the domain is sealed. Code, and what libraries keep for themselves in the heap,
 * are not counted.
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
