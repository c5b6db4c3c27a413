// SPDX-License-Identifier: MIT
/*
 * Shares the clipboard of the compositor's seat with the producer: clipboard/STREAM of that domain,
 * clipboard/input/STREAM of ours. A text crosses, in either direction, only while the window is in
 * use: it has the keyboard focus, and the user has pressed something in it since.
 */
#ifndef GID_VIEW_VIEW_CLIPBOARD_H
#define GID_VIEW_VIEW_CLIPBOARD_H

#include <gid/domain.h>
#include <systemd/sd-event.h>

#include "common/clipboard_loop.h"
#include "common/wayland.h"

struct view_clipboard {
	struct clipboard_loop loop; // first; its clipboard is NULL: not shared
	struct wl_registry *registry;
	struct wl_data_device_manager *manager; // NULL: the compositor has none
	struct wl_seat *seat;			// NULL: the same
	struct wl_data_device *device;		// NULL: manager or seat is missing
	struct wl_data_offer *offer;   // the selection; NULL: none, or not visible to the window
	struct wl_data_source *source; // the text that arrived; NULL: not the selection any more
	bool in_use;
	uint32_t serial; // of the last press
};

/*
 * The window shows `stream` of `owner`; both must outlive it. Returns 0, or -1 after an error
 * message. The streams need not exist yet.
 */
int view_clipboard_init(struct view_clipboard *clipboard, sd_event *event, struct wayland *wayland,
		struct gid_domain *domain, const char *owner, const char *stream);

/* To be called before the seat, the connection and the domain end. Accepts zeroes. */
void view_clipboard_finish(struct view_clipboard *clipboard);

/* If the clipboard is not shared, the following functions do nothing. */

/* The compositor's seat; NULL: it is gone. */
void view_clipboard_set_seat(struct view_clipboard *clipboard, struct wl_seat *seat);

/* The user has pressed something in the window, which has the keyboard focus. */
void view_clipboard_pressed(struct view_clipboard *clipboard, uint32_t serial);

/* The window has lost the keyboard focus. */
void view_clipboard_left(struct view_clipboard *clipboard);

#endif
