// SPDX-License-Identifier: MIT
/**
 * The compositor's connection to the gidd of its domain, in the compositor's event loop. Never
 * waits for gidd once the compositor runs: attempts to connect are made on a thread of their own,
 * and libgid's connection finds a gidd that came back by itself.
 */
#ifndef GID_COMPOSITOR_GIDD_CONNECTION_H
#define GID_COMPOSITOR_GIDD_CONNECTION_H

#include <gid/domain.h>
#include <wayland-server-core.h>

struct gidd_connection;

struct gidd_connection_events {
	/* Writes to the compositor's log. */
	int (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	/* gidd came or went; gidd_connection_get_domain() and gidd_connection_is_up() say what
	 * holds now. */
	void (*changed)(void *data);
	/* The domain is about to be destroyed: give all slabs back. */
	void (*lost)(void *data);
	/*
	 * Whether other threads still read slabs of the lost domain. It is destroyed, and another
	 * connection is tried, when they do not any more. NULL: no thread does.
	 */
	bool (*reads)(void *data);
};

/*
 * Connects to the domain `name` (NULL: as gid_domain_connect() finds it), at once or as soon as
 * there is a gidd. NULL for want of memory. `name`, `events` and `data` must outlive the
 * connection.
 */
struct gidd_connection *gidd_connection_create(struct wl_event_loop *loop, const char *name,
		const struct gidd_connection_events *events, void *data);
/* To be called when no other thread reads slabs any more. */
void gidd_connection_destroy(struct gidd_connection *connection);

/* NULL until there was a gidd for the first time. */
struct gid_domain *gidd_connection_get_domain(const struct gidd_connection *connection);

/* Whether gidd is there now. */
bool gidd_connection_is_up(const struct gidd_connection *connection);

#endif
