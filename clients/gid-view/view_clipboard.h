// SPDX-License-Identifier: MIT
/*
 * The clipboard that the compositor's seat has in common with who makes the picture:
 * clipboard/STREAM of that domain, clipboard/input/STREAM of ours. A text crosses, either way, only
 * while the window is in use: it has the keyboard, and its user pressed something in it since.
 */
#ifndef GID_VIEW_VIEW_CLIPBOARD_H
#define GID_VIEW_VIEW_CLIPBOARD_H

#include <gid/domain.h>
#include <systemd/sd-event.h>

#include "common/clipboard_loop.h"
#include "common/wayland.h"

struct view_clipboard {
	struct clipboard_loop loop; // first; its clipboard is NULL where it is not wanted
	struct wl_registry *registry;
	struct wl_data_device_manager *manager; // NULL: the compositor has none
	struct wl_seat *seat;			// NULL: the same
	struct wl_data_device *device;		// NULL: one of both is missing
	struct wl_data_offer *offer;   // what others copied; NULL: the window may not know it
	struct wl_data_source *source; // what came; NULL: it is not the seat's any more
	bool in_use;
	uint32_t serial; // of what was pressed last
};

/*
 * `stream` of `owner` is what the window shows; both outlive it. Returns 0, or -1 after saying on
 * stderr what is wrong. The streams themselves may come later.
 */
int view_clipboard_init(struct view_clipboard *clipboard, sd_event *event, struct wayland *wayland,
		struct gid_domain *domain, const char *owner, const char *stream);

/* Before the seat, the connection and the domain end; also of zeroes. */
void view_clipboard_finish(struct view_clipboard *clipboard);

/* All of the following do nothing where it is not wanted. */

/* The compositor's seat; NULL: it is gone. */
void view_clipboard_set_seat(struct view_clipboard *clipboard, struct wl_seat *seat);

/* The user pressed something in the window, which has the keyboard. */
void view_clipboard_pressed(struct view_clipboard *clipboard, uint32_t serial);

/* The window lost the keyboard. */
void view_clipboard_left(struct view_clipboard *clipboard);

#endif
