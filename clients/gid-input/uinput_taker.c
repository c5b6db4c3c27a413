// SPDX-License-Identifier: MIT
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/uinput.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "taker.h"

#define VENDOR 0x6769 /* "gi" */
#define STEP 120      /* of a wheel */
#define STEP_PIXELS 10
#define FRACTION 256 /* of a pixel or a degree, in an event */
#define QUEUED_MAX 128

/*
 * libinput accepts no tablet without a size in millimetres: so 256 units are one. It counts
 * pressure from a hundredth of the range on, and takes the tip for down from a twentieth on.
 */
#define PEN_PARTS_MM 256
#define PEN_NONE (INPUT_FULL / 100)
#define PEN_LEAST (INPUT_FULL / 20 + 2)
#define RADIAN 14668 /* 256ths of a degree */

/* Programs tell kinds of devices by their events: so each kind is a device of its own. */
enum device {
	DEVICE_KEYBOARD,
	DEVICE_MOUSE,  /* relative motion, buttons, wheels */
	DEVICE_TABLET, /* absolute motion */
	DEVICE_PANEL,  /* fingers */
	DEVICE_PEN,
	DEVICES,
};

struct uinput_taker {
	struct taker base;
	const char *path;
	int fds[DEVICES]; /* -1: it is not there */
	/* The events of the present group: the kernel takes any number in one call. */
	struct input_event queued[DEVICES][QUEUED_MAX];
	uint32_t queued_count[DEVICES];
	int32_t parts[INPUT_AXES]; /* parts of a wheel's step that do not make a whole one yet */
	int32_t moved[2];	   /* 256ths of a pixel that do not make a whole one yet */
	uint32_t down;		   /* fingers */
	bool tip;		   /* the pen's tip is down */
	int32_t pressure;	   /* the pen's, by its last motion */
};

/* --- making devices --------------------------------------------------------------------------- */

static bool set_bits(int fd, unsigned long request, const uint16_t *bits, size_t count) {
	for (size_t i = 0; i < count; i++) {
		if (ioctl(fd, request, bits[i]) < 0) {
			return false;
		}
	}
	return true;
}

static bool set_range(int fd, uint16_t code, int32_t least, int32_t most, int32_t resolution) {
	const struct uinput_abs_setup setup = {.code = code,
			.absinfo = {.minimum = least, .maximum = most, .resolution = resolution}};
	return ioctl(fd, UI_ABS_SETUP, &setup) >= 0;
}

static bool set_axis(int fd, uint16_t code, int32_t most) {
	return set_range(fd, code, 0, most, 0);
}

static bool set_keys(int fd) {
	bool done = ioctl(fd, UI_SET_EVBIT, EV_KEY) >= 0;
	for (uint32_t code = 0; done && code < INPUT_CODES; code++) {
		done = !input_code_is_key(code) || ioctl(fd, UI_SET_KEYBIT, code) >= 0;
	}
	return done;
}

static bool set_buttons(int fd) {
	bool done = ioctl(fd, UI_SET_EVBIT, EV_KEY) >= 0;
	for (uint32_t code = BTN_MOUSE; done && input_code_is_button(code); code++) {
		done = ioctl(fd, UI_SET_KEYBIT, code) >= 0;
	}
	return done;
}

static bool set_mouse(int fd) {
	static const uint16_t axes[] = {
			REL_X, REL_Y, REL_WHEEL, REL_HWHEEL, REL_WHEEL_HI_RES, REL_HWHEEL_HI_RES};
	return set_buttons(fd) && ioctl(fd, UI_SET_EVBIT, EV_REL) >= 0 &&
			set_bits(fd, UI_SET_RELBIT, axes, sizeof(axes) / sizeof(axes[0]));
}

/* Without buttons it would count as another kind of device. */
static bool set_tablet(int fd) {
	return set_buttons(fd) && ioctl(fd, UI_SET_EVBIT, EV_ABS) >= 0 &&
			set_axis(fd, ABS_X, INPUT_FULL - 1) && set_axis(fd, ABS_Y, INPUT_FULL - 1);
}

static bool set_panel(int fd) {
	return ioctl(fd, UI_SET_EVBIT, EV_KEY) >= 0 && ioctl(fd, UI_SET_KEYBIT, BTN_TOUCH) >= 0 &&
			ioctl(fd, UI_SET_EVBIT, EV_ABS) >= 0 &&
			ioctl(fd, UI_SET_PROPBIT, INPUT_PROP_DIRECT) >= 0 &&
			set_axis(fd, ABS_X, INPUT_FULL - 1) &&
			set_axis(fd, ABS_Y, INPUT_FULL - 1) &&
			set_axis(fd, ABS_MT_SLOT, INPUT_TOUCHES - 1) &&
			set_axis(fd, ABS_MT_TRACKING_ID, UINT16_MAX) &&
			set_axis(fd, ABS_MT_POSITION_X, INPUT_FULL - 1) &&
			set_axis(fd, ABS_MT_POSITION_Y, INPUT_FULL - 1);
}

static bool set_pen_buttons(int fd) {
	bool done = ioctl(fd, UI_SET_EVBIT, EV_KEY) >= 0;
	for (uint32_t code = INPUT_TOOL_FIRST; done && code <= INPUT_PEN_BUTTON_LAST; code++) {
		bool is_ours = input_code_is_tool(code) || input_code_is_pen_button(code);
		done = !is_ours || ioctl(fd, UI_SET_KEYBIT, code) >= 0;
	}
	return done;
}

/* A display tablet: the picture is below the pen. */
static bool set_pen(int fd) {
	return set_pen_buttons(fd) && ioctl(fd, UI_SET_EVBIT, EV_ABS) >= 0 &&
			ioctl(fd, UI_SET_PROPBIT, INPUT_PROP_DIRECT) >= 0 &&
			set_range(fd, ABS_X, 0, INPUT_FULL - 1, PEN_PARTS_MM) &&
			set_range(fd, ABS_Y, 0, INPUT_FULL - 1, PEN_PARTS_MM) &&
			set_axis(fd, ABS_PRESSURE, INPUT_FULL - 1) &&
			set_range(fd, ABS_TILT_X, -INPUT_TILT_MAX, INPUT_TILT_MAX, RADIAN) &&
			set_range(fd, ABS_TILT_Y, -INPUT_TILT_MAX, INPUT_TILT_MAX, RADIAN);
}

static const struct {
	const char *name;
	uint32_t devices; /* made when the sender has one of these */
	bool (*set)(int fd);
} kinds[DEVICES] = {
		[DEVICE_KEYBOARD] = {"gidway keyboard", INPUT_KEYBOARD, set_keys},
		[DEVICE_MOUSE] = {"gidway mouse", INPUT_POINTER, set_mouse},
		[DEVICE_TABLET] = {"gidway pointer", INPUT_POINTER, set_tablet},
		[DEVICE_PANEL] = {"gidway touch", INPUT_TOUCH, set_panel},
		[DEVICE_PEN] = {"gidway pen", INPUT_PEN, set_pen},
};

static int device_open(const struct uinput_taker *taker, enum device device) {
	struct uinput_setup setup = {.id = {.bustype = BUS_VIRTUAL,
						     .vendor = VENDOR,
						     .product = (uint16_t)device + 1}};
	int fd = open(taker->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	snprintf(setup.name, sizeof(setup.name), "%s", kinds[device].name);
	if (fd < 0 || !kinds[device].set(fd) || ioctl(fd, UI_DEV_SETUP, &setup) < 0 ||
			ioctl(fd, UI_DEV_CREATE) < 0) {
		warn("%s: %s", taker->path, kinds[device].name);
		close(fd);
		return -1;
	}
	return fd;
}

static void uinput_add_devices(struct taker *base, uint32_t devices) {
	struct uinput_taker *taker = (struct uinput_taker *)base;
	for (enum device device = 0; device < DEVICES; device++) {
		if ((kinds[device].devices & devices) && taker->fds[device] < 0) {
			taker->fds[device] = device_open(taker, device);
		}
	}
}

/* --- events ----------------------------------------------------------------------------------- */

static void send_queued(struct uinput_taker *taker, enum device device) {
	size_t size = taker->queued_count[device] * sizeof(taker->queued[device][0]);
	if (write(taker->fds[device], taker->queued[device], size) != (ssize_t)size) {
		warn("%s", kinds[device].name);
	}
	taker->queued_count[device] = 0;
}

static void put(struct uinput_taker *taker, enum device device, uint16_t type, uint16_t code,
		int32_t value) {
	if (taker->fds[device] < 0) {
		return;
	}
	if (taker->queued_count[device] == QUEUED_MAX) {
		send_queued(taker, device); /* the kernel itself waits for the end of the group */
	}
	taker->queued[device][taker->queued_count[device]++] =
			(struct input_event){.type = type, .code = code, .value = value};
}

static void put_wheel(struct uinput_taker *taker, const struct input_record *event) {
	bool is_vertical = event->code == 0;
	/* Fingers scroll by pixels: STEP_PIXELS make a step. */
	int32_t part = event->y != 0 ? event->y : event->x * STEP / (STEP_PIXELS * FRACTION);
	int32_t *parts = &taker->parts[event->code];
	*parts += part;
	int32_t steps = *parts / STEP;
	*parts -= steps * STEP;
	int32_t sign = is_vertical ? -1 : 1; /* the kernel's wheels turn up */
	put(taker, DEVICE_MOUSE, EV_REL, is_vertical ? REL_WHEEL_HI_RES : REL_HWHEEL_HI_RES,
			sign * part);
	if (steps != 0) {
		put(taker, DEVICE_MOUSE, EV_REL, is_vertical ? REL_WHEEL : REL_HWHEEL,
				sign * steps);
	}
}

static void put_motion(struct uinput_taker *taker, uint16_t code, int32_t distance) {
	int32_t *moved = &taker->moved[code == REL_Y];
	*moved += distance;
	put(taker, DEVICE_MOUSE, EV_REL, code, *moved / FRACTION);
	*moved %= FRACTION;
}

static void put_finger(struct uinput_taker *taker, const struct input_record *event) {
	put(taker, DEVICE_PANEL, EV_ABS, ABS_MT_SLOT, event->code);
	uint32_t before = taker->down;
	if (event->type == INPUT_TOUCH_UP) {
		taker->down &= ~(1u << event->code);
		put(taker, DEVICE_PANEL, EV_ABS, ABS_MT_TRACKING_ID, -1);
	} else {
		taker->down |= 1u << event->code;
		put(taker, DEVICE_PANEL, EV_ABS, ABS_MT_TRACKING_ID, event->code);
		put(taker, DEVICE_PANEL, EV_ABS, ABS_MT_POSITION_X, event->x);
		put(taker, DEVICE_PANEL, EV_ABS, ABS_MT_POSITION_Y, event->y);
		put(taker, DEVICE_PANEL, EV_ABS, ABS_X, event->x);
		put(taker, DEVICE_PANEL, EV_ABS, ABS_Y, event->y);
	}
	if ((before != 0) != (taker->down != 0)) {
		put(taker, DEVICE_PANEL, EV_KEY, BTN_TOUCH, taker->down != 0);
	}
}

static void put_pressure(struct uinput_taker *taker) {
	int64_t most = INPUT_FULL - 1;
	int64_t pressure = PEN_NONE + taker->pressure * (most - PEN_NONE) / most;
	pressure = pressure > PEN_LEAST ? pressure : PEN_LEAST;
	put(taker, DEVICE_PEN, EV_ABS, ABS_PRESSURE, taker->tip ? (int32_t)pressure : 0);
}

static void put_pen(struct uinput_taker *taker, const struct input_record *event) {
	if (event->type == INPUT_PEN_MOTION) {
		taker->pressure = event->value;
		put(taker, DEVICE_PEN, EV_ABS, ABS_X, event->x);
		put(taker, DEVICE_PEN, EV_ABS, ABS_Y, event->y);
		put(taker, DEVICE_PEN, EV_ABS, ABS_TILT_X, event->raw_x);
		put(taker, DEVICE_PEN, EV_ABS, ABS_TILT_Y, event->raw_y);
	} else {
		put(taker, DEVICE_PEN, EV_KEY, event->code, event->value);
		taker->tip = event->code == INPUT_PEN_TIP ? event->value != 0 : taker->tip;
	}
	put_pressure(taker);
}

static void end_group(struct uinput_taker *taker) {
	for (enum device device = 0; device < DEVICES; device++) {
		if (taker->queued_count[device] > 0) {
			put(taker, device, EV_SYN, SYN_REPORT, 0);
			send_queued(taker, device);
		}
	}
}

static void uinput_handle(struct taker *base, const struct input_record *event) {
	struct uinput_taker *taker = (struct uinput_taker *)base;
	switch (event->type) {
	case INPUT_KEY:
		put(taker, DEVICE_KEYBOARD, EV_KEY, event->code, event->value);
		break;
	case INPUT_BUTTON:
		put(taker, DEVICE_MOUSE, EV_KEY, event->code, event->value);
		break;
	case INPUT_MOTION:
		put(taker, DEVICE_TABLET, EV_ABS, ABS_X, event->x);
		put(taker, DEVICE_TABLET, EV_ABS, ABS_Y, event->y);
		break;
	case INPUT_RELATIVE: /* unaccelerated: whoever reads the device accelerates it */
		put_motion(taker, REL_X, event->raw_x);
		put_motion(taker, REL_Y, event->raw_y);
		break;
	case INPUT_AXIS:
		put_wheel(taker, event);
		break;
	case INPUT_TOUCH_DOWN:
	case INPUT_TOUCH_MOTION:
	case INPUT_TOUCH_UP:
		put_finger(taker, event);
		break;
	case INPUT_PEN_NEAR:
	case INPUT_PEN_BUTTON:
	case INPUT_PEN_MOTION:
		put_pen(taker, event);
		break;
	case INPUT_GROUP_END:
		end_group(taker);
		break;
	}
}

/* --- life ------------------------------------------------------------------------------------- */

static void uinput_destroy(struct taker *base) {
	struct uinput_taker *taker = (struct uinput_taker *)base;
	for (enum device device = 0; device < DEVICES; device++) {
		if (taker->fds[device] >= 0) {
			close(taker->fds[device]);
		}
	}
	free(taker);
}

struct taker *uinput_taker_create(const struct taker_options *options) {
	if (access(options->device, W_OK) < 0) {
		warnx("%s: %s; load the kernel's module by modprobe uinput, and let this user write "
		      "the device",
				options->device, strerror(errno));
		return NULL;
	}
	struct uinput_taker *taker = calloc(1, sizeof(*taker));
	if (taker == NULL) {
		return NULL;
	}
	taker->base = (struct taker){.pens = true,
			.destroy = uinput_destroy,
			.add_devices = uinput_add_devices,
			.handle = uinput_handle};
	taker->path = options->device;
	for (enum device device = 0; device < DEVICES; device++) {
		taker->fds[device] = -1;
	}
	return &taker->base;
}
