// SPDX-License-Identifier: MIT
/*
 * The clipboard of the compositor's seat, shared with the viewer of the stream: clipboard/STREAM of
 * our domain, and clipboard/input/STREAM of the viewer's. By ext-data-control-v1 or
 * wlr-data-control-unstable-v1.
 */
#ifndef GID_CAPTURE_CAPTURE_CLIPBOARD_H
#define GID_CAPTURE_CAPTURE_CLIPBOARD_H

#include <gid/domain.h>
#include <systemd/sd-event.h>
#include <wayland-client.h>

#include "common/clipboard_loop.h"

struct capture_clipboard {
	struct clipboard_loop loop; // first; its clipboard is NULL where it is not wanted
	struct wl_display *display;
	struct wl_registry *registry;
	struct ext_data_control_manager_v1 *manager; // NULL: the compositor has none
	struct wl_seat *seat;			     // the first; NULL: there is none now
	uint32_t seat_global;
	struct ext_data_control_device_v1 *device; // NULL: one of both is missing
	struct ext_data_control_offer_v1 *offer;   // what was copied; NULL: nothing
	struct ext_data_control_source_v1 *source; // what came; NULL: something else was copied
	bool knows_first;			   // what was copied before us has been told
};

/*
 * `viewer` is the viewer's domain; it and `stream` outlive this. Returns 0, or -1 after saying on
 * stderr what is wrong.
 */
int capture_clipboard_init(struct capture_clipboard *clipboard, sd_event *event,
		struct wl_display *display, struct gid_domain *domain, const char *stream,
		const char *viewer);

/* To be called before the connection and the domain end. Accepts zeroes. */
void capture_clipboard_finish(struct capture_clipboard *clipboard);

#endif
