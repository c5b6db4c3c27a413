// SPDX-License-Identifier: MIT
/* Pictures that what is learned has to be like: which PNGs have them, and what is near to them. */
#include "cluster/pictures/likeness.h"

#include <cairo.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

#define WIDTH 4
#define HEIGHT 3
#define COLOUR 0xff204060u

static const char file[] = "sheet.png";

/* All of it has that colour; where it can be, half of it is seen through. */
static bool write_png(cairo_format_t format, int width, int height) {
	cairo_surface_t *surface = cairo_image_surface_create(format, width, height);
	cairo_t *cairo = cairo_create(surface);
	cairo_set_source_rgb(cairo, 0x20 / 255.0, 0x40 / 255.0, 0x60 / 255.0);
	cairo_paint_with_alpha(cairo, format == CAIRO_FORMAT_ARGB32 ? 0.5 : 1);
	cairo_destroy(cairo);
	bool written = cairo_surface_write_to_png(surface, file) == CAIRO_STATUS_SUCCESS;
	cairo_surface_destroy(surface);
	return written;
}

static int read_png(void) {
	struct likeness likeness;
	int error = likeness_read(&likeness, file, WIDTH, HEIGHT, 0);
	likeness_finish(&likeness);
	return error;
}

static void test_files(void) {
	static const struct {
		cairo_format_t format;
		int width, height, error;
	} cases[] = {
			{CAIRO_FORMAT_RGB24, WIDTH, HEIGHT, 0},
			{CAIRO_FORMAT_ARGB32, WIDTH, 2 * HEIGHT, 0},
			{CAIRO_FORMAT_RGB96F, WIDTH, HEIGHT, 0}, /* 16 bits a colour, in the file */
			{CAIRO_FORMAT_RGBA128F, WIDTH, 2 * HEIGHT, 0},
			{CAIRO_FORMAT_RGB24, WIDTH + 1, HEIGHT, -EINVAL},
			{CAIRO_FORMAT_RGB24, WIDTH, HEIGHT + 1, -EINVAL},
	};
	tap_ok(read_png() == -EINVAL, "no file");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tap_ok(write_png(cases[i].format, cases[i].width, cases[i].height) &&
						read_png() == cases[i].error,
				"format %d, %dx%d: %d", cases[i].format, cases[i].width,
				cases[i].height, cases[i].error);
	}
}

static bool is_like(const struct likeness *likeness, uint32_t colour) {
	uint32_t picture[HEIGHT][WIDTH];
	for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
		picture[i / WIDTH][i % WIDTH] = COLOUR;
	}
	picture[HEIGHT - 1][WIDTH - 1] = colour;
	const struct pixels pixels = {picture, WIDTH, HEIGHT, sizeof(picture[0])};
	return likeness_has(likeness, &pixels);
}

static void test_tolerance(cairo_format_t format) {
	struct likeness likeness;
	bool read = write_png(format, WIDTH, 2 * HEIGHT) &&
			likeness_read(&likeness, file, WIDTH, HEIGHT, 2) == 0;
	if (!tap_ok(read && likeness.count == 2, "two pictures below each other, format %d",
			    format)) {
		return;
	}
	tap_ok(is_like(&likeness, COLOUR & 0x00ffffffu), "what no eye sees does not count");
	tap_ok(is_like(&likeness, COLOUR + 0x020002u) && is_like(&likeness, COLOUR - 0x000200u),
			"nor what is as near as it may be");
	tap_ok(!is_like(&likeness, COLOUR + 0x030000u) && !is_like(&likeness, COLOUR - 3),
			"one pixel that is not so near does");
	likeness_finish(&likeness);
}

static void test_without(void) {
	struct likeness any = {0};
	tap_ok(is_like(&any, 0), "without a PNG all are like it");
}

int main(void) {
	char folder[] = "/tmp/gid-likeness-XXXXXX";
	if (!tap_ok(mkdtemp(folder) != NULL && chdir(folder) == 0, "a folder")) {
		return tap_finish();
	}
	test_files();
	test_without();
	test_tolerance(CAIRO_FORMAT_RGB24);
	test_tolerance(CAIRO_FORMAT_RGB96F);
	unlink(file);
	rmdir(folder);
	return tap_finish();
}
