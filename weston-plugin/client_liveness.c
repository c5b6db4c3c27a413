// SPDX-License-Identifier: MIT
#include "client_liveness.h"

#include <libweston/desktop.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

void client_liveness_note(struct client_liveness *liveness, uint64_t now) {
	liveness->read_time = now;
	liveness->hangs = false;
}

/* Whether the queue of the client's socket has bytes. False if the kernel does not tell. */
static bool has_bytes(const struct weston_surface *surface, unsigned long queue) {
	struct wl_client *client = wl_resource_get_client(surface->resource);
	int bytes = 0;
	return ioctl(wl_client_get_fd(client), queue, &bytes) == 0 && bytes > 0;
}

bool client_has_unread_requests(const struct weston_surface *surface) {
	return has_bytes(surface, SIOCINQ);
}

/* Other clients get frame callbacks, which is enough to read. */
static void send_ping(struct weston_surface *surface) {
	if (weston_surface_is_desktop_surface(surface)) {
		weston_desktop_client_ping(weston_desktop_surface_get_client(
				weston_surface_get_desktop_surface(surface)));
	}
}

bool client_liveness_check(struct client_liveness *liveness, struct weston_surface *surface,
		uint64_t patience, uint64_t now) {
	if (!has_bytes(surface, SIOCOUTQ)) {
		client_liveness_note(liveness, now);
		if (now - liveness->ping_time > patience / 4) {
			liveness->ping_time = now;
			send_ping(surface);
		}
	}
	liveness->hangs = now - liveness->read_time > patience;
	return !liveness->hangs;
}
