// SPDX-License-Identifier: MIT
/**
 * Whether another machine keeps the rules in the memory that it alone writes, its rings and pages,
 * judged by bytes that nobody but that machine can have written: a word that never changes is
 * another one, a counter goes back, or past what it may not pass. Pure.
 *
 * `seen` is what was there when it was looked at last, of counters that only grow: zeroes at first.
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
