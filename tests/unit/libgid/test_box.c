// SPDX-License-Identifier: MIT
/* Turned and mirrored boxes, against a picture of 3x2 pixels as the Wayland protocol turns it. */
#include <gid/stream.h>
#include <string.h>

#include "tap.h"

#define WIDTH 3
#define HEIGHT 2

/*
 * How the buffer
 *     abc
 *     def
 * is seen with each wl_output.transform, rows one after the other: a client that draws for an
 * output turned by 90 degrees counter-clockwise has drawn turned by as much clockwise.
 */
static const char *const seen[] = {
		"abcdef", /* normal */
		"daebfc", /* 90 */
		"fedcba", /* 180 */
		"cfbead", /* 270 */
		"cbafed", /* flipped */
		"adbecf", /* flipped, 90 */
		"defabc", /* flipped, 180 */
		"fcebda", /* flipped, 270 */
};

static bool is_where_it_is_seen(uint32_t transform) {
	int32_t seen_width = transform % 2 == 0 ? WIDTH : HEIGHT;
	for (int32_t i = 0; i < WIDTH * HEIGHT; i++) {
		struct gid_box box = {i % WIDTH, i / WIDTH, 1, 1};
		struct gid_box turned = gid_box_turn(box, WIDTH, HEIGHT, transform);
		if (turned.width != 1 || turned.height != 1 ||
				seen[transform][turned.y * seen_width + turned.x] != 'a' + i) {
			return false;
		}
	}
	return true;
}

static bool comes_back(uint32_t transform) {
	const struct gid_box boxes[] = {
			{0, 0, WIDTH, HEIGHT},
			{1, 0, 2, 1},
			{-5, 7, 1000, 2},
			{INT32_MAX, INT32_MIN, INT32_MAX, 0},
			{0},
	};
	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		struct gid_box turned = gid_box_turn(boxes[i], WIDTH, HEIGHT, transform);
		struct gid_box back = gid_box_turn_back(turned, WIDTH, HEIGHT, transform);
		if (memcmp(&back, &boxes[i], sizeof(back)) != 0) {
			return false;
		}
	}
	return true;
}

static bool is_within(int32_t x, int32_t y, int32_t width, int32_t height) {
	return gid_box_is_within((struct gid_box){x, y, width, height}, WIDTH, HEIGHT);
}

/* The crop, unless it is empty, then all; false where it is not within. */
static bool sees(struct gid_box crop, struct gid_box expected) {
	struct gid_box box;
	return gid_box_get_seen(crop, WIDTH, HEIGHT, &box) &&
			memcmp(&box, &expected, sizeof(box)) == 0;
}

int main(void) {
	for (uint32_t transform = 0; transform < sizeof(seen) / sizeof(seen[0]); transform++) {
		tap_ok(is_where_it_is_seen(transform),
				"transform %u moves pixels where they are seen", transform);
		tap_ok(comes_back(transform), "transform %u is undone", transform);
	}
	tap_ok(is_within(0, 0, WIDTH, HEIGHT) && is_within(0, 0, 0, 0) && is_within(WIDTH, 0, 0, 1),
			"boxes that are within");
	tap_ok(!is_within(-1, 0, 2, 1) && !is_within(0, -1, 1, 2) && !is_within(1, 0, WIDTH, 1) &&
					!is_within(0, 1, 1, HEIGHT) &&
					!is_within(INT32_MAX, 0, INT32_MAX, 1) &&
					!is_within(0, 0, -1, 1) && !is_within(0, 0, 1, -1),
			"boxes that are not");
	const struct gid_box all = {0, 0, WIDTH, HEIGHT}, part = {1, 1, 2, 1};
	tap_ok(sees(part, part), "of a cropped picture the crop is seen");
	tap_ok(sees((struct gid_box){0}, all) && sees((struct gid_box){9, 9, 0, 9}, all) &&
					sees((struct gid_box){9, 9, 9, 0}, all),
			"of one with an empty crop all is seen, wherever the crop lies");
	struct gid_box box;
	tap_ok(!gid_box_get_seen((struct gid_box){1, 0, WIDTH, 1}, WIDTH, HEIGHT, &box) &&
					!gid_box_get_seen((struct gid_box){0, -1, 1, 1}, WIDTH,
							HEIGHT, &box),
			"a crop that leaves the picture is none");
	return tap_finish();
}
