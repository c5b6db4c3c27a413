// SPDX-License-Identifier: MIT
/**
 * Whether a machine at one end of a ring was restored to an earlier state since the ring was made.
 * Such a machine goes on with what it knew then: it writes where others read something else by now,
 * and believes that it holds what it gave back long ago. Nothing in a ring shows that. But the hub
 * learns of it while the machine stands still, and changes the cookie in the first page of its
 * windows, which is all that is looked at here. A life is the time between two such restores.
 */
#ifndef GID_LIFE_H
#define GID_LIFE_H

#include <stdbool.h>

#include "wire.h"

#define GID_LIFE_WINDOWS 2u /* the producer's and the consumer's */

/* Zeroed: of a ring of one machine, whose life ends with all of its readers. */
struct gid_life {
	uint32_t count; /* of the windows that are looked at */
	const struct gid_wire_window *windows[GID_LIFE_WINDOWS];
	uint64_t cookies[GID_LIFE_WINDOWS]; /* as they were */
};

/* From now on also that of the window's owner, of which `fd` is. 0 or -errno. */
int gid_life_watch(struct gid_life *life, int fd);
void gid_life_finish(struct gid_life *life);

/*
 * Whether one of them is over. If not, all that was read before, and in order, was written in it.
 */
static inline bool gid_life_is_over(const struct gid_life *life) {
	bool over = false;
	for (uint32_t i = 0; i < life->count; i++) {
		over |= __atomic_load_n(&life->windows[i]->cookie, __ATOMIC_ACQUIRE) !=
				life->cookies[i];
	}
	return over;
}

#endif
