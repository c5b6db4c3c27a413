// SPDX-License-Identifier: MIT
/*
 * The tablet tools (pens) of a seat while they are near the picture: one at a time, the first to
 * come near.
 */
#ifndef GID_VIEW_PENS_H
#define GID_VIEW_PENS_H

#include <input_format.h>
#include <stdbool.h>
#include <wayland-client.h>

struct pens_user {
	void (*time)(void *data, uint32_t ms); // timestamp of the next events
	/*
	 * Converts a position in the window to a motion event. Returns whether it is on the
	 * picture.
	 */
	bool (*at)(void *data, wl_fixed_t x, wl_fixed_t y, struct input_record *event);
	// At that time. Returns false for a pen that may not come near: another seat's is.
	bool (*event)(void *data, const struct input_record *event);
	void (*group)(void *data); // the group of events is complete
	void (*pressed)(void *data, uint32_t serial);
	bool (*hides_cursor)(void *data);
	void (*tablets)(void *data); // a tablet was added or removed
};

struct pens {
	const struct pens_user *user;
	void *data;
	const struct wl_surface *surface;      // of the window; only compared
	struct zwp_tablet_manager_v2 *manager; // NULL: for this compositor pens are pointers
	struct zwp_tablet_seat_v2 *base;       // NULL: no seat
	struct wl_list pens, tablets, pieces;  // struct pen.link, tablet.link, piece.link
	struct pen *near;		       // the pen that was reported near; NULL: none
};

/* `surface` is the window's, and only compared. */
void pens_init(struct pens *pens, const struct pens_user *user, void *data,
		const struct wl_surface *surface);

/* Binds the global, if it is the tablet manager. */
void pens_bind(struct pens *pens, struct wl_registry *registry, uint32_t name,
		const char *interface);

/* The seat whose pens are used; NULL: there is none yet. pens_leave_seat(): it is gone. */
void pens_use_seat(struct pens *pens, struct wl_seat *seat);
void pens_leave_seat(struct pens *pens);

/* Whether the seat has a tablet. */
bool pens_are_there(const struct pens *pens);

/* The caller has released all that the pen pressed, and its proximity. */
void pens_forget(struct pens *pens);

/* To be called after pens_leave_seat(). */
void pens_finish(struct pens *pens);

#endif
