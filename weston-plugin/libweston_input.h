// SPDX-License-Identifier: MIT
/**
 * Functions that libweston exports for its backends to create seats and send them events, but
 * declares in headers that it does not install. Weston 16 takes whole events, which its own
 * functions fill; that was only read.
 */
#ifndef GID_WESTON_LIBWESTON_INPUT_H
#define GID_WESTON_LIBWESTON_INPUT_H

#include <libweston/libweston.h>
#include <libweston/version.h>

void weston_seat_init(
		struct weston_seat *seat, struct weston_compositor *compositor, const char *name);
void weston_seat_release(struct weston_seat *seat);
int weston_seat_init_pointer(struct weston_seat *seat);
int weston_seat_init_keyboard(struct weston_seat *seat, struct xkb_keymap *keymap);
int weston_seat_init_touch(struct weston_seat *seat);
void weston_seat_release_pointer(struct weston_seat *seat);
void weston_seat_release_keyboard(struct weston_seat *seat);
void weston_seat_release_touch(struct weston_seat *seat);
void weston_touch_device_destroy(struct weston_touch_device *device);
void notify_axis_source(struct weston_seat *seat, uint32_t source);
void notify_pointer_frame(struct weston_seat *seat);
void notify_touch_frame(struct weston_touch_device *device);

/*
 * The caller fills in the fields of the new struct, and inserts it into the list of the seat or the
 * tablet.
 */
struct weston_tablet *weston_seat_add_tablet(struct weston_seat *seat);
struct weston_tablet_tool *weston_seat_add_tablet_tool(struct weston_seat *seat);
void notify_tablet_added(struct weston_tablet *tablet);
void notify_tablet_tool_added(struct weston_tablet_tool *tool);
/* Also releases its tools. */
void weston_seat_release_tablet(struct weston_tablet *tablet);

void notify_tablet_tool_proximity_in(struct weston_tablet_tool *tool, const struct timespec *time,
		struct weston_tablet *tablet);
void notify_tablet_tool_proximity_out(struct weston_tablet_tool *tool, const struct timespec *time);
void notify_tablet_tool_motion(struct weston_tablet_tool *tool, const struct timespec *time,
		struct weston_coord_global place);
void notify_tablet_tool_pressure(
		struct weston_tablet_tool *tool, const struct timespec *time, uint32_t pressure);
void notify_tablet_tool_tilt(struct weston_tablet_tool *tool, const struct timespec *time,
		wl_fixed_t x, wl_fixed_t y);
void notify_tablet_tool_down(struct weston_tablet_tool *tool, const struct timespec *time);
void notify_tablet_tool_up(struct weston_tablet_tool *tool, const struct timespec *time);
void notify_tablet_tool_frame(struct weston_tablet_tool *tool, const struct timespec *time);

#if WESTON_VERSION_MAJOR < 16
struct weston_touch_device *weston_touch_create_touch_device(struct weston_touch *touch,
		const char *syspath, void *data, const struct weston_touch_device_ops *ops);
void notify_key(struct weston_seat *seat, const struct timespec *time, uint32_t key,
		enum wl_keyboard_key_state state, enum weston_key_state_update update_state);
void notify_button(struct weston_seat *seat, const struct timespec *time, int32_t button,
		enum wl_pointer_button_state state);
void notify_motion(struct weston_seat *seat, const struct timespec *time,
		struct weston_pointer_motion_event *event);
void notify_axis(struct weston_seat *seat, const struct timespec *time,
		struct weston_pointer_axis_event *event);
void notify_touch_normalized(struct weston_touch_device *device, const struct timespec *time,
		int id, const struct weston_coord_global *place,
		const struct weston_point2d_device_normalized *normalized, int type);
#else
struct weston_touch_device *weston_touch_create_touch_device(struct weston_touch *touch,
		const char *syspath, void *data, const struct weston_touch_device_ops *ops,
		weston_touch_device_set_output_func_t set_output);
void notify_key(const struct weston_key_event *event);
void notify_button(const struct weston_pointer_button_event *event);
void notify_motion(const struct weston_pointer_motion_event *event);
void notify_axis(const struct weston_pointer_axis_event *event);
void notify_touch_normalized(const struct weston_touch_event *event,
		const struct weston_point2d_device_normalized *normalized);
#endif

static inline struct weston_touch_device *seat_create_touch_device(
		struct weston_seat *seat, const char *name) {
	struct weston_touch *touch = weston_seat_get_touch(seat);
#if WESTON_VERSION_MAJOR < 16
	return weston_touch_create_touch_device(touch, name, NULL, NULL);
#else
	return weston_touch_create_touch_device(touch, name, NULL, NULL, NULL);
#endif
}

static inline void seat_send_key(
		struct weston_seat *seat, struct timespec *time, uint32_t key, bool pressed) {
	enum wl_keyboard_key_state state =
			pressed ? WL_KEYBOARD_KEY_STATE_PRESSED : WL_KEYBOARD_KEY_STATE_RELEASED;
#if WESTON_VERSION_MAJOR < 16
	notify_key(seat, time, key, state, STATE_UPDATE_AUTOMATIC);
#else
	struct weston_key_event event;
	weston_key_event_init(&event, time, seat, key, state, STATE_UPDATE_AUTOMATIC);
	notify_key(&event);
#endif
}

static inline void seat_send_button(
		struct weston_seat *seat, struct timespec *time, uint32_t button, bool pressed) {
	enum wl_pointer_button_state state = pressed ? WL_POINTER_BUTTON_STATE_PRESSED
						     : WL_POINTER_BUTTON_STATE_RELEASED;
#if WESTON_VERSION_MAJOR < 16
	notify_button(seat, time, (int32_t)button, state);
#else
	struct weston_pointer_button_event event;
	weston_pointer_button_event_init(&event, time, seat, button, state);
	notify_button(&event);
#endif
}

static inline void seat_send_motion(
		struct weston_seat *seat, struct timespec *time, struct weston_coord_global place) {
#if WESTON_VERSION_MAJOR < 16
	notify_motion(seat, time,
			&(struct weston_pointer_motion_event){
					.mask = WESTON_POINTER_MOTION_ABS, .abs = place});
#else
	struct weston_pointer_motion_event event;
	weston_pointer_motion_event_init(
			&event, time, seat, WESTON_POINTER_MOTION_ABS, &place, NULL, NULL);
	notify_motion(&event);
#endif
}

static inline void seat_send_relative(struct weston_seat *seat, struct timespec *time,
		struct weston_coord motion, struct weston_coord raw) {
	uint32_t mask = WESTON_POINTER_MOTION_REL | WESTON_POINTER_MOTION_REL_UNACCEL;
#if WESTON_VERSION_MAJOR < 16
	notify_motion(seat, time,
			&(struct weston_pointer_motion_event){.mask = mask,
					.time = *time,
					.rel = motion,
					.rel_unaccel = raw});
#else
	struct weston_pointer_motion_event event;
	weston_pointer_motion_event_init(&event, time, seat, mask, NULL, &motion, &raw);
	notify_motion(&event);
#endif
}

static inline void seat_send_axis(struct weston_seat *seat, struct timespec *time, uint32_t axis,
		double value, int32_t steps) {
#if WESTON_VERSION_MAJOR < 16
	struct weston_pointer_axis_event event = {.axis = axis,
			.value = value,
			.has_discrete = steps != 0,
			.discrete = steps};
	notify_axis(seat, time, &event);
#else
	struct weston_pointer_axis_event event;
	weston_pointer_axis_event_init(&event, time, seat, axis, value, steps != 0, steps);
	notify_axis(&event);
#endif
}

/* `type`: WL_TOUCH_DOWN, WL_TOUCH_MOTION or WL_TOUCH_UP; `place` is NULL for the last. */
static inline void seat_send_touch(struct weston_seat *seat, struct weston_touch_device *device,
		struct timespec *time, int id, const struct weston_coord_global *place, int type) {
#if WESTON_VERSION_MAJOR < 16
	notify_touch_normalized(device, time, id, place, NULL, type);
#else
	struct weston_touch_event event;
	weston_touch_event_init(&event, time, seat, device, type, id, place);
	notify_touch_normalized(&event, NULL);
#endif
}

/* --- to the focus alone, without Weston's own handling of input ------------------------------- */

/* To be called before the view's position is read. */
static inline void view_update(struct weston_view *view) {
#if WESTON_VERSION_MAJOR < 16
	weston_view_update_transform(view);
#else
	(void)view; /* Weston does so itself */
#endif
}

/*
 * Sends the current position of the pointer. `motion`, `raw`: how far it moved, or NULL: unknown.
 */
static inline void focus_send_motion(struct weston_pointer *pointer, struct timespec *time,
		const struct weston_coord *motion, const struct weston_coord *raw) {
	uint32_t mask = WESTON_POINTER_MOTION_ABS;
	if (motion != NULL) {
		mask |= WESTON_POINTER_MOTION_REL | WESTON_POINTER_MOTION_REL_UNACCEL;
	}
#if WESTON_VERSION_MAJOR < 16
	struct weston_pointer_motion_event event = {
			.mask = mask, .time = *time, .abs = pointer->pos};
	if (motion != NULL) {
		event.rel = *motion;
		event.rel_unaccel = *raw;
	}
	weston_pointer_send_motion(pointer, time, &event);
#else
	struct weston_coord_global place = pointer->pos;
	struct weston_pointer_motion_event event;
	weston_pointer_motion_event_init(&event, time, pointer->seat, mask, &place, motion, raw);
	weston_pointer_send_motion(pointer, &event);
#endif
}

static inline void focus_send_button(struct weston_pointer *pointer, struct timespec *time,
		uint32_t button, bool pressed) {
	enum wl_pointer_button_state state = pressed ? WL_POINTER_BUTTON_STATE_PRESSED
						     : WL_POINTER_BUTTON_STATE_RELEASED;
#if WESTON_VERSION_MAJOR < 16
	weston_pointer_send_button(pointer, time, button, state);
#else
	struct weston_pointer_button_event event;
	weston_pointer_button_event_init(&event, time, pointer->seat, button, state);
	weston_pointer_send_button(pointer, &event);
#endif
}

static inline void focus_send_axis(struct weston_pointer *pointer, struct timespec *time,
		uint32_t axis, double value, int32_t steps) {
#if WESTON_VERSION_MAJOR < 16
	struct weston_pointer_axis_event event = {.axis = axis,
			.value = value,
			.has_discrete = steps != 0,
			.discrete = steps};
	weston_pointer_send_axis(pointer, time, &event);
#else
	struct weston_pointer_axis_event event;
	weston_pointer_axis_event_init(&event, time, pointer->seat, axis, value, steps != 0, steps);
	weston_pointer_send_axis(pointer, &event);
#endif
}

/* `place` is NULL for WL_TOUCH_UP. */
static inline void focus_send_touch(struct weston_touch_device *device, struct timespec *time,
		int id, const struct weston_coord_global *place, int type) {
#if WESTON_VERSION_MAJOR < 16
	struct weston_touch *touch = device->aggregate;
	if (type == WL_TOUCH_UP) {
		weston_touch_send_up(touch, time, id);
	} else if (type == WL_TOUCH_DOWN) {
		weston_touch_send_down(touch, time, id, *place);
	} else {
		weston_touch_send_motion(touch, time, id, *place);
	}
#else
	struct weston_touch_event event;
	weston_touch_event_init(&event, time, device->aggregate->seat, device, type, id, place);
	if (type == WL_TOUCH_UP) {
		weston_touch_send_up(&event);
	} else if (type == WL_TOUCH_DOWN) {
		weston_touch_send_down(&event);
	} else {
		weston_touch_send_motion(&event);
	}
#endif
}

#endif
