// SPDX-License-Identifier: MIT
#include "picture_tape.h"

#include <errno.h>
#include <stdlib.h>

#define FRAMES_A_SECOND 125u /* of faster streams the frames of a shorter time are kept */

/* So high that pictures of 4:3 are as wide as they may be; higher ones get narrower. */
static uint32_t height_of(uint32_t width) {
	return width * 3 / 4;
}

static size_t picture_size(uint32_t width) {
	return (size_t)width * height_of(width) * 3;
}

/* The oldest lasts until the second one came; and one is written while all others are there. */
static uint32_t picture_room(uint32_t seconds, uint32_t rate) {
	return seconds * rate + 2;
}

size_t picture_tape_size(uint32_t width, uint32_t seconds, uint32_t rate) {
	return picture_room(seconds, rate) * (picture_size(width) + sizeof(struct tape_picture)) +
			(size_t)seconds * FRAMES_A_SECOND * sizeof(struct tape_frame);
}

int picture_tape_init(struct picture_tape *tape, uint32_t width, uint32_t seconds, uint32_t rate) {
	*tape = (struct picture_tape){
			.width = width,
			.height = height_of(width),
			.picture_room = picture_room(seconds, rate),
			.frame_room = seconds * FRAMES_A_SECOND,
	};
	tape->pictures = calloc(tape->picture_room, sizeof(*tape->pictures));
	tape->frames = calloc(tape->frame_room, sizeof(*tape->frames));
	tape->pixels = calloc(tape->picture_room, picture_size(width));
	if (tape->pictures == NULL || tape->frames == NULL || tape->pixels == NULL) {
		picture_tape_finish(tape);
		return -ENOMEM;
	}
	return 0;
}

const char *tape_gap_name(enum tape_gap gap) {
	static const char *const names[] = {
			[TAPE_NO_GAP] = "",
			[TAPE_HIDDEN] = "hidden",
			[TAPE_ENDED] = "ended",
			[TAPE_GONE] = "gone",
			[TAPE_UNREAD] = "unread",
	};
	return names[gap];
}

void picture_tape_finish(struct picture_tape *tape) {
	free(tape->pictures);
	free(tape->frames);
	free(tape->pixels);
	*tape = (struct picture_tape){0};
}

static uint8_t *pixels_of(const struct picture_tape *tape, uint64_t number) {
	return tape->pixels + number % tape->picture_room * picture_size(tape->width);
}

uint8_t *picture_tape_room(struct picture_tape *tape) {
	return pixels_of(tape, tape->picture_count);
}

void picture_tape_add(struct picture_tape *tape, const struct tape_picture *picture) {
	struct tape_picture *added = &tape->pictures[tape->picture_count % tape->picture_room];
	struct tape_picture *last = NULL;
	if (tape->picture_count > 0) {
		last = &tape->pictures[(tape->picture_count - 1) % tape->picture_room];
	}
	*added = *picture;
	if (last != NULL && last->gap != TAPE_NO_GAP && last->gap_time >= added->time) {
		added->gap = last->gap;
		added->gap_time = last->gap_time;
		last->gap = TAPE_NO_GAP;
	}
	tape->picture_count++;
}

void picture_tape_add_gap(struct picture_tape *tape, enum tape_gap gap, uint64_t time) {
	if (tape->picture_count == 0) {
		return;
	}
	struct tape_picture *last = &tape->pictures[(tape->picture_count - 1) % tape->picture_room];
	if (last->gap == TAPE_NO_GAP) {
		last->gap = (uint8_t)gap;
		last->gap_time = time;
	}
}

void picture_tape_add_frame(struct picture_tape *tape, const struct tape_frame *frame) {
	tape->frames[tape->frame_count++ % tape->frame_room] = *frame;
}

uint64_t picture_tape_first(const struct picture_tape *tape) {
	uint64_t count = tape->picture_count;
	uint64_t kept = tape->picture_room - 1;
	return count > kept ? count - kept : 0;
}

uint64_t picture_tape_first_frame(const struct picture_tape *tape) {
	uint64_t count = tape->frame_count;
	return count > tape->frame_room ? count - tape->frame_room : 0;
}

const struct tape_picture *picture_tape_get(const struct picture_tape *tape, uint64_t number) {
	return &tape->pictures[number % tape->picture_room];
}

const uint8_t *picture_tape_pixels(const struct picture_tape *tape, uint64_t number) {
	return pixels_of(tape, number);
}

const struct tape_frame *picture_tape_get_frame(const struct picture_tape *tape, uint64_t number) {
	return &tape->frames[number % tape->frame_room];
}
