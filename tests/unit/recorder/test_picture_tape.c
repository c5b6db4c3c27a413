// SPDX-License-Identifier: MIT
/* The last pictures and frames of a stream, and why none came. */
#include "picture_tape.h"

#include <string.h>

#include "tap.h"

#define WIDTH 16u
#define SECONDS 3u
#define RATE 4u

static void add(struct picture_tape *tape, uint64_t number) {
	const struct tape_picture picture = {
			.time = number * 100, .sequence = number, .width = 4, .height = 2};
	memset(picture_tape_room(tape), (int)number, 4 * 2 * 3);
	picture_tape_add(tape, &picture);
}

static void test_pictures(void) {
	struct picture_tape tape;
	bool all_right = true;
	tap_ok(picture_tape_init(&tape, WIDTH, SECONDS, RATE) == 0, "a tape");
	tap_ok(tape.height == 12, "pictures of 4:3 fit");
	for (uint64_t i = 0; i < 100; i++) {
		add(&tape, i);
		/* While the next one is written, all that are kept stay as they were. */
		memset(picture_tape_room(&tape), 0xff, WIDTH * 12 * 3);
		for (uint64_t k = picture_tape_first(&tape); k < tape.picture_count; k++) {
			all_right = all_right && picture_tape_get(&tape, k)->sequence == k &&
					picture_tape_pixels(&tape, k)[23] == k;
		}
	}
	tap_ok(all_right, "each picture has its pixels as long as it is kept");
	tap_ok(tape.picture_count - picture_tape_first(&tape) == SECONDS * RATE + 1,
			"those of all the time are kept, and the one before");
	picture_tape_finish(&tape);
}

static void test_gaps(void) {
	struct picture_tape tape;
	picture_tape_init(&tape, WIDTH, SECONDS, RATE);
	picture_tape_add_gap(&tape, TAPE_GONE, 1);
	tap_ok(tape.picture_count == 0, "before the first picture there is no gap");
	add(&tape, 0);
	for (uint64_t i = 0; i < 1000; i++) {
		picture_tape_add_gap(&tape, i % 2 == 0 ? TAPE_ENDED : TAPE_HIDDEN, 50 + i);
	}
	const struct tape_picture *picture = picture_tape_get(&tape, 0);
	tap_ok(tape.picture_count == 1 && picture->gap == TAPE_ENDED && picture->gap_time == 50,
			"however often nothing came, it is one gap, from its beginning on");
	add(&tape, 1);
	tap_ok(picture_tape_get(&tape, 1)->gap == TAPE_NO_GAP, "the next picture has none");
	picture_tape_add_gap(&tape, TAPE_GONE, 300);
	add(&tape, 2);
	tap_ok(picture_tape_get(&tape, 1)->gap == TAPE_NO_GAP &&
					picture_tape_get(&tape, 2)->gap == TAPE_GONE,
			"a picture of a frame that came before a gap takes its place");
	tap_ok(strcmp(tape_gap_name(TAPE_ENDED), "ended") == 0, "it has a name");
	picture_tape_finish(&tape);
}

static void test_frames(void) {
	struct picture_tape tape;
	picture_tape_init(&tape, WIDTH, SECONDS, RATE);
	for (uint64_t i = 0; i < 10000; i++) {
		const struct tape_frame frame = {.sequence = i};
		picture_tape_add_frame(&tape, &frame);
	}
	uint64_t first = picture_tape_first_frame(&tape);
	tap_ok(tape.frame_count - first == SECONDS * 125, "as many frames as there is room for");
	tap_ok(picture_tape_get_frame(&tape, first)->sequence == first &&
					picture_tape_get_frame(&tape, 9999)->sequence == 9999,
			"the last ones");
	picture_tape_finish(&tape);
}

static void test_size(void) {
	size_t pixels = (size_t)(SECONDS * RATE + 2) * WIDTH * 12 * 3;
	size_t size = picture_tape_size(WIDTH, SECONDS, RATE);
	tap_ok(size > pixels + SECONDS * 125 * sizeof(struct tape_frame),
			"its size has all that it allocates");
}

int main(void) {
	test_pictures();
	test_gaps();
	test_frames();
	test_size();
	return tap_finish();
}
