// SPDX-License-Identifier: MIT
/**
 * Checks the memory that another machine alone writes, its rings and pages, for values that no
 * honest machine writes: a constant that changed, a counter that went back or beyond its limit.
 * Pure.
 *
 * `seen` holds the counters of the last check, which only grow; zeroes at first.
 */
#ifndef GIDD_AUDIT_H
#define GIDD_AUDIT_H

#include <stdint.h>

#include "wire_ring.h"

/* What is wrong with a producer's ring, as in "the ring … is none", or NULL. */
const char *audit_ring(const struct gid_wire_ring *ring, uint64_t seen[static 2]);

/* What is wrong with a consumer's page, or NULL. It begins with zeroes. */
const char *audit_page(const struct gid_wire_page *page, uint64_t seen[static 2]);

#endif
