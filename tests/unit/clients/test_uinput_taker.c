// SPDX-License-Identifier: MIT
/* What the kernel's input devices get, and by how many calls. */
#include <fcntl.h>
#include <linux/uinput.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "taker.h"
#include "tap.h"

#define FIRST_FD 1000 /* of devices, which are none of this process */
#define TABLET_FD (FIRST_FD + 1)
#define PANEL_FD FIRST_FD
#define PEN_FD FIRST_FD
#define GOT_MAX 1024

static int opened;
static struct {
	int fd;
	struct input_event event;
} got[GOT_MAX];
static unsigned got_count, calls;

/* --- in the place of libc: each device can be made -------------------------------------------- */

int open(const char *path, int flags, ...) {
	return FIRST_FD + opened++;
}

int access(const char *path, int mode) {
	return 0;
}

int ioctl(int fd, unsigned long request, ...) {
	return 0;
}

int close(int fd) {
	return 0;
}

ssize_t write(int fd, const void *data, size_t size) {
	const struct input_event *events = data;
	calls++;
	for (size_t i = 0; i < size / sizeof(*events) && got_count < GOT_MAX; i++) {
		got[got_count].fd = fd;
		got[got_count++].event = events[i];
	}
	return (ssize_t)size;
}

/* ---------------------------------------------------------------------------------------------- */

static const struct taker_options options = {.device = "/dev/uinput"};

static struct taker *new_taker(uint32_t devices) {
	struct taker *taker = uinput_taker_create(&options);
	opened = 0;
	taker->add_devices(taker, devices);
	got_count = calls = 0;
	return taker;
}

static void handle(struct taker *taker, enum input_type type, uint16_t code, int32_t value) {
	taker->handle(taker,
			&(struct input_record){.type = (uint16_t)type,
					.code = code,
					.value = value,
					.x = 7,
					.y = 8});
}

static bool got_is(unsigned i, int fd, uint16_t type, uint16_t code, int32_t value) {
	const struct input_event *event = &got[i].event;
	return i < got_count && got[i].fd == fd && event->type == type && event->code == code &&
			event->value == value;
}

static void test_a_key(void) {
	struct taker *taker = new_taker(INPUT_KEYBOARD);
	handle(taker, INPUT_KEY, KEY_A, 1);
	tap_ok(got_count == 0, "nothing of a group before its end");
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(got_is(0, FIRST_FD, EV_KEY, KEY_A, 1) &&
					got_is(1, FIRST_FD, EV_SYN, SYN_REPORT, 0) &&
					got_count == 2,
			"a key, and the end");
	tap_ok(calls == 1, "by one call");
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(calls == 1, "an empty group is none");
	taker->destroy(taker);
}

static void test_fingers(void) {
	struct taker *taker = new_taker(INPUT_TOUCH);
	for (uint16_t i = 0; i < INPUT_TOUCHES; i++) {
		handle(taker, INPUT_TOUCH_DOWN, i, 0);
	}
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(got_count == INPUT_TOUCHES * 6 + 2 && calls == 1, "all fingers by one call");
	tap_ok(got_is(got_count - 1, PANEL_FD, EV_SYN, SYN_REPORT, 0), "and the end");
	taker->destroy(taker);
}

static void move_pen(struct taker *taker, int32_t pressure) {
	taker->handle(taker,
			&(struct input_record){.type = INPUT_PEN_MOTION,
					.value = pressure,
					.x = 7,
					.y = 8,
					.raw_x = -9,
					.raw_y = 10});
}

/* What libinput takes for a tip that is down, of a device that has pressure. */
static void test_pens(void) {
	const int32_t most = INPUT_FULL - 1;
	struct taker *taker = new_taker(INPUT_PEN);
	handle(taker, INPUT_PEN_NEAR, BTN_TOOL_RUBBER, 1);
	move_pen(taker, 0);
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(got_is(0, PEN_FD, EV_KEY, BTN_TOOL_RUBBER, 1) &&
					got_is(2, PEN_FD, EV_ABS, ABS_X, 7) &&
					got_is(3, PEN_FD, EV_ABS, ABS_Y, 8) &&
					got_is(4, PEN_FD, EV_ABS, ABS_TILT_X, -9) &&
					got_is(5, PEN_FD, EV_ABS, ABS_TILT_Y, 10) &&
					got_is(6, PEN_FD, EV_ABS, ABS_PRESSURE, 0) && calls == 1,
			"a pen comes near, and leans");
	got_count = 0;
	handle(taker, INPUT_PEN_BUTTON, BTN_TOUCH, 1);
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(got_is(0, PEN_FD, EV_KEY, BTN_TOUCH, 1) && got_count == 3 &&
					got[1].event.code == ABS_PRESSURE &&
					got[1].event.value > most / 20,
			"its tip is down, however lightly");
	got_count = 0;
	move_pen(taker, most);
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(got_is(4, PEN_FD, EV_ABS, ABS_PRESSURE, most), "and as hard as can be");
	got_count = 0;
	handle(taker, INPUT_PEN_BUTTON, BTN_STYLUS, 1);
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(got_is(1, PEN_FD, EV_ABS, ABS_PRESSURE, most), "which another button leaves so");
	handle(taker, INPUT_PEN_BUTTON, BTN_TOUCH, 0);
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(got_is(4, PEN_FD, EV_ABS, ABS_PRESSURE, 0), "until it is up");
	taker->destroy(taker);
}

static void test_two_devices(void) {
	struct taker *taker = new_taker(INPUT_POINTER);
	handle(taker, INPUT_MOTION, 0, 0);
	handle(taker, INPUT_BUTTON, BTN_LEFT, 1);
	handle(taker, INPUT_GROUP_END, 0, 0);
	tap_ok(got_is(0, FIRST_FD, EV_KEY, BTN_LEFT, 1) &&
					got_is(1, FIRST_FD, EV_SYN, SYN_REPORT, 0) &&
					got_is(2, TABLET_FD, EV_ABS, ABS_X, 7) &&
					got_is(3, TABLET_FD, EV_ABS, ABS_Y, 8) &&
					got_is(4, TABLET_FD, EV_SYN, SYN_REPORT, 0) && calls == 2,
			"each device has its own");
	taker->destroy(taker);
}

/* As long as a sender likes: none of it is lost. */
static void test_a_long_group(void) {
	struct taker *taker = new_taker(INPUT_KEYBOARD);
	for (int i = 0; i < 300; i++) {
		handle(taker, INPUT_KEY, KEY_A, i % 2);
	}
	handle(taker, INPUT_GROUP_END, 0, 0);
	bool all = got_count == 301;
	for (unsigned i = 0; i < 300; i++) {
		all = all && got_is(i, FIRST_FD, EV_KEY, KEY_A, i % 2);
	}
	tap_ok(all && got_is(300, FIRST_FD, EV_SYN, SYN_REPORT, 0), "in order, with one end");
	taker->destroy(taker);
}

int main(void) {
	test_a_key();
	test_fingers();
	test_pens();
	test_two_devices();
	test_a_long_group();
	return tap_finish();
}
