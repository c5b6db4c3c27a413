// SPDX-License-Identifier: MIT
#include "sheet.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPAQUE 0xff000000u

static int fail(const char *path, const char *why) {
	fprintf(stderr, "gid-telltale: %s: %s\n", path, why);
	return -1;
}

/* On black, if it is transparent anywhere. Returns 0 or -1. */
static int copy_pixels(struct sheet *sheet, cairo_surface_t *png) {
	int width = (int)sheet->width, height = (int)(sheet->height * sheet->count);
	sheet->pixels = calloc((size_t)width * (size_t)height, sizeof(*sheet->pixels));
	if (sheet->pixels == NULL) {
		return -1;
	}
	cairo_surface_t *copy = cairo_image_surface_create_for_data((unsigned char *)sheet->pixels,
			CAIRO_FORMAT_RGB24, width, height, width * 4);
	cairo_t *cairo = cairo_create(copy);
	cairo_set_source_surface(cairo, png, 0, 0);
	cairo_paint(cairo);
	bool good = cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
	cairo_destroy(cairo);
	cairo_surface_finish(copy);
	cairo_surface_destroy(copy);
	/* cairo leaves the unused byte as it likes: here it is part of what is hashed. */
	for (size_t i = 0; i < (size_t)width * (size_t)height; i++) {
		sheet->pixels[i] |= OPAQUE;
	}
	return good ? 0 : -1;
}

static int sheet_init(struct sheet *sheet, const char *path, cairo_surface_t *png) {
	uint32_t width = (uint32_t)cairo_image_surface_get_width(png);
	uint32_t height = (uint32_t)cairo_image_surface_get_height(png);
	char why[128];
	if (width != sheet->width || height % sheet->height != 0 ||
			height / sheet->height > SHEET_PICTURES_MAX) {
		snprintf(why, sizeof(why),
				"%ux%u pixels are not 1 to %u pictures of %ux%u, below each other",
				width, height, SHEET_PICTURES_MAX, sheet->width, sheet->height);
		return fail(path, why);
	}
	sheet->count = height / sheet->height;
	return copy_pixels(sheet, png) == 0 ? 0 : fail(path, "there is no memory for it");
}

int sheet_read(struct sheet *sheet, const char *path, uint32_t width, uint32_t height) {
	*sheet = (struct sheet){.width = width, .height = height};
	cairo_surface_t *png = cairo_image_surface_create_from_png(path);
	cairo_status_t status = cairo_surface_status(png);
	int ret = status == CAIRO_STATUS_SUCCESS ? sheet_init(sheet, path, png)
						 : fail(path, cairo_status_to_string(status));
	cairo_surface_destroy(png);
	return ret;
}

void sheet_finish(struct sheet *sheet) {
	free(sheet->pixels);
	*sheet = (struct sheet){0};
}

void sheet_draw(const struct sheet *sheet, void *data, size_t stride, unsigned number) {
	const uint32_t *rows = sheet->pixels + (size_t)number * sheet->height * sheet->width;
	for (uint32_t y = 0; y < sheet->height; y++) {
		memcpy((uint8_t *)data + y * stride, rows + (size_t)y * sheet->width,
				(size_t)sheet->width * 4);
	}
}
