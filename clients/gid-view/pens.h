// SPDX-License-Identifier: MIT
/*
 * Pens of the graphics tablets of a seat, while they are near the picture: one at a time, which is
 * that which was there first.
 */
#ifndef GID_VIEW_PENS_H
#define GID_VIEW_PENS_H

#include <input_format.h>
#include <stdbool.h>
#include <wayland-client.h>

struct pens_user {
	void (*time)(void *data, uint32_t ms); // of what comes, as the compositor tells it
	/* Makes it a motion to this place of the window. Returns whether that is on the picture. */
	bool (*at)(void *data, wl_fixed_t x, wl_fixed_t y, struct input_record *event);
	void (*event)(void *data, const struct input_record *event); // then
	void (*group)(void *data); // what came before is to be sent
	void (*pressed)(void *data, uint32_t serial);
	bool (*hides_cursor)(void *data);
	void (*tablets)(void *data); // came or went
};

struct pens {
	const struct pens_user *user;
	void *data;
	const struct wl_surface *surface;      // of the window
	struct zwp_tablet_manager_v2 *manager; // NULL: the compositor gives pens as pointers
	struct zwp_tablet_seat_v2 *base;       // NULL: there is no seat
	struct wl_list pens, tablets, pieces;  // struct pen.link, tablet.link, piece.link
	struct pen *near;		       // which was sent; NULL: none is near the picture
};

/* `surface` is the window's, only to be compared. */
void pens_init(struct pens *pens, const struct pens_user *user, void *data,
		const struct wl_surface *surface);

/* A global of the compositor, which may be the one that is needed. */
void pens_bind(struct pens *pens, struct wl_registry *registry, uint32_t name,
		const char *interface);

/* The seat whose pens they are; NULL: there is none yet. And none any more. */
void pens_use_seat(struct pens *pens, struct wl_seat *seat);
void pens_leave_seat(struct pens *pens);

/* Whether there is a tablet. */
bool pens_are_there(const struct pens *pens);

/* That a pen is near, and what it presses, was released. */
void pens_forget(struct pens *pens);

/* After pens_leave_seat(). */
void pens_finish(struct pens *pens);

#endif
