// SPDX-License-Identifier: MIT
/**
 * The published form of an input stream: what a frame of it says of the keys, pointers, fingers
 * and pens of one seat. docs/wire-input.md has the same in words.
 *
 * A frame says all that a reader has to know: what is held now, and the last events, numbered. Who
 * missed frames finds the events in the next one, and plays each once. Who missed more than a frame
 * has lets go of what is not held any more.
 *
 * Pure: any bytes are fine. Little-endian, each struct pinned. Times are ns of the sender's
 * CLOCK_MONOTONIC.
 */
#ifndef GID_INPUT_FORMAT_H
#define GID_INPUT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame_form.h"

#define INPUT_MAGIC 0x3174706e69646967ull /* "gidinpt1" */
#define INPUT_EVENTS_MAX 248u		  /* in one frame */
#define INPUT_NAME_SIZE 64u		  /* bytes of a stream's name, with its NUL */
#define INPUT_CODES 768u		  /* of keys and buttons: KEY_MAX + 1 of Linux */
#define INPUT_TOUCHES 16u		  /* fingers at once */
#define INPUT_FULL 65536		  /* the width and the height of the picture */
#define INPUT_KEYMAP_MAX 122880u	  /* bytes of a keymap, with its NUL */
#define INPUT_SIZE_MAX 16384u		  /* of a picture, in pixels: GID_SIZE_MAX */
#define INPUT_SCALE_ONE 120u		  /* a screen whose programs draw each pixel once */
#define INPUT_SCALE_MAX (16 * INPUT_SCALE_ONE)

/* One slot: the head, the events, the keymap. */
#define INPUT_KEYMAP_OFFSET 8192u
#define INPUT_SLOT_SIZE 131072u

/* What a few readers hold, one that is kept for who comes, and one to write. */
#define INPUT_SLOTS 16u
extern const struct frame_form input_form;

/*
 * A sender that holds anything sends INPUT_BEATS frames in a lease, also if nothing happens. A
 * reader that gets none for a lease lets go of everything.
 */
#define INPUT_BEATS 5u
#define INPUT_LEASE_MIN_MS 100u
#define INPUT_LEASE_MAX_MS 10000u
#define INPUT_LEASE_DEFAULT_MS 500u

/* What the seat has: bits of `devices`. */
enum input_devices {
	INPUT_KEYBOARD = 1,
	INPUT_POINTER = 2, /* absolute, relative, or both */
	INPUT_TOUCH = 4,
	INPUT_PEN = 8, /* of a graphics tablet, with its eraser and its like: one at a time */
};

enum input_type {
	INPUT_KEY = 1,	/* code: KEY_* of Linux; value: 1 pressed, 0 released */
	INPUT_BUTTON,	/* code: BTN_* of a pointer; value: the same */
	INPUT_MOTION,	/* x, y: place in the picture as it is seen, 0..INPUT_FULL-1 */
	INPUT_RELATIVE, /* x, y: motion in 256ths of a pixel; raw_x, raw_y: not accelerated */
	/* code: 0 vertical, 1 horizontal; x: 256ths of a pixel, 0: it stops; y: 120ths of a
	 * wheel's step, or 0; value: wl_pointer.axis_source + 1, or 0 */
	INPUT_AXIS,
	INPUT_TOUCH_DOWN,   /* code: the finger, below INPUT_TOUCHES; x, y: as INPUT_MOTION */
	INPUT_TOUCH_MOTION, /* the same */
	INPUT_TOUCH_UP,	    /* code */
	/* What came before belongs together, as wl_pointer.frame and wl_touch.frame say. */
	INPUT_GROUP_END,
	INPUT_PEN_NEAR,	  /* code: BTN_TOOL_* of a pen; value: 1 it comes near, 0 it goes */
	INPUT_PEN_BUTTON, /* code: BTN_TOUCH, its tip, or BTN_STYLUS*; value: 1 pressed, 0 released
			   */
	/* x, y: as INPUT_MOTION; value: its pressure, 0..INPUT_FULL-1; raw_x, raw_y: how far it
	 * leans to the right and towards the user, in 256ths of a degree. Only while it is near. */
	INPUT_PEN_MOTION,
	INPUT_TYPE_LAST = INPUT_PEN_MOTION,
};

#define INPUT_AXES 2u
#define INPUT_AXIS_SOURCES 4	     /* of wl_pointer, without 0: not said */
#define INPUT_DISTANCE_MAX (1 << 24) /* of a relative motion or an axis, either way */
#define INPUT_TILT_MAX (90 * 256)    /* of a pen, either way */

/* An event. Linux has another struct of that name. Fields that its type does not name are 0. */
struct input_record {
	uint64_t time; /* when it was captured, below 2^63 */
	uint16_t type;
	uint16_t code;
	int32_t value;
	int32_t x, y;
	int32_t raw_x, raw_y;
};
_Static_assert(sizeof(struct input_record) == 32, "input record");

/* Which keys and buttons are held, also those of pens, which pen is near, and which fingers are
 * down. */
struct input_held {
	uint8_t codes[INPUT_CODES / 8]; /* bit c % 8 of byte c / 8 */
	uint32_t touches;		/* bit i: finger i */
};

struct input_head {
	uint64_t magic;
	uint64_t next;	  /* the number of the event after the last; they count from 0 */
	uint32_t count;	  /* events in this frame: the last ones */
	uint32_t devices; /* enum input_devices */
	uint32_t keymap;  /* counts keymaps, from 1; 0: there is none */
	uint32_t keymap_size;
	struct input_held held;
	uint32_t placed; /* 1: x and y say where the pointer is, as INPUT_MOTION does */
	int32_t x, y;	 /* else 0 */
	uint32_t lease_ms;
	/* Of the window, in pixels: the picture that fits it. 0 and 0: any is right. */
	uint32_t width, height;
	uint32_t closings;     /* counts how often the user wanted the window to be closed */
	uint32_t scale;	       /* of the window's screen, in 120ths; 0: it is not known */
	uint32_t reserved[23]; /* 0 */
};
_Static_assert(sizeof(struct input_head) == 256, "input head");
_Static_assert(sizeof(struct input_head) + INPUT_EVENTS_MAX * sizeof(struct input_record) ==
				INPUT_KEYMAP_OFFSET,
		"input slot");

static inline bool input_holds(const struct input_held *held, uint32_t code) {
	return held->codes[code / 8] >> code % 8 & 1;
}

static inline void input_hold(struct input_held *held, uint32_t code, bool pressed) {
	uint8_t bit = (uint8_t)(1u << code % 8);
	held->codes[code / 8] = (uint8_t)(pressed ? held->codes[code / 8] | bit
						  : held->codes[code / 8] & ~bit);
}

/* Codes of Linux: of a pointer's buttons, BTN_MOUSE to the last before BTN_JOYSTICK, and KEY_*. */
static inline bool input_code_is_button(uint32_t code) {
	return code >= 0x110 && code < 0x120;
}

static inline bool input_code_is_key(uint32_t code) {
	return (code > 0 && code < 0x100) || (code >= 0x160 && code < 0x2c0);
}

/* BTN_TOOL_PEN, _RUBBER, _BRUSH, _PENCIL and _AIRBRUSH. */
#define INPUT_TOOL_FIRST 0x140u
#define INPUT_TOOL_LAST 0x144u

static inline bool input_code_is_tool(uint32_t code) {
	return code >= INPUT_TOOL_FIRST && code <= INPUT_TOOL_LAST;
}

/* BTN_STYLUS3, BTN_TOUCH, BTN_STYLUS and BTN_STYLUS2. */
#define INPUT_PEN_BUTTON_FIRST 0x149u
#define INPUT_PEN_BUTTON_LAST 0x14cu
#define INPUT_PEN_TIP 0x14au

static inline bool input_code_is_pen_button(uint32_t code) {
	return code >= INPUT_PEN_BUTTON_FIRST && code <= INPUT_PEN_BUTTON_LAST;
}

static inline uint16_t input_code_type(uint32_t code) {
	return input_code_is_button(code)		 ? INPUT_BUTTON
			: input_code_is_tool(code)	 ? INPUT_PEN_NEAR
			: input_code_is_pen_button(code) ? INPUT_PEN_BUTTON
							 : INPUT_KEY;
}

/* The pen that is near; 0: none is. */
static inline uint16_t input_near_tool(const struct input_held *held) {
	uint16_t code = INPUT_TOOL_FIRST;
	while (code <= INPUT_TOOL_LAST && !input_holds(held, code)) {
		code++;
	}
	return code <= INPUT_TOOL_LAST ? code : 0;
}

/* A pen's button and the pointer's that it stands for, each of the other one; 0: there is none, as
 * of the third. */
uint16_t input_pen_twin(uint16_t code);

bool input_holds_nothing(const struct input_held *held);

/*
 * The time of an event of which a device or a compositor tells milliseconds. They begin somewhere:
 * where it is with our clock, as it is on Linux, that is seen; else it happened now.
 */
uint64_t input_time_of_ms(uint32_t ms, uint64_t now);

/*
 * The input stream of who shows the stream `shown`: input/SHOWN. Returns whether a stream can be
 * called so.
 */
bool input_stream_name(char name[INPUT_NAME_SIZE], const char *shown);

/* What was copied out of a frame, and checked. */
struct input_frame {
	struct input_head head;
	uint64_t first; /* the number of events[0] */
	uint32_t count; /* of those below; first + count == head.next */
	struct input_record events[INPUT_EVENTS_MAX];
};

/* Whether the event can be sent: all of its fields are in range. */
bool input_record_is_valid(const struct input_record *event);

/*
 * Copies the head and the events from number `seen` on, and checks the copy. `slot` may change
 * meanwhile, and has INPUT_SLOT_SIZE bytes. Returns 0; -EPROTO: it is no frame of input, and of
 * what was copied nothing may be used.
 */
int input_frame_read(struct input_frame *frame, const void *slot, uint64_t seen);

/*
 * Copies the keymap of a frame that was read. `text` has INPUT_KEYMAP_MAX bytes. Returns 0: it is a
 * text, that ends with a NUL; -ENOENT: there is none; -EPROTO.
 */
int input_frame_read_keymap(const struct input_frame *frame, const void *slot, char *text);

/*
 * Writes a frame with these events, the last ones before number `head->next`, but not the keymap.
 * `head` has everything else.
 */
void input_frame_write(
		void *slot, const struct input_head *head, const struct input_record *events);

#endif
