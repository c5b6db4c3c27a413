// SPDX-License-Identifier: MIT
/**
 * A seat of Weston whose keys, pointer, fingers and pens are somebody else's: those of an input
 * stream.
 * Where they go is up to its target: what is on an output (output_seat.h), or one window alone
 * (window_seat.h).
 */
#ifndef GID_WESTON_INPUT_SEAT_H
#define GID_WESTON_INPUT_SEAT_H

#include <input_format.h>
#include <libweston/libweston.h>

struct input_seat;

struct input_axis {
	int32_t source; /* of wl_pointer + 1; 0: not said */
	uint32_t axis;
	double value;  /* in pixels */
	int32_t steps; /* of a wheel, whole ones */
};

/* The seat has the device in each case. Places are parts of the picture's width and height. */
struct input_target {
	void (*key)(void *data, struct weston_seat *seat, struct timespec *time, uint32_t key,
			bool pressed);
	void (*button)(void *data, struct weston_seat *seat, struct timespec *time, uint32_t button,
			bool pressed);
	void (*motion)(void *data, struct weston_seat *seat, struct timespec *time,
			struct weston_coord place);
	/* In pixels; `raw`: not accelerated. */
	void (*relative)(void *data, struct weston_seat *seat, struct timespec *time,
			struct weston_coord motion, struct weston_coord raw);
	void (*axis)(void *data, struct weston_seat *seat, struct timespec *time,
			const struct input_axis *axis);
	void (*pointer_frame)(void *data, struct weston_seat *seat);
	/* `type`: WL_TOUCH_DOWN, WL_TOUCH_MOTION or WL_TOUCH_UP, where `place` means nothing. */
	void (*touch)(void *data, struct weston_touch_device *device, struct timespec *time, int id,
			struct weston_coord place, int type);
	void (*touch_frame)(void *data, struct weston_touch_device *device);
	/* A pen is near, or not; where it is, and how it is pressed: an event of INPUT_PEN_*, of
	 * which `place` is that of a motion. The seat has a pointer. NULL: none comes. */
	void (*pen)(void *data, struct weston_seat *seat, struct timespec *time,
			const struct input_record *event, struct weston_coord place);
	void (*pen_frame)(void *data, struct weston_seat *seat);
	/* There are pens: from now on, also if their user has none for a while. */
	void (*add_pens)(void *data, struct weston_seat *seat);
	/* The seat got devices, or lost some. NULL: that does not matter. */
	void (*devices)(void *data, struct weston_seat *seat);
};

/*
 * It has no devices yet. `output` is where its pointer stays; NULL: nowhere. The target, its data
 * and the output outlive it. NULL for want of memory.
 */
struct input_seat *input_seat_create(struct weston_compositor *compositor,
		struct weston_output *output, const char *name, const struct input_target *target,
		void *data);

/* Weston ends: no program asks for anything any more of seats that go from now on. */
void input_seats_end(void);

/* Nothing is held any more. Accepts NULL. */
void input_seat_destroy(struct input_seat *seat);

/* As Weston has it. */
struct weston_seat *input_seat_get_base(struct input_seat *seat);

/* Which devices it has: bits of enum input_devices. Of one that goes nothing is held. */
void input_seat_set_devices(struct input_seat *seat, uint32_t devices);

/* Of a device that it does not have, nothing happens. */
void input_seat_handle(struct input_seat *seat, const struct input_record *event);

#endif
