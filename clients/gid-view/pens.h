// SPDX-License-Identifier: MIT
/*
 * Pens of the graphics tablets of a seat, while they are near the picture: one at a time, which is
 * that which was there first.
 */
#ifndef GID_VIEW_PENS_H
#define GID_VIEW_PENS_H

#include <stdbool.h>
#include <wayland-client.h>

struct seat;

struct pens {
	struct seat *seat;
	struct zwp_tablet_manager_v2 *manager; // NULL: the compositor gives pens as pointers
	struct zwp_tablet_seat_v2 *base;       // NULL: there is no seat
	struct wl_list pens, tablets, pieces;  // struct pen.link, tablet.link, piece.link
	struct pen *near;		       // which was sent; NULL: none is near the picture
};

void pens_init(struct pens *pens, struct seat *seat);

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
