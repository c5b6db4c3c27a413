// SPDX-License-Identifier: MIT
/**
 * The compose window: how long before a refresh composing begins. What comes later waits for the
 * next refresh.
 */
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
 * `frame_ns`: the worst-case time of one frame of all outputs together, as one thread composes
 * them; 0: unknown.
 *
 * The window is that time plus an eighth of a refresh, as a thread may be woken late; but at least
 * half a refresh, so that latency does not depend on how slow a machine is. If the time is unknown
 * the window is a whole refresh. Pure.
 */
uint64_t compose_window_of(enum pacing pacing, uint64_t frame_ns, uint64_t refresh_ns);

#endif
