// SPDX-License-Identifier: MIT
/** How long before a refresh composing for it begins. What comes later is shown by the next one. */
#ifndef CLUSTER_COMPOSE_WINDOW_H
#define CLUSTER_COMPOSE_WINDOW_H

#include <stdint.h>

/* How an output is composed. */
enum pacing {
	PACING_BOUND, /* so long before each refresh that a frame is done, however long it takes */
	PACING_OFF,   /* right after the refresh before */
	PACING_ON,    /* as late as past frames allow: pace.h */
};

/*
 * `frame_ns`: what a frame of each output takes at the worst, together, for one thread composes
 * them; 0: nobody knows.
 *
 * The window is that and an eighth of a refresh, for a thread is woken late, but never less than
 * half a refresh: how soon a picture is shown is not to depend on how slow a machine is. Where
 * nobody knows what a frame takes it is all of a refresh. Pure.
 */
uint64_t compose_window_of(enum pacing pacing, uint64_t frame_ns, uint64_t refresh_ns);

#endif
