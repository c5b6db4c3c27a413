// SPDX-License-Identifier: MIT
/**
 * Plays the frames of an input stream for a sink: each event once, in order, at a bounded rate, and
 * nothing stays pressed. Pure: times are ns of our CLOCK_MONOTONIC.
 *
 * The sender is not trusted: the constants below bound what it can do. Releases have no bound of
 * their own, as there are never more of them than of presses.
 */
#ifndef GID_INPUT_PLAYER_H
#define GID_INPUT_PLAYER_H

#include "input_format.h"

#define INPUT_RATE 4000u /* events a second, after INPUT_BURST at once; the rest is dropped */
#define INPUT_BURST 1000u
#define INPUT_HELD_MAX 32u   /* keys and buttons at once */
#define INPUT_KEYMAP_MS 200u /* between keymaps, after INPUT_KEYMAPS at once */
#define INPUT_KEYMAPS 5u
#define INPUT_GONE_MS                                                                              \
	1000u /* until a device that a sender has no more is gone: it may come back                \
	       */

/* Takes the input. */
struct input_sink {
	/*
	 * It knows pens; for other sinks a pen is the pointer, and its tip and buttons are the
	 * pointer's.
	 */
	bool pens;
	/*
	 * An event that changes something. Its time is of our clock, not in the future, and never
	 * goes back.
	 */
	void (*event)(void *data, const struct input_record *event);
	/*
	 * The sender has these devices now: bits of enum input_devices. Nothing is held on a device
	 * that is gone.
	 */
	void (*devices)(void *data, uint32_t devices);
	/*
	 * The sender's window has another size: it asks for a picture of so many pixels, each
	 * 1..INPUT_SIZE_MAX. Its screen has that scale, in 120ths; 0: unknown. As often as the
	 * sender likes. May be NULL.
	 */
	void (*size)(void *data, uint32_t width, uint32_t height, uint32_t scale);
	/*
	 * The user asked for the window to be closed, once or more often since the last frame. As
	 * often as the sender likes. May be NULL.
	 */
	void (*close)(void *data);
};

struct input_player {
	const struct input_sink *sink;
	void *data;
	bool begun;	    /* a frame of this sender was played */
	uint64_t since;	    /* nothing older is played */
	uint64_t next;	    /* the number of the event that is played next */
	uint64_t last_time; /* of an event */
	uint64_t lease_ns;  /* of the frame that was played last */
	uint64_t lease_end; /* when all that is held is released */
	struct input_held held;
	uint32_t held_count;	/* keys and buttons, and the pen that is near */
	uint16_t tool;		/* that is near as the sender's frame says; 0: none */
	uint32_t devices;	/* that the sink was told of */
	uint32_t kept;		/* of those, that the sender had last */
	uint64_t gone_time;	/* when the others are gone; UINT64_MAX: there are none */
	uint32_t width, height; /* as the sender said last */
	uint32_t scale;		/* the same */
	uint32_t closings;	/* the same */
	uint32_t keymap;	/* that the sink has: the sender's count; 0: none */
	uint64_t keymap_time;	/* until when others were paid for */
	uint32_t tokens;	/* events that may be played now */
	uint64_t token_time;	/* when they were counted */
	struct {
		uint64_t played;
		uint64_t missed;  /* that no frame had any more */
		uint64_t refused; /* beyond the bounds */
		uint64_t expired; /* times that a lease ran out */
	} stats;
};

void input_player_init(struct input_player *player, const struct input_sink *sink, void *data,
		uint64_t now);

/*
 * A sender begins, another one or the same again: releases what is held. Nothing that happened
 * before `now` is played.
 */
void input_player_begin(struct input_player *player, uint64_t now);

/*
 * Returns whether the sink is to get this keymap of the sender (input_head.keymap): it costs the
 * sink a compilation. One that comes too soon is asked for again with the next frame; until then
 * keys mean what they did.
 */
bool input_player_wants_keymap(const struct input_player *player, uint32_t keymap, uint64_t now);

/* The sink gets it. */
void input_player_take_keymap(struct input_player *player, uint32_t keymap, uint64_t now);

/*
 * Plays the new events of a frame, which input_frame_read() has read from number `next` on.
 * `clock_offset` is added to their times. Sends INPUT_GROUP_END after what it releases by itself.
 */
void input_player_play(struct input_player *player, const struct input_frame *frame,
		int64_t clock_offset, uint64_t now);

/* Releases all that is held. */
void input_player_release(struct input_player *player, uint64_t now);

/* When input_player_expire() has something to do; UINT64_MAX: never. */
uint64_t input_player_deadline(const struct input_player *player);

/*
 * Releases all that is held if the sender was silent for a lease. If this call itself comes late,
 * the whole machine may have stood still: then the sender gets another lease. Also reports devices
 * that are gone.
 */
void input_player_expire(struct input_player *player, uint64_t now);

#endif
