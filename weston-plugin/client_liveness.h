// SPDX-License-Identifier: MIT
/**
 * Detects a client that hangs while its surface does not change: it does not read its events. A
 * client that reads them may still not do its work.
 */
#ifndef GID_WESTON_CLIENT_LIVENESS_H
#define GID_WESTON_CLIENT_LIVENESS_H

#include <libweston/libweston.h>
#include <stdbool.h>
#include <stdint.h>

struct client_liveness {
	uint64_t read_time; /* CLOCK_MONOTONIC ns: when it had read all events, or sent a request */
	uint64_t ping_time; /* when it was last sent a ping */
	bool hangs;	    /* as last found */
};

/*
 * Whether the client has sent requests that Weston did not read yet: its content may be out of
 * date. The event loop runs timers before it reads requests, however long these have waited.
 */
bool client_has_unread_requests(const struct weston_surface *surface);

/* The client sent a request. */
void client_liveness_note(struct client_liveness *liveness, uint64_t now);

/*
 * Checks whether the surface's client has read its events, and sends it a ping. To be called
 * several times within `patience`, in ns. Returns whether the client responds.
 */
bool client_liveness_check(struct client_liveness *liveness, struct weston_surface *surface,
		uint64_t patience, uint64_t now);

#endif
