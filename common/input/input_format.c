// SPDX-License-Identifier: MIT
#include "input_format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MS_NS 1000000u
#define LATE_MS 1000u

const struct frame_form input_form = {
		.what = "input",
		.caps = "application/x-gid-input",
		.width = 4096,
		.height = 32,
		.slot_size = INPUT_SLOT_SIZE,
		.slots = INPUT_SLOTS,
		.keeps_shown = true,
};

bool input_holds_nothing(const struct input_held *held) {
	static const struct input_held nothing;
	return memcmp(held, &nothing, sizeof(nothing)) == 0;
}

uint16_t input_pen_twin(uint16_t code) {
	static const uint16_t twins[][2] = {{INPUT_PEN_TIP, 0x110}, {0x14b, 0x111}, {0x14c, 0x112}};
	for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++) {
		if (twins[i][0] == code || twins[i][1] == code) {
			return twins[i][twins[i][0] == code];
		}
	}
	return 0;
}

uint64_t input_time_of_ms(uint32_t ms, uint64_t now) {
	uint32_t late = (uint32_t)(now / MS_NS) - ms;
	return late < LATE_MS ? now - (uint64_t)late * MS_NS : now;
}

bool input_stream_name(char name[INPUT_NAME_SIZE], const char *shown) {
	return snprintf(name, INPUT_NAME_SIZE, "input/%s", shown) < (int)INPUT_NAME_SIZE;
}

/* --- one event -------------------------------------------------------------------------------- */

static bool is_place(int32_t value) {
	return value >= 0 && value < INPUT_FULL;
}

static bool is_distance(int32_t value) {
	return value >= -INPUT_DISTANCE_MAX && value <= INPUT_DISTANCE_MAX;
}

static bool is_plain(const struct input_record *event) {
	return event->x == 0 && event->y == 0 && event->raw_x == 0 && event->raw_y == 0;
}

static bool is_switch(const struct input_record *event) {
	return (event->value == 0 || event->value == 1) && is_plain(event);
}

static bool is_at_place(const struct input_record *event, uint32_t codes) {
	return event->code < codes && event->value == 0 && is_place(event->x) &&
			is_place(event->y) && event->raw_x == 0 && event->raw_y == 0;
}

static bool is_relative(const struct input_record *event) {
	return event->code == 0 && event->value == 0 && is_distance(event->x) &&
			is_distance(event->y) && is_distance(event->raw_x) &&
			is_distance(event->raw_y);
}

static bool is_axis(const struct input_record *event) {
	return event->code < INPUT_AXES && event->value >= 0 &&
			event->value <= INPUT_AXIS_SOURCES && is_distance(event->x) &&
			is_distance(event->y) && event->raw_x == 0 && event->raw_y == 0;
}

static bool is_tilt(int32_t value) {
	return value >= -INPUT_TILT_MAX && value <= INPUT_TILT_MAX;
}

static bool is_pen_motion(const struct input_record *event) {
	return event->code == 0 && is_place(event->value) && is_place(event->x) &&
			is_place(event->y) && is_tilt(event->raw_x) && is_tilt(event->raw_y);
}

bool input_record_is_valid(const struct input_record *event) {
	if (event->time > INT64_MAX) {
		return false;
	}
	switch (event->type) {
	case INPUT_KEY:
		return input_code_is_key(event->code) && is_switch(event);
	case INPUT_BUTTON:
		return input_code_is_button(event->code) && is_switch(event);
	case INPUT_MOTION:
		return is_at_place(event, 1);
	case INPUT_RELATIVE:
		return is_relative(event);
	case INPUT_AXIS:
		return is_axis(event);
	case INPUT_TOUCH_DOWN:
	case INPUT_TOUCH_MOTION:
		return is_at_place(event, INPUT_TOUCHES);
	case INPUT_TOUCH_UP:
		return event->code < INPUT_TOUCHES && event->value == 0 && is_plain(event);
	case INPUT_GROUP_END:
		return event->code == 0 && event->value == 0 && is_plain(event);
	case INPUT_PEN_NEAR:
		return input_code_is_tool(event->code) && is_switch(event);
	case INPUT_PEN_BUTTON:
		return input_code_is_pen_button(event->code) && is_switch(event);
	case INPUT_PEN_MOTION:
		return is_pen_motion(event);
	default:
		return false;
	}
}

/* --- a frame ---------------------------------------------------------------------------------- */

static bool head_is_placed_well(const struct input_head *head) {
	return head->placed == 1 ? is_place(head->x) && is_place(head->y)
				 : head->placed == 0 && head->x == 0 && head->y == 0;
}

static bool head_is_sized_well(const struct input_head *head) {
	return (head->width == 0) == (head->height == 0) && head->width <= INPUT_SIZE_MAX &&
			head->height <= INPUT_SIZE_MAX && head->scale <= INPUT_SCALE_MAX &&
			(head->width > 0 || head->scale == 0);
}

static bool head_is_valid(const struct input_head *head) {
	static const uint32_t zeroes[sizeof(head->reserved) / sizeof(head->reserved[0])];
	const uint32_t devices = INPUT_KEYBOARD | INPUT_POINTER | INPUT_TOUCH | INPUT_PEN;
	return head->magic == INPUT_MAGIC && head->count <= INPUT_EVENTS_MAX &&
			head->count <= head->next && (head->devices & ~devices) == 0 &&
			head->keymap_size <= INPUT_KEYMAP_MAX &&
			(head->keymap == 0) == (head->keymap_size == 0) &&
			head->held.touches < 1u << INPUT_TOUCHES &&
			(head->held.codes[0] & 1) == 0 && head_is_placed_well(head) &&
			head_is_sized_well(head) && head->lease_ms >= INPUT_LEASE_MIN_MS &&
			head->lease_ms <= INPUT_LEASE_MAX_MS &&
			memcmp(head->reserved, zeroes, sizeof(zeroes)) == 0;
}

int input_frame_read(struct input_frame *frame, const void *slot, uint64_t seen) {
	const uint8_t *bytes = slot;
	memcpy(&frame->head, bytes, sizeof(frame->head));
	/* The compiler must use the copy, not load the slot again. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!head_is_valid(&frame->head)) {
		return -EPROTO;
	}
	uint64_t next = frame->head.next;
	uint64_t unseen = next > seen ? next - seen : 0;
	frame->count = unseen < frame->head.count ? (uint32_t)unseen : frame->head.count;
	frame->first = next - frame->count;
	uint32_t skipped = frame->head.count - frame->count;
	memcpy(frame->events, bytes + sizeof(frame->head) + skipped * sizeof(frame->events[0]),
			frame->count * sizeof(frame->events[0]));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < frame->count; i++) {
		if (!input_record_is_valid(&frame->events[i])) {
			return -EPROTO;
		}
	}
	return 0;
}

int input_frame_read_keymap(const struct input_frame *frame, const void *slot, char *text) {
	uint32_t size = frame->head.keymap_size;
	if (size == 0) {
		return -ENOENT;
	}
	memcpy(text, (const uint8_t *)slot + INPUT_KEYMAP_OFFSET, size);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return memchr(text, '\0', size) == text + size - 1 ? 0 : -EPROTO;
}

void input_frame_write(
		void *slot, const struct input_head *head, const struct input_record *events) {
	uint8_t *bytes = slot;
	memcpy(bytes, head, sizeof(*head));
	if (head->count > 0) { // else `events` may be NULL
		memcpy(bytes + sizeof(*head), events, head->count * sizeof(*events));
	}
}
