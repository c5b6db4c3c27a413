// SPDX-License-Identifier: MIT
/*
 * The frames that were received but not committed yet, oldest first, with their damage. The damage
 * of a frame that is never shown is added to that of the next one.
 */
#ifndef GID_VIEW_WAITING_H
#define GID_VIEW_WAITING_H

#include <gid/stream.h>

struct damage {
	bool everything;
	struct gid_box box; // width 0: no damage
};

struct waiting_frame {
	struct gid_frame frame;
	struct damage damage; // since the previous received frame
};

struct waiting {
	struct waiting_frame frames[GID_CREDIT_MAX]; // a ring
	uint32_t first, count;
	struct damage pending;	// of frames that were not shown, for the next one that is
	uint64_t last_sequence; // of the last received entry
};

/* No frame waits, and none was shown. */
void waiting_init(struct waiting *waiting);

/* Fewer than GID_CREDIT_MAX must wait. */
void waiting_add(struct waiting *waiting, const struct gid_frame *frame);

/* Whether the entry is a heartbeat that repeats the one before it. */
bool waiting_repeats(struct waiting *waiting, const struct gid_frame *frame);

/* Returns the frame at this place of the queue, from 0, or NULL. Valid until the queue changes. */
const struct gid_frame *waiting_get(const struct waiting *waiting, uint32_t place);

/* Returns the damage of the screen's picture when the first frame is shown. */
struct damage waiting_damage(const struct waiting *waiting);

/* Removes the first frame, which must exist. `shown`: it was committed, with its damage. */
void waiting_remove(struct waiting *waiting, bool shown);

/* The next frame that is shown has full damage. */
void waiting_damage_everything(struct waiting *waiting);

/* Drops all frames, whose memory is gone. The next one has full damage. */
void waiting_forget(struct waiting *waiting);

#endif
