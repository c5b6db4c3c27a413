// SPDX-License-Identifier: MIT
/*
 * Never waits for the server: libei queues what it does not take, until the server has answered
 * nothing for SILENCE_MS. The server's keymap decides what keys mean; it is not even read here.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <libei.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/deadline.h"
#include "taker.h"

#define MS_NS 1000000ull
#define US_NS 1000ull
#define SILENCE_MS 10000
#define ACCURACY_US 10000
#define FRACTION 256.0 /* of a pixel, in an event */
#define DEVICES_MAX 16
#define REGIONS_MAX 64
/* No screen is larger: gamescope, which does not tell, has a region of INT32_MAX. */
#define SIZE_MAX_PX 65536.0

/* A device of the server. */
struct device {
	struct ei_device *base; // NULL: there is none
	bool ready;		// the server takes its events now
	bool used;		// in the group that has begun
	struct input_held held; // as the server knows it
	struct ei_touch *touches[INPUT_TOUCHES];
	double x, y, width, height; // that the picture is of; 0: not known
};

struct libei_taker {
	struct taker base;
	const struct taker_options *options;
	bool is_warned;	 // that it does not know where events are
	bool has_failed; // and the program ends
	sd_event *event;
	struct ei *ei;
	sd_event_source *source;
	sd_event_source *patience; // with the server
	bool connected;
	struct ei_ping *ping; // that the server has not answered
	struct ei_seat *seat; // the first one
	uint32_t wanted;      // devices of the sender
	uint32_t sequence;
	struct device devices[DEVICES_MAX];
};

/* --- the server's answers --------------------------------------------------------------------- */

static void taker_await(struct libei_taker *taker) {
	deadline_set(taker->patience, gid_clock_now() + SILENCE_MS * MS_NS);
}

static int handle_silence(sd_event_source *source, uint64_t time, void *data) {
	struct libei_taker *taker = data;
	warnx("the EIS server has answered nothing for %d s", SILENCE_MS / 1000);
	return sd_event_exit(taker->event, EXIT_FAILURE);
}

static void taker_ask(struct libei_taker *taker) {
	if (taker->ping == NULL) {
		taker->ping = ei_new_ping(taker->ei);
		ei_ping(taker->ping);
		taker_await(taker);
	}
}

static void taker_hear(struct libei_taker *taker) {
	taker->ping = ei_ping_unref(taker->ping);
	deadline_set(taker->patience, UINT64_MAX);
}

/* --- devices ---------------------------------------------------------------------------------- */

/* The first device that takes such events now. */
static struct device *taker_find(struct libei_taker *taker, enum ei_device_capability capability) {
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		struct device *device = &taker->devices[i];
		if (device->ready && ei_device_has_capability(device->base, capability)) {
			return device;
		}
	}
	return NULL;
}

/* The same for events with a place in the picture, which needs the size of the screen. */
static struct device *taker_find_placed(
		struct libei_taker *taker, enum ei_device_capability capability) {
	struct device *device = taker_find(taker, capability);
	if (device == NULL || device->width > 0) {
		return device;
	}
	if (!taker->is_warned) {
		warnx("the EIS server does not tell the size of its screen, where the pointer and "
		      "touches are: name it by --size");
		taker->is_warned = true;
	}
	return NULL;
}

/* Finds the entry of a device; of NULL, a free entry. */
static struct device *taker_device(struct libei_taker *taker, const struct ei_device *base) {
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		if (taker->devices[i].base == base) {
			return &taker->devices[i];
		}
	}
	return NULL;
}

static void device_measure(struct device *device, const struct taker_options *options) {
	double right = 0, bottom = 0;
	if (options->width != 0) {
		device->width = options->width;
		device->height = options->height;
		return;
	}
	for (size_t i = 0; i < REGIONS_MAX; i++) {
		struct ei_region *region = ei_device_get_region(device->base, i);
		if (region == NULL) {
			break;
		}
		double x = ei_region_get_x(region), y = ei_region_get_y(region);
		double end_x = x + ei_region_get_width(region);
		double end_y = y + ei_region_get_height(region);
		device->x = i == 0 || x < device->x ? x : device->x;
		device->y = i == 0 || y < device->y ? y : device->y;
		right = end_x > right ? end_x : right;
		bottom = end_y > bottom ? end_y : bottom;
	}
	if (right - device->x <= SIZE_MAX_PX && bottom - device->y <= SIZE_MAX_PX) {
		device->width = right - device->x;
		device->height = bottom - device->y;
	}
}

static void taker_fail(struct libei_taker *taker) {
	taker->has_failed = true;
	sd_event_exit(taker->event, EXIT_FAILURE);
}

static void taker_add(struct libei_taker *taker, struct ei_device *base) {
	struct device *device = taker_device(taker, NULL);
	if (device == NULL) {
		warnx("the EIS server has more than %d devices", DEVICES_MAX);
		taker_fail(taker);
		return;
	}
	*device = (struct device){.base = ei_device_ref(base)};
	device_measure(device, taker->options);
}

static void device_forget_touches(struct device *device) {
	for (uint32_t i = 0; i < INPUT_TOUCHES; i++) {
		if (device->touches[i] != NULL) {
			device->touches[i] = ei_touch_unref(device->touches[i]);
		}
	}
}

/*
 * The server lets go of all that was pressed on it, as its protocol says. No test sees this: libeis
 * 1.3.901 pauses no device that is used.
 */
static void device_pause(struct device *device) {
	device->ready = device->used = false;
	device->held = (struct input_held){0};
	device_forget_touches(device);
}

static void device_remove(struct device *device) {
	device_forget_touches(device);
	ei_device_unref(device->base);
	*device = (struct device){0};
}

static void device_switch(struct device *device, uint16_t code, bool pressed) {
	input_hold(&device->held, code, pressed);
	device->used = true;
	if (input_code_is_button(code)) {
		ei_device_button_button(device->base, code, pressed);
	} else {
		ei_device_keyboard_key(device->base, code, pressed);
	}
}

static void device_resume(struct libei_taker *taker, struct device *device) {
	device->ready = true;
	ei_device_start_emulating(device->base, ++taker->sequence);
}

/* Binds the capabilities that the sender has: the server then sends its devices. */
static void taker_bind(struct libei_taker *taker) {
	if (taker->seat == NULL) {
		return;
	}
	if (taker->wanted & INPUT_KEYBOARD) {
		ei_seat_bind_capabilities(taker->seat, EI_DEVICE_CAP_KEYBOARD, NULL);
	}
	if (taker->wanted & INPUT_POINTER) {
		ei_seat_bind_capabilities(taker->seat, EI_DEVICE_CAP_POINTER,
				EI_DEVICE_CAP_POINTER_ABSOLUTE, EI_DEVICE_CAP_BUTTON,
				EI_DEVICE_CAP_SCROLL, NULL);
	}
	if (taker->wanted & INPUT_TOUCH) {
		ei_seat_bind_capabilities(taker->seat, EI_DEVICE_CAP_TOUCH, NULL);
	}
}

/* --- what the server says --------------------------------------------------------------------- */

static void handle_event(struct libei_taker *taker, struct ei_event *event) {
	struct ei_device *base = ei_event_get_device(event);
	struct device *device = base != NULL ? taker_device(taker, base) : NULL;
	switch (ei_event_get_type(event)) {
	case EI_EVENT_CONNECT:
		taker->connected = true;
		taker_hear(taker);
		break;
	case EI_EVENT_DISCONNECT:
		warnx("the EIS server ended the connection");
		taker_fail(taker);
		break;
	case EI_EVENT_PONG:
		taker_hear(taker);
		break;
	case EI_EVENT_SEAT_ADDED:
		if (taker->seat == NULL) {
			taker->seat = ei_seat_ref(ei_event_get_seat(event));
			taker_bind(taker);
		}
		break;
	case EI_EVENT_SEAT_REMOVED:
		if (ei_event_get_seat(event) == taker->seat) {
			taker->seat = ei_seat_unref(taker->seat);
		}
		break;
	case EI_EVENT_DEVICE_ADDED:
		taker_add(taker, base);
		break;
	case EI_EVENT_DEVICE_REMOVED:
		if (device != NULL) {
			device_remove(device);
		}
		break;
	case EI_EVENT_DEVICE_PAUSED:
		if (device != NULL) {
			device_pause(device);
		}
		break;
	case EI_EVENT_DEVICE_RESUMED:
		if (device != NULL) {
			device_resume(taker, device);
		}
		break;
	default:
		break;
	}
}

/*
 * Handles queued events. To be called after each sending, too: where that fails, libei ends the
 * connection but does not wake us.
 */
static void taker_listen(struct libei_taker *taker) {
	struct ei_event *event;
	while (!taker->has_failed && (event = ei_get_event(taker->ei)) != NULL) {
		handle_event(taker, event);
		ei_event_unref(event);
	}
}

static int handle_readable(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct libei_taker *taker = data;
	ei_dispatch(taker->ei);
	taker_listen(taker);
	return 0;
}

static void libei_add_devices(struct taker *base, uint32_t devices) {
	struct libei_taker *taker = (struct libei_taker *)base;
	taker->wanted |= devices;
	taker_bind(taker);
	taker_listen(taker);
}

/* --- events ----------------------------------------------------------------------------------- */

static void handle_switch(struct libei_taker *taker, const struct input_record *event) {
	struct device *device = NULL;
	if (event->value != 0) {
		device = taker_find(taker,
				event->type == INPUT_BUTTON ? EI_DEVICE_CAP_BUTTON
							    : EI_DEVICE_CAP_KEYBOARD);
		if (device != NULL) {
			device_switch(device, event->code, true);
		}
		return;
	}
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		device = &taker->devices[i];
		if (input_holds(&device->held, event->code)) {
			device_switch(device, event->code, false);
		}
	}
}

static void handle_motion(struct libei_taker *taker, const struct input_record *event) {
	struct device *device = taker_find_placed(taker, EI_DEVICE_CAP_POINTER_ABSOLUTE);
	if (device != NULL) {
		ei_device_pointer_motion_absolute(device->base,
				device->x + event->x * device->width / INPUT_FULL,
				device->y + event->y * device->height / INPUT_FULL);
		device->used = true;
	}
}

static void handle_relative(struct libei_taker *taker, const struct input_record *event) {
	struct device *device = taker_find(taker, EI_DEVICE_CAP_POINTER);
	if (device != NULL) {
		ei_device_pointer_motion(device->base, event->x / FRACTION, event->y / FRACTION);
		device->used = true;
	}
}

static void handle_axis(struct libei_taker *taker, const struct input_record *event) {
	struct device *device = taker_find(taker, EI_DEVICE_CAP_SCROLL);
	bool is_vertical = event->code == 0;
	if (device == NULL) {
		return;
	}
	device->used = true;
	if (event->y != 0) {
		ei_device_scroll_discrete(device->base, is_vertical ? 0 : event->y,
				is_vertical ? event->y : 0);
	} else if (event->x != 0) {
		double distance = event->x / FRACTION;
		ei_device_scroll_delta(device->base, is_vertical ? 0 : distance,
				is_vertical ? distance : 0);
	} else {
		ei_device_scroll_stop(device->base, !is_vertical, is_vertical);
	}
}

static void handle_touch_down(struct libei_taker *taker, const struct input_record *event) {
	struct device *device = taker_find_placed(taker, EI_DEVICE_CAP_TOUCH);
	if (device == NULL || device->touches[event->code] != NULL) {
		return;
	}
	device->touches[event->code] = ei_device_touch_new(device->base);
	ei_touch_down(device->touches[event->code],
			device->x + event->x * device->width / INPUT_FULL,
			device->y + event->y * device->height / INPUT_FULL);
	device->used = true;
}

static void handle_touch(struct libei_taker *taker, const struct input_record *event) {
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		struct device *device = &taker->devices[i];
		if (device->touches[event->code] == NULL) {
			continue;
		}
		device->used = true;
		if (event->type == INPUT_TOUCH_UP) {
			ei_touch_up(device->touches[event->code]);
			device->touches[event->code] = ei_touch_unref(device->touches[event->code]);
		} else {
			ei_touch_motion(device->touches[event->code],
					device->x + event->x * device->width / INPUT_FULL,
					device->y + event->y * device->height / INPUT_FULL);
		}
	}
}

static void end_group(struct libei_taker *taker, uint64_t time) {
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		if (taker->devices[i].used) {
			ei_device_frame(taker->devices[i].base, time / US_NS);
			taker->devices[i].used = false;
			taker_ask(taker);
		}
	}
	taker_listen(taker);
}

static void libei_handle(struct taker *base, const struct input_record *event) {
	struct libei_taker *taker = (struct libei_taker *)base;
	switch (event->type) {
	case INPUT_KEY:
	case INPUT_BUTTON:
		handle_switch(taker, event);
		break;
	case INPUT_MOTION:
		handle_motion(taker, event);
		break;
	case INPUT_RELATIVE:
		handle_relative(taker, event);
		break;
	case INPUT_AXIS:
		handle_axis(taker, event);
		break;
	case INPUT_TOUCH_DOWN:
		handle_touch_down(taker, event);
		break;
	case INPUT_TOUCH_MOTION:
	case INPUT_TOUCH_UP:
		handle_touch(taker, event);
		break;
	case INPUT_GROUP_END:
		end_group(taker, event->time);
		break;
	}
}

/* --- life ------------------------------------------------------------------------------------- */

/*
 * libei 1.3.901 crashes when a context that never connected is released: it is left to the end of
 * the program.
 */
static struct ei *unconnected;

static void libei_destroy(struct taker *base) {
	struct libei_taker *taker = (struct libei_taker *)base;
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		if (taker->devices[i].base != NULL) {
			device_remove(&taker->devices[i]);
		}
	}
	if (taker->ping != NULL) {
		ei_ping_unref(taker->ping);
	}
	if (taker->seat != NULL) {
		ei_seat_unref(taker->seat);
	}
	sd_event_source_disable_unref(taker->source);
	sd_event_source_disable_unref(taker->patience);
	if (taker->connected) {
		ei_unref(taker->ei);
	} else {
		unconnected = taker->ei;
	}
	free(taker);
}

/* Connects a non-blocking socket. Returns it, or -errno. */
static int socket_connect(const char *name) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *folder = name[0] != '/' ? getenv("XDG_RUNTIME_DIR") : "";
	if (folder == NULL || (folder[0] != '/' && name[0] != '/')) {
		return -ENOENT;
	}
	int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s%s%s", folder,
			name[0] != '/' ? "/" : "", name);
	if (length >= (int)sizeof(address.sun_path)) {
		return -ENAMETOOLONG;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

/*
 * Drops libei's own messages, which the server could cause without end. handle_event() reports what
 * matters.
 */
static void handle_log(struct ei *ei, enum ei_log_priority priority, const char *message,
		struct ei_log_context *context) {
}

static int taker_connect(struct libei_taker *taker, const char *name) {
	int result = socket_connect(name);
	if (result >= 0) {
		ei_log_set_handler(taker->ei, handle_log);
		ei_configure_name(taker->ei, "gid-input");
		result = ei_setup_backend_fd(taker->ei, result);
	}
	if (result < 0) {
		warnx("no EIS server at LIBEI_SOCKET=%s: %s", name, strerror(-result));
		return -1;
	}
	result = sd_event_add_io(taker->event, &taker->source, ei_get_fd(taker->ei), EPOLLIN,
			handle_readable, taker);
	if (result >= 0) {
		result = sd_event_add_time_relative(taker->event, &taker->patience, CLOCK_MONOTONIC,
				SILENCE_MS * 1000ull, ACCURACY_US, handle_silence, taker);
	}
	if (result < 0) {
		warnx("event loop: %s", strerror(-result));
	}
	return result < 0 ? -1 : 0;
}

struct taker *libei_taker_create(const struct taker_options *options, sd_event *event) {
	const char *name = getenv("LIBEI_SOCKET");
	if (name == NULL || name[0] == '\0') {
		warnx("no EIS server: name its socket by LIBEI_SOCKET");
		return NULL;
	}
	struct libei_taker *taker = calloc(1, sizeof(*taker));
	if (taker == NULL) {
		return NULL;
	}
	taker->base = (struct taker){.destroy = libei_destroy,
			.add_devices = libei_add_devices,
			.handle = libei_handle};
	taker->options = options;
	taker->event = event;
	taker->ei = ei_new_sender(taker);
	if (taker->ei == NULL || taker_connect(taker, name) < 0) {
		libei_destroy(&taker->base);
		return NULL;
	}
	return &taker->base;
}
