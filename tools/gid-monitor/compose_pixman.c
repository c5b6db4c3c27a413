// SPDX-License-Identifier: MIT
#include <errno.h>
#include <pixman.h>
#include <stdbool.h>

#include "compose.h"

#define BLACK 0xff000000u

/* pixman only reads what is the source. */
static pixman_image_t *image_create(const uint32_t *pixels, uint32_t width, uint32_t height) {
	return pixman_image_create_bits_no_clear(PIXMAN_a8r8g8b8, (int)width, (int)height,
			(uint32_t *)pixels, (int)(width * 4));
}

static bool draw(const struct layer *layer, pixman_image_t *target) {
	pixman_image_t *image = image_create(layer->pixels, layer->width, layer->height);
	if (image == NULL) {
		return false;
	}
	pixman_image_composite32(PIXMAN_OP_OVER, image, NULL, target, 0, 0, 0, 0, layer->x,
			layer->y, (int)layer->width, (int)layer->height);
	pixman_image_unref(image);
	return true;
}

int compose_by_pixman(const struct layer *layers, size_t count, uint32_t *target, uint32_t width,
		uint32_t height) {
	for (size_t i = 0; i < (size_t)width * height; i++) {
		target[i] = BLACK;
	}
	pixman_image_t *image = image_create(target, width, height);
	if (image == NULL) {
		return -ENOMEM;
	}
	bool good = true;
	for (size_t i = 0; i < count && good; i++) {
		good = draw(&layers[i], image);
	}
	pixman_image_unref(image);
	return good ? 0 : -ENOMEM;
}
