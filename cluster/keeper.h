// SPDX-License-Identifier: MIT
/**
 * The file of kept.h: read once at the start, and written by a thread of its own while the display
 * goes on. It appears whole or not at all, however the process ends.
 */
#ifndef CLUSTER_KEEPER_H
#define CLUSTER_KEEPER_H

#include "kept.h"

struct keeper;

/*
 * Reads the file into the named roles, as far as there is one that can be used, and starts the
 * thread. Both `path` and the roles' names are copied. Returns NULL for want of memory or threads.
 */
struct keeper *keeper_create(const char *path, struct kept_role *roles, size_t count);

/*
 * Has the roles written soon: those of the last call, if it comes again before. The same ones, in
 * the same order, as keeper_create()'s. Does not wait for the file.
 */
void keeper_keep(struct keeper *keeper, const struct kept_role *roles, size_t count);

/* What was to be kept is written, or a moment has passed. NULL is allowed. */
void keeper_destroy(struct keeper *keeper);

#endif
