// SPDX-License-Identifier: MIT
/**
 * Which surfaces show our wl_buffers now. Of surfaces and buffers there may be as many as strangers
 * like, and all of one's buffers may lose their memory at one moment: all views are walked once in
 * a turn of the event loop, for all buffers.
 */
#ifndef GID_WESTON_SHOWN_H
#define GID_WESTON_SHOWN_H

#include <libweston/libweston.h>

/* What is known of a wl_buffer; all zero at first. */
struct shown_mark {
	uint64_t seen, changed; /* in which of the turns it was; 0: in none */
};

/* Of all buffers. */
struct shown_buffers {
	struct weston_compositor *compositor;
	/* The mark of a wl_buffer; NULL: it is none of ours. */
	struct shown_mark *(*find_mark)(struct wl_resource *buffer);
	struct wl_event_source *turn_end; /* NULL: nothing was asked yet in this turn */
	uint64_t turn;
	bool has_looked, has_changed; /* in this turn */
};

void shown_init(struct shown_buffers *shown, struct weston_compositor *compositor,
		struct shown_mark *(*find_mark)(struct wl_resource *buffer));
/* Also where it was never initialised, and is all zero. */
void shown_finish(struct shown_buffers *shown);

/* Whether a surface showed the buffer when that was first asked, of any buffer, in this turn. */
bool shown_anywhere(struct shown_buffers *shown, const struct shown_mark *mark);

/* The content of the wl_buffer changed without a commit: it is drawn again, from the end of this
 * turn on. */
void shown_damage(struct shown_buffers *shown, struct shown_mark *mark);

#endif
