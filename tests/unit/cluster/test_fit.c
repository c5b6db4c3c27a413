// SPDX-License-Identifier: MIT
/* Where pictures of other sizes are put, and that all of the place is drawn, and nothing beside it.
 */
#include "cluster/base/pixels.h"

#include <errno.h>
#include <pixman.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define BLACK 0xff000000u
#define GUARD 0xa5a5a5a5u

static void test_places(void) {
	static const struct {
		enum fit fit;
		uint32_t width, height, place_width, place_height;
		struct gid_box box;
	} cases[] = {
			{FIT_CONTAIN, 1920, 1080, 640, 480, {0, 60, 640, 360}},
			{FIT_CONTAIN, 100, 200, 640, 480, {200, 0, 240, 480}},
			{FIT_COVER, 1920, 1080, 640, 480, {-106, 0, 853, 480}},
			{FIT_COVER, 100, 200, 640, 480, {0, -400, 640, 1280}},
			{FIT_FILL, 3, 5, 640, 480, {0, 0, 640, 480}},
			{FIT_NONE, 100, 50, 640, 480, {270, 215, 100, 50}},
			{FIT_NONE, 1000, 500, 640, 480, {-180, -10, 1000, 500}},
			{FIT_CONTAIN, 16384, 1, 10, 10, {0, 4, 10, 1}},
			{FIT_COVER, 16384, 1, 10, 10, {-81915, 0, 163840, 10}},
			{FIT_CONTAIN, 640, 480, 640, 480, {0, 0, 640, 480}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gid_box box = fit_place(cases[i].fit, cases[i].width, cases[i].height,
				cases[i].place_width, cases[i].place_height);
		tap_ok(memcmp(&box, &cases[i].box, sizeof(box)) == 0,
				"fit %d: %ux%u in %ux%u: %d %d %dx%d", cases[i].fit, cases[i].width,
				cases[i].height, cases[i].place_width, cases[i].place_height, box.x,
				box.y, box.width, box.height);
	}
}

/* Of pictures of one colour each pixel is known, scaled or not: that colour or black. */
static void test_draws(void) {
	static const uint32_t sizes[] = {1, 2, 7, 40, 41, 301};
	const uint32_t width = 40, height = 30, colour = 0x00123456u;
	uint32_t *memory = malloc((width * height + 64) * 4);
	uint32_t *picture = malloc(301 * 301 * 4);
	unsigned wrong = 0, gaps = 0, outside = 0;
	for (size_t i = 0; i < 301 * 301; i++) {
		picture[i] = colour;
	}
	for (int fit = 0; fit < FIT_EXACT; fit++) {
		for (size_t i = 0; i < 36; i++) {
			struct pixels pixels = {picture, sizes[i % 6], sizes[i / 6], 301 * 4};
			memset(memory, 0xa5, (width * height + 64) * 4);
			wrong += fit_draw((enum fit)fit, &pixels, memory + 32, width, height) != 0;
			struct gid_box at = fit_place(
					(enum fit)fit, pixels.width, pixels.height, width, height);
			for (uint32_t y = 0; y < height; y++) {
				for (uint32_t x = 0; x < width; x++) {
					bool in = (int32_t)x >= at.x && (int32_t)y >= at.y &&
							(int32_t)x < at.x + at.width &&
							(int32_t)y < at.y + at.height;
					uint32_t pixel = memory[32 + y * width + x];
					gaps += pixel != (in ? colour | BLACK : BLACK);
				}
			}
			for (uint32_t j = 0; j < 32; j++) {
				outside += memory[j] != GUARD;
				outside += memory[32 + width * height + j] != GUARD;
			}
		}
	}
	tap_ok(wrong == 0, "all are drawn");
	tap_ok(gaps == 0, "each pixel is the picture's or black (%u)", gaps);
	tap_ok(outside == 0, "nothing is drawn outside (%u)", outside);
	free(picture);
	free(memory);
}

/* As narrow as a picture can be, in a place of a display's size: all of that is drawn. */
static void test_narrow(void) {
	static const struct {
		uint32_t width, height;
	} sizes[] = {{GID_SIZE_MAX, 1}, {1, GID_SIZE_MAX}, {GID_SIZE_MAX, 3},
			{5, GID_SIZE_MAX - 1}};
	const uint32_t width = 1600, height = 700, colour = 0x00654321u;
	size_t pixels_max = (size_t)5 * GID_SIZE_MAX;
	uint32_t *picture = malloc(pixels_max * 4), *place = malloc(width * height * 4);
	for (size_t i = 0; i < pixels_max; i++) {
		picture[i] = colour;
	}
	for (int fit = 0; fit < FIT_EXACT; fit++) {
		unsigned undrawn = 0;
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct pixels pixels = {picture, sizes[i].width, sizes[i].height,
					(size_t)sizes[i].width * 4};
			memset(place, 0xa5, width * height * 4);
			fit_draw((enum fit)fit, &pixels, place, width, height);
			for (size_t j = 0; j < width * height; j++) {
				undrawn += place[j] != BLACK && place[j] != (colour | BLACK);
			}
			const struct gid_box at = fit_place(
					(enum fit)fit, pixels.width, pixels.height, width, height);
			const int32_t x = at.x + at.width / 2, y = at.y + at.height / 2;
			undrawn += place[y * (int32_t)width + x] != (colour | BLACK);
		}
		tap_ok(undrawn == 0, "fit %d: narrow pictures (%u)", fit, undrawn);
	}
	free(place);
	free(picture);
}

/* Each corner of the picture is in its corner of the place. */
static void test_corners(void) {
	const uint32_t picture[2][2] = {{0x00ff0000u, 0x0000ff00u}, {0x000000ffu, 0x00ffffffu}};
	struct pixels pixels = {picture, 2, 2, sizeof(picture[0])};
	uint32_t place[8][8];
	fit_draw(FIT_FILL, &pixels, place[0], 8, 8);
	tap_ok(place[0][0] == 0xffff0000u && place[0][7] == 0xff00ff00u &&
					place[7][0] == 0xff0000ffu && place[7][7] == 0xffffffffu,
			"a picture is scaled as it stands");
}

static unsigned calls, refused; /* an image that cannot be made, by its number; 0: none */

pixman_image_t *__real_pixman_image_create_bits_no_clear(
		pixman_format_code_t format, int width, int height, uint32_t *bits, int stride);
pixman_image_t *__wrap_pixman_image_create_bits_no_clear(
		pixman_format_code_t format, int width, int height, uint32_t *bits, int stride);
pixman_image_t *__wrap_pixman_image_create_bits_no_clear(
		pixman_format_code_t format, int width, int height, uint32_t *bits, int stride) {
	return ++calls == refused ? NULL
				  : __real_pixman_image_create_bits_no_clear(
						    format, width, height, bits, stride);
}

static void test_no_memory(void) {
	const uint32_t picture[2] = {1, 2};
	struct pixels pixels = {picture, 2, 1, sizeof(picture)};
	uint32_t place[16] = {0};
	for (refused = 1; refused <= 2; refused++) {
		calls = 0;
		tap_ok(fit_draw(FIT_FILL, &pixels, place, 4, 4) == -ENOMEM && place[0] == 0,
				"nothing is drawn where image %u has no memory", refused);
	}
	refused = 0;
}

int main(void) {
	test_no_memory();
	test_places();
	test_draws();
	test_narrow();
	test_corners();
	return tap_finish();
}
