// SPDX-License-Identifier: MIT
/**
 * Which surfaces show our wl_buffers now. Clients choose the number of surfaces and buffers, and
 * all buffers of one client may lose their memory at one moment. So all views are walked once in a
 * turn of the event loop, for all buffers.
 */
#ifndef GID_WESTON_SHOWN_H
#define GID_WESTON_SHOWN_H

#include <libweston/libweston.h>

/* State of one wl_buffer; all zero at first. */
struct shown_mark {
	uint64_t seen, changed; /* the last turn in which it was; 0: none */
};

/* State of all buffers. */
struct shown_buffers {
	struct weston_compositor *compositor;
	/* Returns the mark of a wl_buffer; NULL: it is not ours. */
	struct shown_mark *(*find_mark)(struct wl_resource *buffer);
	struct wl_event_source *turn_end; /* ends the turn; NULL: there was no call in this turn */
	uint64_t turn;
	bool has_looked, has_changed; /* in this turn */
};

void shown_init(struct shown_buffers *shown, struct weston_compositor *compositor,
		struct shown_mark *(*find_mark)(struct wl_resource *buffer));
/* Accepts zeroes that were never initialised. */
void shown_finish(struct shown_buffers *shown);

/* Whether a surface shows the buffer, as of the first call in this turn. */
bool shown_anywhere(struct shown_buffers *shown, const struct shown_mark *mark);

/* The content of the wl_buffer changed without a commit: it is redrawn after this turn. */
void shown_damage(struct shown_buffers *shown, struct shown_mark *mark);

#endif
