// SPDX-License-Identifier: MIT
/**
 * The refreshes of a virtual screen, at fixed times as those of a real one, whenever a frame is
 * ready. A frame that is given during a refresh is shown by the next one, and until then there is
 * no other: who is late, but not by a whole refresh, is in time for it. When a frame begins is the
 * business of pace.h.
 *
 * Pure: times are CLOCK_MONOTONIC in ns, and come from the caller.
 */
#ifndef CLUSTER_REFRESHES_H
#define CLUSTER_REFRESHES_H

#include <stdint.h>

struct refreshes {
	uint64_t start; /* one of them */
	uint32_t mhz;	/* 0: the screen has refreshes of its own, or there is none */
	uint64_t due;	/* the one that shows the frame that was given; 0: none was */
};

/* `mhz`: how many there are in 1000 s, up to a million. */
void refreshes_init(struct refreshes *refreshes, uint64_t now, uint32_t mhz);

/* The first one after `now`. */
uint64_t refreshes_next(const struct refreshes *refreshes, uint64_t now);

/* The screen has a frame since `now`. Returns which refresh shows it. */
uint64_t refreshes_give(struct refreshes *refreshes, uint64_t now);

/* Which refresh has shown the frame that was given; 0: none yet. There may be another one then. */
uint64_t refreshes_take(struct refreshes *refreshes, uint64_t now);

#endif
