// SPDX-License-Identifier: MIT
#include "likeness.h"

#include <cairo.h>
#include <errno.h>
#include <stdlib.h>

/*
 * Converts to 8 bits a colour, the format of frames. A PNG may have 16 bits or transparency, which
 * is drawn on black, as gid-telltale does.
 */
static cairo_status_t flatten(cairo_surface_t *png, cairo_surface_t **flat) {
	*flat = cairo_image_surface_create(CAIRO_FORMAT_RGB24, cairo_image_surface_get_width(png),
			cairo_image_surface_get_height(png));
	cairo_t *cairo = cairo_create(*flat);
	cairo_set_source_surface(cairo, png, 0, 0);
	cairo_paint(cairo);
	cairo_status_t status = cairo_status(cairo); /* includes the status of the PNG */
	cairo_destroy(cairo);
	cairo_surface_flush(*flat);
	return status;
}

int likeness_read(struct likeness *likeness, const char *png, uint32_t width, uint32_t height,
		uint32_t tolerance) {
	cairo_surface_t *read = cairo_image_surface_create_from_png(png), *surface;
	cairo_status_t status = flatten(read, &surface);
	cairo_surface_destroy(read);
	*likeness = (struct likeness){surface, width, height, 0, tolerance};
	if (status != CAIRO_STATUS_SUCCESS) {
		return status == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : -EINVAL;
	}
	uint32_t rows = (uint32_t)cairo_image_surface_get_height(surface);
	if ((uint32_t)cairo_image_surface_get_width(surface) != width || rows % height != 0) {
		return -EINVAL;
	}
	likeness->count = rows / height;
	return 0;
}

void likeness_finish(struct likeness *likeness) {
	if (likeness->surface != NULL) {
		cairo_surface_destroy(likeness->surface);
	}
	*likeness = (struct likeness){0};
}

static bool are_near(const uint8_t *one, const uint8_t *other, uint32_t width, uint32_t tolerance) {
	for (uint32_t i = 0; i < width * 4; i++) {
		bool is_colour = i % 4 != 3; /* the fourth byte is unused */
		if (is_colour && (uint32_t)abs(one[i] - other[i]) > tolerance) {
			return false;
		}
	}
	return true;
}

/* Compares with one of the pictures. */
static bool is_near(
		const struct likeness *likeness, uint32_t number, const struct pixels *picture) {
	const uint8_t *data = cairo_image_surface_get_data(likeness->surface);
	size_t stride = (size_t)cairo_image_surface_get_stride(likeness->surface);
	for (uint32_t y = 0; y < likeness->height; y++) {
		const uint8_t *row = (const uint8_t *)picture->data + y * picture->stride;
		size_t line = (size_t)number * likeness->height + y;
		if (!are_near(row, data + line * stride, likeness->width, likeness->tolerance)) {
			return false;
		}
	}
	return true;
}

bool likeness_has(const struct likeness *likeness, const struct pixels *picture) {
	bool found = likeness->surface == NULL;
	for (uint32_t i = 0; i < likeness->count && !found; i++) {
		found = is_near(likeness, i, picture);
	}
	return found;
}
