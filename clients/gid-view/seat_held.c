// SPDX-License-Identifier: MIT
#include "seat_held.h"

void seat_held_join(struct input_held *held, const struct input_held *more) {
	for (uint32_t i = 0; i < sizeof(held->codes); i++) {
		held->codes[i] |= more->codes[i];
	}
	held->touches |= more->touches;
}

void seat_held_leave(struct input_held *held, const struct input_held *others) {
	for (uint32_t i = 0; i < sizeof(held->codes); i++) {
		held->codes[i] &= (uint8_t)~others->codes[i];
	}
	held->touches &= ~others->touches;
}

static bool note_switch(struct input_held *held, const struct input_held *others, uint32_t code,
		bool pressed) {
	bool held_here = input_holds(held, code);
	input_hold(held, code, pressed);
	return pressed || (held_here && !input_holds(others, code));
}

static bool note_near(struct input_held *held, const struct input_held *others, uint32_t code,
		bool near) {
	if (near && input_near_tool(others) != 0) {
		return false;
	}
	for (uint32_t i = INPUT_PEN_BUTTON_FIRST; i <= INPUT_PEN_BUTTON_LAST; i++) {
		input_hold(held, i, false); // a pen that goes lets go
	}
	return note_switch(held, others, code, near);
}

bool seat_held_note(struct input_held *held, const struct input_held *others,
		const struct input_record *event) {
	bool pressed = event->value != 0, is_near = input_near_tool(held) != 0;
	if (!input_record_is_valid(event)) {
		return false;
	}
	switch (event->type) {
	case INPUT_KEY:
	case INPUT_BUTTON:
		return note_switch(held, others, event->code, pressed);
	case INPUT_PEN_NEAR:
		return note_near(held, others, event->code, pressed);
	case INPUT_PEN_BUTTON:
		return is_near && note_switch(held, others, event->code, pressed);
	case INPUT_PEN_MOTION:
		return is_near;
	case INPUT_TOUCH_DOWN:
		held->touches |= 1u << event->code;
		return true;
	case INPUT_TOUCH_UP:
		held->touches &= ~(1u << event->code);
		return true;
	default:
		return true;
	}
}
