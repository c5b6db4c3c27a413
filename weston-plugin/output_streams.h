// SPDX-License-Identifier: MIT
/** The outputs that are streams, as the sections [gid-output] of weston.ini say. */
#ifndef GID_WESTON_OUTPUT_STREAMS_H
#define GID_WESTON_OUTPUT_STREAMS_H

#include <libweston/libweston.h>

#include "gidd_connection.h"
#include "hidden_client.h"

struct output_streams;

/*
 * Reads the sections. Returns 0 or -errno, after saying in the log what is wrong; `created` is NULL
 * where there are none. `connection` and `hidden` outlive it.
 */
int output_streams_create(struct weston_compositor *compositor,
		const struct gidd_connection *connection, struct hidden_client *hidden,
		struct output_streams **created);

/* Each accepts NULL. */
void output_streams_destroy(struct output_streams *streams);

/* The hidden client is ready: the outputs are made, and captured from now on. */
void output_streams_start(struct output_streams *streams);

/* The domain is there; or is about to be destroyed. */
void output_streams_connection_changed(struct output_streams *streams);
void output_streams_connection_lost(struct output_streams *streams);

/* Whether this is a client of the module's own, which captures. */
bool output_streams_have_client(
		const struct output_streams *streams, const struct wl_client *client);

#endif
