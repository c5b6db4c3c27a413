// SPDX-License-Identifier: MIT
/*
 * The frames that were received and not committed yet, oldest first, and what of the picture each
 * of them changes. What a frame that is never shown would have changed is pending for the one after
 * it.
 */
#ifndef GID_VIEW_WAITING_H
#define GID_VIEW_WAITING_H

#include <gid/stream.h>

struct damage {
	bool everything;
	struct gid_box box; // width 0: nothing
};

struct waiting_frame {
	struct gid_frame frame;
	struct damage damage; // since the frame that was received before
};

struct waiting {
	struct waiting_frame frames[GID_CREDIT_MAX]; // a ring
	uint32_t first, count;
	struct damage pending;	// for the next that is shown, besides its own
	uint64_t last_sequence; // of all that was received
};

/* Nothing waits, and nothing was shown. */
void waiting_init(struct waiting *waiting);

/* There must be less than GID_CREDIT_MAX. */
void waiting_add(struct waiting *waiting, const struct gid_frame *frame);

/* Whether the entry says only that the picture of the one before it is still right. */
bool waiting_repeats(struct waiting *waiting, const struct gid_frame *frame);

/* The one with this place in the queue, from 0, or NULL. Valid until the queue changes. */
const struct gid_frame *waiting_get(const struct waiting *waiting, uint32_t place);

/* What changes of the picture on the screen when the first is shown. */
struct damage waiting_damage(const struct waiting *waiting);

/* Takes the first out, as there must be one. `shown`: in a commit, with its damage. */
void waiting_remove(struct waiting *waiting, bool shown);

/* The next frame that is shown replaces all of what there is, or is not, on the screen. */
void waiting_damage_everything(struct waiting *waiting);

/* Nothing waits: the frames are not there any more. The next replaces everything. */
void waiting_forget(struct waiting *waiting);

#endif
