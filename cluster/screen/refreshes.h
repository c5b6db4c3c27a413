// SPDX-License-Identifier: MIT
/**
 * The refreshes of a virtual screen, at fixed times as on a real one. A frame that is given during
 * a refresh is shown by the next one, and until then no other frame is taken: a frame that is late
 * by less than a refresh is in time for that one. pace.h decides when a frame begins.
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
