// SPDX-License-Identifier: MIT
/*
 * The cursor of the picture's producer, from the stream cursor/STREAM, if there is one: what the
 * pointer over our window looks like, and whether to lock it there.
 */
#ifndef GID_VIEW_CURSOR_H
#define GID_VIEW_CURSOR_H

#include <cursor_note.h>
#include <gid/stream.h>
#include <systemd/sd-event.h>

#include "common/surface_scale.h"
#include "common/wayland.h"

struct cursor {
	const struct wayland *wayland;
	const struct surface_scale *scale; // of the window: the cursor uses the same
	struct gid_domain *domain;
	struct gid_consumer *consumer; // NULL: not permitted, or there is none
	sd_event_source *source;       // of its descriptor
	sd_event_source *turn;	       // for entries that one call did not take
	struct wl_surface *surface;    // has the picture; set as the pointer's cursor
	struct wp_viewport *viewport;  // of `surface`
	bool live;		       // its stream is live and has sent an entry
	bool seen;		       // there is a picture; else the cursor is invisible
	bool locked;		       // lock the pointer to the window
	int32_t x, y;		       // the hotspot, in surface coordinates
	uint64_t sequence;	       // of the last entry
	struct gid_frame asked;	       // the frame whose slab is being imported
	struct cursor_note asked_note; // of `asked`
	bool is_asked;
	void (*changed)(void *data); // one of the members above has changed
	void *data;
};

/*
 * Waits for the cursor of the stream `shown` of the domain `owner`, which may be NULL, as in
 * gid_consumer_create(). Set `changed` and `data` afterwards. Returns 0, or -1 after an error
 * message.
 */
int cursor_init(struct cursor *cursor, sd_event *event, const struct wayland *wayland,
		const struct surface_scale *scale, struct gid_domain *domain, const char *owner,
		const char *shown);

/*
 * To be called after gid_domain_dispatch(): the doorbell of a stream that became live is not armed
 * yet.
 */
void cursor_receive(struct cursor *cursor);

/* To be called before the connection and the domain end. Accepts zeroes. */
void cursor_finish(struct cursor *cursor);

#endif
