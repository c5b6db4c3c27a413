// SPDX-License-Identifier: MIT
/**
 * Decides which stream gets an event: the one that is visible under the finger or pointer, if the
 * configuration lets it take input and its picture is live. A stream that is covered there, or
 * marked as stale, gets none: nobody can see what he would touch.
 *
 * Pure: times are ns of CLOCK_MONOTONIC, places are pixels of an output. Used by one thread. An
 * event costs one look at each target at most.
 */
#ifndef CLUSTER_INPUT_ROUTER_H
#define CLUSTER_INPUT_ROUTER_H

#include <gid/stream.h>
#include <input_format.h>
#include <stddef.h>

#define INPUT_TARGETS_MAX 64u
#define INPUT_NOWHERE SIZE_MAX /* no target */

/* A stream that is shown. */
struct input_target {
	uint32_t takes;		/* enum input_devices, as the configuration has it */
	const void *screen;	/* that it is on */
	struct gid_box box;	/* that it covers there */
	bool covers;		/* it, or its fallback, is visible */
	bool is_live;		/* what is visible is its live picture */
	struct gid_box picture; /* where on the screen all of that would be */
};

struct input_router_hooks {
	/* How the target is now; they are numbered from above to below. */
	void (*describe)(void *data, size_t index, struct input_target *target);
	/* The event is the target's. */
	void (*post)(void *data, size_t index, const struct input_record *event);
	/* All that the target holds is released. */
	void (*release)(void *data, size_t index);
};

struct input_router {
	const struct input_router_hooks *hooks;
	void *data;
	size_t count; /* of targets */
	struct {
		bool down;
		int32_t id; /* the device's */
		const void *screen;
		size_t target; /* INPUT_NOWHERE: it is on nobody, or has left whom it was on */
	} fingers[INPUT_TOUCHES];
	const void *pointer_screen; /* that it was on last, and where; NULL: on none yet */
	double pointer_x, pointer_y;
	size_t pointed;		/* the target that the pointer is on */
	uint32_t buttons;	/* of it that are held: bit i is BTN_MOUSE + i */
	size_t focus;		/* the target that gets keys */
	struct input_held keys; /* of it that are held */
	uint64_t grouped;	/* bit i: target i has got something of the group in work */
	uint64_t holding;	/* bit i: target i may hold something */
};

void input_router_init(struct input_router *router, size_t count,
		const struct input_router_hooks *hooks, void *data);

/* `id` is any number that the device has for the finger. */
void input_router_touch_down(struct input_router *router, int32_t id, const void *screen, double x,
		double y, uint64_t time);
void input_router_touch_motion(
		struct input_router *router, int32_t id, double x, double y, uint64_t time);
void input_router_touch_up(struct input_router *router, int32_t id, uint64_t time);

/* The pointer is there now. */
void input_router_point(
		struct input_router *router, const void *screen, double x, double y, uint64_t time);
void input_router_button(struct input_router *router, uint32_t code, bool pressed, uint64_t time);
/* An event of INPUT_AXIS. */
void input_router_axis(struct input_router *router, const struct input_record *event);

/* Goes to the target with a keyboard that was touched or clicked last. */
void input_router_key(struct input_router *router, uint32_t code, bool pressed, uint64_t time);

/* What came before belongs together. */
void input_router_end_group(struct input_router *router, uint64_t time);

/* To be called from time to time: targets that are not live any more release what they hold. */
void input_router_tick(struct input_router *router);

/* A device is gone, and what it held with it. */
void input_router_release_all(struct input_router *router);

#endif
