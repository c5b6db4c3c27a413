// SPDX-License-Identifier: MIT
/*
 * The cursor of who makes the picture, by the stream cursor/STREAM, where there is one: what the
 * pointer over our window looks like, and whether it is to be locked there.
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
	const struct surface_scale *scale; // of the window, of whose pixels it has as many
	struct gid_domain *domain;
	struct gid_consumer *consumer; // NULL: we may not read it, or it cannot be
	sd_event_source *source;       // of its descriptor
	sd_event_source *turn;	       // when more is taken than was in one go
	struct wl_surface *surface;    // with the picture, to be given to the pointer
	struct wp_viewport *viewport;  // of it
	bool live;		       // its stream is there, and has said something
	bool seen;		       // there is a picture; else there is no cursor to be seen
	bool locked;		       // the pointer is to be locked to the window
	int32_t x, y;		       // where it points, in the surface
	uint64_t sequence;	       // of the entry that came last
	struct gid_frame asked;	       // one whose slab gidd is asked for
	struct cursor_note asked_note; // of that
	bool is_asked;
	void (*changed)(void *data); // any of these
	void *data;
};

/*
 * Begins to wait for the cursor of the stream `shown` of the domain `owner`, which may be NULL, as
 * in gid_consumer_create(). `changed` and `data` are set after it. Returns 0, or -1 after saying on
 * stderr what is wrong.
 */
int cursor_init(struct cursor *cursor, sd_event *event, const struct wayland *wayland,
		const struct surface_scale *scale, struct gid_domain *domain, const char *owner,
		const char *shown);

/* To be called after gid_domain_dispatch(): a stream that has come to life has no doorbell yet. */
void cursor_receive(struct cursor *cursor);

/* Before the connection and the domain end; also of zeroes. */
void cursor_finish(struct cursor *cursor);

#endif
