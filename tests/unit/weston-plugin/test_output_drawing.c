// SPDX-License-Identifier: MIT
/* What Weston's renderer draws into a target, by its calls of pixman, which this test makes. */
#include "weston-plugin/output_drawing.h"

#include <libweston/libweston.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"
#include "weston-plugin/library_call.h"

#define SIDE 8
#define OLD 0x00123456u	  /* what a target had before */
#define RED 0xffff0000u	  /* of a window */
#define FAINT 0x40004000u /* a quarter of green */

/* --- in place of Weston and of what is beside ------------------------------------------------- */

static void (*set_clip)(pixman_image_t *image, pixman_region32_t *region);
static void (*composite)(pixman_op_t op, pixman_image_t *from, pixman_image_t *mask,
		pixman_image_t *into, int32_t from_x, int32_t from_y, int32_t mask_x,
		int32_t mask_y, int32_t into_x, int32_t into_y, int32_t width, int32_t height);
static unsigned fills;

int weston_log(const char *format, ...) {
	return 0;
}

int library_call_replace(library_function of, const char *name, library_function replacement) {
	if (strcmp(name, "pixman_image_composite32") == 0) {
		memcpy(&composite, &replacement, sizeof(composite));
	} else {
		memcpy(&set_clip, &replacement, sizeof(set_clip));
	}
	return 0;
}

bool capture_part_keep(pixman_image_t *from, pixman_image_t *into) {
	return false;
}

bool capture_target_make_image(struct capture_target *target, pixman_format_code_t format) {
	return target->image != NULL;
}

bool capture_target_is_intact(const struct capture_target *target) {
	return true;
}

pixman_bool_t __real_pixman_image_fill_boxes(pixman_op_t op, pixman_image_t *into,
		const pixman_color_t *color, int count, const pixman_box32_t *boxes);

pixman_bool_t __wrap_pixman_image_fill_boxes(pixman_op_t op, pixman_image_t *into,
		const pixman_color_t *color, int count, const pixman_box32_t *boxes);

pixman_bool_t __wrap_pixman_image_fill_boxes(pixman_op_t op, pixman_image_t *into,
		const pixman_color_t *color, int count, const pixman_box32_t *boxes) {
	fills++;
	return __real_pixman_image_fill_boxes(op, into, color, count, boxes);
}

/* --- an output -------------------------------------------------------------------------------- */

static uint32_t own[SIDE * SIDE], shown[SIDE * SIDE], target_pixels[SIDE * SIDE],
		window_pixels[SIDE * SIDE];

static pixman_image_t *make_image(pixman_format_code_t format, uint32_t *pixels) {
	return pixman_image_create_bits(format, SIDE, SIDE, pixels, SIDE * 4);
}

static void fill(uint32_t *pixels, uint32_t value) {
	for (size_t i = 0; i < SIDE * SIDE; i++) {
		pixels[i] = value;
	}
}

static struct output_drawing drawing;
static struct capture_target target;
static pixman_image_t *own_image, *shown_image;

/* As Weston's first captured repaint does: it copies what it drew, and captures the copy. */
static void init(void) {
	own_image = make_image(PIXMAN_x8r8g8b8, own);
	shown_image = make_image(PIXMAN_x8r8g8b8, shown);
	target.image = make_image(PIXMAN_x8r8g8b8, target_pixels);
	output_drawing_guard();
	output_drawing_init(&drawing);
	composite(PIXMAN_OP_SRC, own_image, NULL, shown_image, 0, 0, 0, 0, 0, 0, SIDE, SIDE);
	const struct capture_part part = {.from = shown_image, .into = target.image};
	output_drawing_learn(&drawing, &part);
}

static void finish(void) {
	output_drawing_finish(&drawing);
	pixman_image_unref(own_image);
	pixman_image_unref(shown_image);
	pixman_image_unref(target.image);
}

/* All of a window of this colour, as far as this part of the output lets it be seen. */
static void draw(pixman_format_code_t format, uint32_t colour, pixman_op_t op, int32_t x,
		int32_t width) {
	pixman_region32_t clip;
	pixman_region32_init_rect(&clip, x, 0, (unsigned int)width, SIDE);
	fill(window_pixels, colour);
	pixman_image_t *window = make_image(format, window_pixels);
	set_clip(own_image, &clip);
	composite(op, window, NULL, own_image, 0, 0, 0, 0, 0, 0, SIDE, SIDE);
	set_clip(own_image, NULL);
	pixman_image_unref(window);
	pixman_region32_fini(&clip);
}

static void begin(void) {
	fills = 0;
	fill(target_pixels, OLD);
	output_drawing_begin(&drawing, &target);
}

static bool end(void) {
	return output_drawing_end(&drawing, (struct gid_box){0, 0, SIDE, SIDE}, true);
}

/* Colours without alpha, in the left and right halves. */
static bool is_seen(uint32_t left, uint32_t right) {
	const uint32_t *last = &target_pixels[SIDE * SIDE - 1];
	return (target_pixels[0] & 0xffffff) == left && (*last & 0xffffff) == right;
}

int main(void) {
	init();
	begin();
	draw(PIXMAN_x8r8g8b8, RED, PIXMAN_OP_OVER, 0, SIDE);
	tap_ok(end() && is_seen(0xff0000, 0xff0000) && fills == 0,
			"a window that could be seen through, and is alone, is drawn at once");
	begin();
	draw(PIXMAN_a8r8g8b8, FAINT, PIXMAN_OP_OVER, 0, SIDE);
	tap_ok(end() && is_seen(0x004000, 0x004000) && fills == 0,
			"so is one that is seen through: over black");
	begin();
	draw(PIXMAN_x8r8g8b8, RED, PIXMAN_OP_SRC, 0, SIDE / 2);
	draw(PIXMAN_a8r8g8b8, FAINT, PIXMAN_OP_OVER, 0, SIDE);
	tap_ok(end() && is_seen(0xbf4000, 0x004000) && fills == 1,
			"one that is half over another is over black beside that");
	begin();
	draw(PIXMAN_a8r8g8b8, FAINT, PIXMAN_OP_OVER, 0, SIDE);
	draw(PIXMAN_a8r8g8b8, FAINT, PIXMAN_OP_OVER, SIDE / 2, SIDE / 2);
	tap_ok(end() && is_seen(0x004000, 0x007000) && fills == 0,
			"two over each other are both seen");
	finish();
	return tap_finish();
}
