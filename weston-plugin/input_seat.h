// SPDX-License-Identifier: MIT
/**
 * A weston_seat whose keyboard, pointer, touch and pens are those of an input stream. Its target
 * decides where the events go: to what is on an output (output_seat.h), or to one window alone
 * (window_seat.h).
 */
#ifndef GID_WESTON_INPUT_SEAT_H
#define GID_WESTON_INPUT_SEAT_H

#include <input_format.h>
#include <libweston/libweston.h>

struct input_seat;

struct input_axis {
	int32_t source; /* of wl_pointer, + 1; 0: unknown */
	uint32_t axis;
	double value;  /* in pixels */
	int32_t steps; /* whole steps of a wheel */
};

/*
 * Handles the events. The seat has the device of each event. Places are parts of the picture's
 * width and height.
 */
struct input_target {
	void (*key)(void *data, struct weston_seat *seat, struct timespec *time, uint32_t key,
			bool pressed);
	void (*button)(void *data, struct weston_seat *seat, struct timespec *time, uint32_t button,
			bool pressed);
	void (*motion)(void *data, struct weston_seat *seat, struct timespec *time,
			struct weston_coord place);
	/* In pixels; `raw`: without acceleration. */
	void (*relative)(void *data, struct weston_seat *seat, struct timespec *time,
			struct weston_coord motion, struct weston_coord raw);
	void (*axis)(void *data, struct weston_seat *seat, struct timespec *time,
			const struct input_axis *axis);
	void (*pointer_frame)(void *data, struct weston_seat *seat);
	/*
	 * `type`: WL_TOUCH_DOWN, WL_TOUCH_MOTION, or WL_TOUCH_UP, for which `place` has no meaning.
	 */
	void (*touch)(void *data, struct weston_touch_device *device, struct timespec *time, int id,
			struct weston_coord place, int type);
	void (*touch_frame)(void *data, struct weston_touch_device *device);
	/*
	 * A pen comes near or leaves, moves, or is pressed: an event of INPUT_PEN_*. `place` is
	 * only for a motion. The seat has a pointer. NULL: there are no pens.
	 */
	void (*pen)(void *data, struct weston_seat *seat, struct timespec *time,
			const struct input_record *event, struct weston_coord place);
	void (*pen_frame)(void *data, struct weston_seat *seat);
	/* The user has pens. They stay, even if the user has none for a while. */
	void (*add_pens)(void *data, struct weston_seat *seat);
	/* The seat has other devices now. NULL: not needed. */
	void (*devices)(void *data, struct weston_seat *seat);
};

/*
 * Creates a seat without devices. `output` is where its pointer stays; NULL: anywhere. The target,
 * its data and the output must outlive the seat. Returns NULL without memory.
 */
struct input_seat *input_seat_create(struct weston_compositor *compositor,
		struct weston_output *output, const char *name, const struct input_target *target,
		void *data);

/*
 * To be called when Weston shuts down: clients send no more requests for seats that are destroyed
 * from now on.
 */
void input_seats_end(void);

/* Also releases all that is pressed. Accepts NULL. */
void input_seat_destroy(struct input_seat *seat);

/* Weston's own object. */
struct weston_seat *input_seat_get_base(struct input_seat *seat);

/*
 * Sets which devices it has: bits of enum input_devices. If a device goes, all that is pressed on
 * it is released.
 */
void input_seat_set_devices(struct input_seat *seat, uint32_t devices);

/* Ignores events of devices that the seat does not have. */
void input_seat_handle(struct input_seat *seat, const struct input_record *event);

#endif
