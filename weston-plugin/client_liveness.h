// SPDX-License-Identifier: MIT
/**
 * Whether a client still lives, while its surface stands still: a program that hangs does not read
 * the events that it is sent. That it reads them does not say that it does its work.
 */
#ifndef GID_WESTON_CLIENT_LIVENESS_H
#define GID_WESTON_CLIENT_LIVENESS_H

#include <libweston/libweston.h>
#include <stdbool.h>
#include <stdint.h>

struct client_liveness {
	uint64_t read_time; /* CLOCK_MONOTONIC ns: when it had read all there was, or did something
			     */
	uint64_t ping_time; /* when it was last sent something to read */
	bool hangs;	    /* as last found */
};

/*
 * Whether requests wait that Weston has not read: what the surface shows may be another picture by
 * now. Weston's timers come before what its clients sent, however long that has been waiting.
 */
bool client_has_unread_requests(const struct weston_surface *surface);

/* The client did something. */
void client_liveness_note(struct client_liveness *liveness, uint64_t now);

/*
 * Looks at what the client of the surface has not read, and sends it something to read: to be
 * called often within `patience`, in ns. Returns whether the client lives.
 */
bool client_liveness_check(struct client_liveness *liveness, struct weston_surface *surface,
		uint64_t patience, uint64_t now);

#endif
