// SPDX-License-Identifier: MIT
/** Warning lights as a stream: a frame for each change, and signs of life between them. */
#ifndef TELLTALE_H
#define TELLTALE_H

#include <gid/stream.h>

#include "sheet.h"

#define TELLTALE_SLOTS 4

struct telltale {
	struct gid_domain *domain;
	struct gid_slab *slab;
	struct gid_producer *producer;
	struct gid_layout layout;
	const struct sheet *sheet; /* of the states' pictures; NULL: the lights are drawn */
	unsigned state;
	bool waits; /* the state cannot be seen yet: readers hold all slots */
	int slot;   /* that has the present picture; -1: none yet */
	uint64_t hash;
	/* Not the present one any more: given back when nobody holds it. */
	bool retired[TELLTALE_SLOTS];
	uint64_t changes, heartbeats;
	uint64_t skipped; /* changes that had to wait for a slot */
};

/*
 * Returns 0, or -1 after saying on stderr what is wrong. `domain` NULL: $GID_DOMAIN. `stream` NULL:
 * there is none, for the pictures are shown otherwise.
 */
int telltale_init(struct telltale *telltale, const char *domain, const char *stream, uint32_t width,
		uint32_t height);
void telltale_finish(struct telltale *telltale);

/*
 * Sets the state of the lights, and draws them into a free slot, which is taken then. Returns the
 * slot, or -EAGAIN: there is none, the state waits.
 */
int telltale_draw(struct telltale *telltale, unsigned state);

/* Draws the lights of this state and sends them. Returns 0 or -errno; -EAGAIN: the state waits. */
int telltale_change(struct telltale *telltale, unsigned state);

/* Sends the present picture again, as a sign of life; or the state that waits. As above. */
int telltale_beat(struct telltale *telltale);

/* What was sent and copied, as a line of JSON on stdout. */
void telltale_report(const struct telltale *telltale);

#endif
