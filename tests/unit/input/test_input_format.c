// SPDX-License-Identifier: MIT
/* What a frame of input says: copied once, and refused as a whole where anything of it is wrong. */
#include <errno.h>
#include <input_format.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static uint8_t *slot;
static struct input_frame frame;

static struct input_record key(uint16_t code, int32_t value) {
	return (struct input_record){.time = 1, .type = INPUT_KEY, .code = code, .value = value};
}

/* A frame with events of keys 1 to `count`, of which the last has the number `next` - 1. */
static void write_frame(uint32_t count, uint64_t next) {
	static struct input_record events[INPUT_EVENTS_MAX];
	for (uint32_t i = 0; i < count; i++) {
		events[i] = key((uint16_t)(i % 200 + 1), 1);
	}
	const struct input_head head = {.magic = INPUT_MAGIC,
			.next = next,
			.count = count,
			.lease_ms = INPUT_LEASE_DEFAULT_MS};
	input_frame_write(slot, &head, events);
}

static void test_events_from_a_number_on(void) {
	write_frame(INPUT_EVENTS_MAX, 1000);
	tap_ok(input_frame_read(&frame, slot, 0) == 0 && frame.count == INPUT_EVENTS_MAX &&
					frame.first == 1000 - INPUT_EVENTS_MAX,
			"who has seen nothing gets all of them");
	tap_ok(input_frame_read(&frame, slot, 998) == 0 && frame.count == 2 && frame.first == 998 &&
					frame.events[1].code == (INPUT_EVENTS_MAX - 1) % 200 + 1,
			"who has seen most gets the rest");
	tap_ok(input_frame_read(&frame, slot, 1000) == 0 && frame.count == 0,
			"who has seen all gets nothing");
	tap_ok(input_frame_read(&frame, slot, UINT64_MAX) == 0 && frame.count == 0,
			"nor does who has seen more than there is");
}

static void damage(size_t offset, const void *value, size_t size, const char *what) {
	write_frame(3, 3);
	memcpy(slot + offset, value, size);
	tap_ok(input_frame_read(&frame, slot, 0) == -EPROTO, "refused: %s", what);
}

static void test_heads(void) {
	const uint32_t many = INPUT_EVENTS_MAX + 1, five = 5, one = 1, all = UINT32_MAX;
	const uint64_t magic = INPUT_MAGIC + 1, two = 2;
	damage(offsetof(struct input_head, magic), &magic, 8, "another magic");
	damage(offsetof(struct input_head, count), &many, 4, "more events than a frame has");
	damage(offsetof(struct input_head, next), &two, 8, "more events than there were");
	damage(offsetof(struct input_head, devices), &all, 4, "devices that there are not");
	damage(offsetof(struct input_head, keymap), &one, 4, "a keymap without a size");
	damage(offsetof(struct input_head, keymap_size), &five, 4, "a size without a keymap");
	damage(offsetof(struct input_head, held.touches), &all, 4, "fingers that there are not");
	damage(offsetof(struct input_head, held.codes), &one, 1, "key 0");
	damage(offsetof(struct input_head, lease_ms), &five, 4, "a lease that nobody can keep");
	damage(offsetof(struct input_head, lease_ms), &all, 4, "a lease without end");
	damage(offsetof(struct input_head, x), &five, 4, "a place of no pointer");
	damage(offsetof(struct input_head, placed), &five, 4,
			"a pointer that is placed five times");
	damage(offsetof(struct input_head, width), &five, 4, "a picture without a height");
	damage(offsetof(struct input_head, height), &five, 4, "a picture without a width");
	const uint32_t large[2] = {INPUT_SIZE_MAX + 1, 1}, tall[2] = {1, 30000};
	damage(offsetof(struct input_head, width), large, 8, "a picture that is too wide");
	damage(offsetof(struct input_head, width), tall, 8, "a picture that is too high");
	damage(offsetof(struct input_head, scale), &five, 4, "the scale of no window");
	const uint32_t dense[5] = {1, 1, 0, INPUT_SCALE_MAX + 1};
	damage(offsetof(struct input_head, width), dense, 16, "a screen that nobody has");
	damage(offsetof(struct input_head, reserved) + 23 * 4 - 4, &one, 4, "a reserved field");
}

static void refuse_event(struct input_record event, const char *what) {
	event.time = 1;
	tap_ok(!input_record_is_valid(&event), "no event: %s", what);
}

static void test_events(void) {
	refuse_event((struct input_record){0}, "no type");
	refuse_event((struct input_record){.type = INPUT_TYPE_LAST + 1}, "a type of later");
	refuse_event(key(0, 1), "key 0");
	refuse_event(key(272, 1), "a button as a key");
	refuse_event(key(65535, 1), "a key beyond all");
	refuse_event(key(30, 2), "a repeated key");
	refuse_event((struct input_record){.type = INPUT_BUTTON, .code = 30, .value = 1},
			"a key as a button");
	refuse_event((struct input_record){.type = INPUT_MOTION, .x = INPUT_FULL}, "right of it");
	refuse_event((struct input_record){.type = INPUT_MOTION, .y = -1}, "above it");
	refuse_event((struct input_record){.type = INPUT_RELATIVE, .raw_y = INPUT_DISTANCE_MAX + 1},
			"too far");
	refuse_event((struct input_record){.type = INPUT_AXIS, .code = 2}, "a third axis");
	refuse_event((struct input_record){.type = INPUT_AXIS, .value = 5}, "a source of no kind");
	refuse_event((struct input_record){.type = INPUT_TOUCH_DOWN, .code = INPUT_TOUCHES},
			"a finger too many");
	refuse_event((struct input_record){.type = INPUT_TOUCH_UP, .x = 1}, "a place without use");
	refuse_event((struct input_record){.type = INPUT_GROUP_END, .value = 1},
			"a value without use");
	refuse_event((struct input_record){.type = INPUT_PEN_NEAR, .code = 0x14a, .value = 1},
			"a tip as a pen");
	refuse_event((struct input_record){.type = INPUT_PEN_NEAR, .code = 0x145, .value = 1},
			"a finger as a pen");
	refuse_event((struct input_record){.type = INPUT_PEN_BUTTON, .code = 0x140, .value = 1},
			"a pen as its button");
	refuse_event((struct input_record){.type = INPUT_PEN_BUTTON, .code = 0x110, .value = 1},
			"a mouse's button as a pen's");
	refuse_event((struct input_record){.type = INPUT_PEN_MOTION, .value = INPUT_FULL},
			"more pressure than there is");
	refuse_event((struct input_record){.type = INPUT_PEN_MOTION, .value = -1},
			"less pressure than none");
	refuse_event((struct input_record){.type = INPUT_PEN_MOTION, .raw_y = INPUT_TILT_MAX + 1},
			"a pen that leans below the tablet");
	refuse_event((struct input_record){.type = INPUT_PEN_MOTION, .x = INPUT_FULL},
			"a pen right of it");
	struct input_record late = key(30, 1);
	late.time = (uint64_t)INT64_MAX + 1;
	tap_ok(!input_record_is_valid(&late), "no event: a time that is none");
}

static void test_an_event_of_a_frame(void) {
	write_frame(3, 3);
	struct input_record bad = key(30, 7);
	memcpy(slot + sizeof(struct input_head) + 2 * sizeof(bad), &bad, sizeof(bad));
	tap_ok(input_frame_read(&frame, slot, 0) == -EPROTO, "one bad event spoils the frame");
	bad = key(30, 1);
	memcpy(slot + sizeof(struct input_head) + 2 * sizeof(bad), &bad, sizeof(bad));
	tap_ok(input_frame_read(&frame, slot, 0) == 0, "and a good one does not");
}

static void test_keymaps(void) {
	static char text[INPUT_KEYMAP_MAX];
	struct input_head head = {.magic = INPUT_MAGIC,
			.keymap = 1,
			.keymap_size = 7,
			.lease_ms = INPUT_LEASE_DEFAULT_MS};
	input_frame_write(slot, &head, NULL);
	memcpy(slot + INPUT_KEYMAP_OFFSET, "keymap", 7);
	tap_ok(input_frame_read(&frame, slot, 0) == 0 &&
					input_frame_read_keymap(&frame, slot, text) == 0 &&
					strcmp(text, "keymap") == 0,
			"a keymap");
	memcpy(slot + INPUT_KEYMAP_OFFSET, "key\0ap", 7);
	tap_ok(input_frame_read_keymap(&frame, slot, text) == -EPROTO, "one that ends before");
	memcpy(slot + INPUT_KEYMAP_OFFSET, "keymap!", 7);
	tap_ok(input_frame_read_keymap(&frame, slot, text) == -EPROTO, "one without an end");
	head.keymap_size = 1u << 30;
	input_frame_write(slot, &head, NULL);
	tap_ok(input_frame_read(&frame, slot, 0) == -EPROTO, "one of a gigabyte");
	write_frame(0, 0);
	tap_ok(input_frame_read(&frame, slot, 0) == 0 &&
					input_frame_read_keymap(&frame, slot, text) == -ENOENT,
			"none");
}

static void test_names(void) {
	char name[INPUT_NAME_SIZE];
	tap_ok(input_stream_name(name, "desktop") && strcmp(name, "input/desktop") == 0,
			"the stream's name");
	tap_ok(!input_stream_name(
			       name, "a123456789b123456789c123456789d123456789e123456789f1234567"),
			"none that is too long");
}

int main(void) {
	slot = calloc(1, INPUT_SLOT_SIZE); /* no more: valgrind sees what is read beyond */
	test_events_from_a_number_on();
	test_heads();
	test_events();
	test_an_event_of_a_frame();
	test_keymaps();
	test_names();
	free(slot);
	return tap_finish();
}
