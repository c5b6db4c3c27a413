// SPDX-License-Identifier: MIT
/**
 * The file of saved_state.h: read once at the start, and written by a thread of its own while the
 * display goes on. It appears whole or not at all, however the process ends.
 */
#ifndef CLUSTER_STATE_WRITER_H
#define CLUSTER_STATE_WRITER_H

#include "saved_state.h"

struct state_writer;

/*
 * Reads the file into the named roles, as far as there is one that can be used, and starts the
 * thread. Both `path` and the roles' names are copied. Returns NULL for want of memory or threads.
 */
struct state_writer *state_writer_create(const char *path, struct saved_role *roles, size_t count);

/*
 * Has the roles written soon: those of the last call, if it comes again before. The same ones, in
 * the same order, as state_writer_create()'s. Does not wait for the file.
 */
void state_writer_write(struct state_writer *writer, const struct saved_role *roles, size_t count);

/* Waits until everything is written, but only for a moment. Accepts NULL. */
void state_writer_destroy(struct state_writer *writer);

#endif
