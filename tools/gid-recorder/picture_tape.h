// SPDX-License-Identifier: MIT
/**
 * The last seconds of a stream in memory: small pictures, and when each frame was sent and came.
 * All of the memory is there from the beginning; what is new takes the place of what is old.
 */
#ifndef RECORDER_PICTURE_TAPE_H
#define RECORDER_PICTURE_TAPE_H

#include <gid/stream.h>

/* Why no picture follows one. */
enum tape_gap {
	TAPE_NO_GAP,
	TAPE_HIDDEN, /* its producer says that nothing is to be shown */
	TAPE_ENDED,  /* its producer says that the flow has ended */
	TAPE_GONE,   /* it has no producer any more */
	TAPE_UNREAD, /* the next ones cannot be read */
};

/* As it is named in recordings. */
const char *tape_gap_name(enum tape_gap gap);

struct tape_picture {
	uint64_t time; /* when it came, CLOCK_MONOTONIC */
	uint64_t sequence;
	uint64_t gap_time; /* when the gap after it began */
	uint16_t width, height;
	uint8_t transform;
	uint8_t gap; /* enum tape_gap: the first one before the next picture */
};

struct tape_frame {
	uint64_t sequence, capture_time, submit_time, receive_time; /* of our clock */
	gid_id gid;
};

struct picture_tape {
	uint32_t width, height; /* of the largest picture */
	uint32_t picture_room, frame_room;
	uint64_t picture_count, frame_count; /* since the beginning */
	struct tape_picture *pictures;
	struct tape_frame *frames;
	uint8_t *pixels;
};

/* The memory that a tape takes, in bytes. */
size_t picture_tape_size(uint32_t width, uint32_t seconds, uint32_t rate);

/* For pictures that are at most `width` pixels wide, of so many seconds. Returns 0 or -ENOMEM. */
int picture_tape_init(struct picture_tape *tape, uint32_t width, uint32_t seconds, uint32_t rate);
void picture_tape_finish(struct picture_tape *tape);

/* Where the pixels of the next picture are to be written. */
uint8_t *picture_tape_room(struct picture_tape *tape);

/* The next picture, whose pixels are there. It may have come before a gap that was added already.
 */
void picture_tape_add(struct picture_tape *tape, const struct tape_picture *picture);
void picture_tape_add_gap(struct picture_tape *tape, enum tape_gap gap, uint64_t time);
void picture_tape_add_frame(struct picture_tape *tape, const struct tape_frame *frame);

/* The oldest that is still there, and those after it up to the count, by their number. */
uint64_t picture_tape_first(const struct picture_tape *tape);
uint64_t picture_tape_first_frame(const struct picture_tape *tape);
const struct tape_picture *picture_tape_get(const struct picture_tape *tape, uint64_t number);
const uint8_t *picture_tape_pixels(const struct picture_tape *tape, uint64_t number);
const struct tape_frame *picture_tape_get_frame(const struct picture_tape *tape, uint64_t number);

#endif
