// SPDX-License-Identifier: MIT
/** The outputs that are streams, by the sections [gid-output] of weston.ini. */
#ifndef GID_WESTON_OUTPUT_STREAMS_H
#define GID_WESTON_OUTPUT_STREAMS_H

#include <libweston/libweston.h>

#include "gidd_connection.h"
#include "hidden_client.h"

struct output_streams;

/*
 * Reads the sections. Returns 0; or -errno, after logging the mistake. `created` is NULL if there
 * are no sections. `connection` and `hidden` must outlive it.
 */
int output_streams_create(struct weston_compositor *compositor,
		const struct gidd_connection *connection, struct hidden_client *hidden,
		struct output_streams **created);

/* Each accepts NULL. */
void output_streams_destroy(struct output_streams *streams);

/* The hidden client is ready: creates the outputs, and captures them from now on. */
void output_streams_start(struct output_streams *streams);

/* gidd came or went; or the domain is about to be destroyed. */
void output_streams_connection_changed(struct output_streams *streams);
void output_streams_connection_lost(struct output_streams *streams);

/* Whether this is one of the module's own clients, which capture. */
bool output_streams_have_client(
		const struct output_streams *streams, const struct wl_client *client);

#endif
