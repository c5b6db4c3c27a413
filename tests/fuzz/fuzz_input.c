// SPDX-License-Identifier: MIT
/*
 * Any bytes as the frames of an input stream, one after the other: who takes it gets only events
 * that are valid, in order, within bounds, and no key stays pressed.
 */
#include <stdlib.h>
#include <string.h>

#include "../../common/input/input_player.h"
#include "fuzz.h"

#define FRAME_BYTES (sizeof(struct input_head) + 8 * sizeof(struct input_record))
#define MS 1000000ull

static struct {
	bool pens; /* are known */
	struct input_held held;
	uint64_t latest, now;
	uint32_t played; /* that cost something */
	uint32_t frames, closings;
} seen;

/* One at a time; only while it is near has it a place and buttons. */
static void handle_pen(const struct input_record *event) {
	bool is_near = input_near_tool(&seen.held) != 0;
	if (event->type == INPUT_PEN_NEAR) {
		demand(is_near == (event->value == 0));
	}
	for (uint32_t code = INPUT_PEN_BUTTON_FIRST; code <= INPUT_PEN_BUTTON_LAST; code++) {
		demand(event->type != INPUT_PEN_NEAR || !input_holds(&seen.held, code));
	}
	demand(is_near || (event->type != INPUT_PEN_BUTTON && event->type != INPUT_PEN_MOTION));
}

static void handle_event(void *data, const struct input_record *event) {
	demand(input_record_is_valid(event));
	demand(event->time >= seen.latest && event->time <= seen.now);
	seen.latest = event->time;
	uint32_t bit = 1u << event->code % 32;
	bool is_pens = event->type >= INPUT_PEN_NEAR && event->type <= INPUT_PEN_MOTION;
	bool is_switch = event->type == INPUT_KEY || event->type == INPUT_BUTTON ||
			event->type == INPUT_PEN_NEAR || event->type == INPUT_PEN_BUTTON;
	demand(!is_pens || seen.pens);
	handle_pen(event);
	if (is_switch) {
		demand(input_holds(&seen.held, event->code) != (event->value != 0));
		input_hold(&seen.held, event->code, event->value != 0);
	} else if (event->type == INPUT_TOUCH_DOWN) {
		demand((seen.held.touches & bit) == 0);
		seen.held.touches |= bit;
	} else if (event->type == INPUT_TOUCH_UP || event->type == INPUT_TOUCH_MOTION) {
		demand((seen.held.touches & bit) != 0);
		seen.held.touches &= event->type == INPUT_TOUCH_UP ? ~bit : UINT32_MAX;
	}
	bool is_free = event->type == INPUT_GROUP_END || event->type == INPUT_TOUCH_UP ||
			(is_switch && event->value == 0);
	seen.played += is_free ? 0 : 1;
}

static void handle_devices(void *data, uint32_t devices) {
	demand(devices <= (seen.pens ? 15 : 7));
}

static void handle_size(void *data, uint32_t width, uint32_t height, uint32_t scale) {
	demand(scale <= INPUT_SCALE_MAX);
	demand(width > 0 && width <= INPUT_SIZE_MAX && height > 0 && height <= INPUT_SIZE_MAX);
}

static void handle_close(void *data) {
	demand(seen.closings++ < seen.frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct input_sink sink = {.event = handle_event,
			.devices = handle_devices,
			.size = handle_size,
			.close = handle_close};
	static struct input_frame frame;
	static struct input_player player;
	static char text[INPUT_KEYMAP_MAX];
	uint8_t *slot = calloc(1, INPUT_SLOT_SIZE);
	demand(slot != NULL);
	memset(&seen, 0, sizeof(seen));
	seen.now = 1000 * MS;
	seen.pens = sink.pens = size > 0 && data[size - 1] % 2 != 0;
	input_player_init(&player, &sink, NULL, seen.now);
	while (size > 2) {
		size_t part = size - 2 < FRAME_BYTES ? size - 2 : FRAME_BYTES;
		memcpy(slot, data + 2, part);
		memcpy(slot, &(uint64_t){INPUT_MAGIC}, 8);
		memcpy(slot + offsetof(struct input_head, lease_ms), &(uint32_t){data[0] * 50}, 4);
		seen.now += data[0] * MS;
		if (data[1] == 0) {
			input_player_begin(&player, seen.now);
		}
		if (input_frame_read(&frame, slot, player.next) == 0) {
			seen.frames++;
			demand(frame.first + frame.count == frame.head.next);
			input_player_play(&player, &frame, (int64_t)data[1] - 128, seen.now);
			if (input_frame_read_keymap(&frame, slot, text) == 0) {
				demand(strlen(text) == frame.head.keymap_size - 1);
			}
		}
		input_player_expire(&player, seen.now);
		data += 2 + part;
		size -= 2 + part;
	}
	uint64_t before = seen.now;
	demand(seen.played <= INPUT_BURST + (seen.now / MS - 1000) * INPUT_RATE / 1000 + 1);
	if (input_player_deadline(&player) != UINT64_MAX) {
		seen.now = input_player_deadline(&player);
		demand(seen.now <= before + INPUT_LEASE_MAX_MS * MS);
	}
	input_player_expire(&player, seen.now);
	demand(input_holds_nothing(&seen.held));
	free(slot);
	return 0;
}
