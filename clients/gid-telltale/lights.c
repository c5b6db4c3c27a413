// SPDX-License-Identifier: MIT
#include "lights.h"

#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct colour {
	double red, green, blue;
};

/* Colours as ISO 2575 gives them their meaning: red danger, amber caution, green in use. */
static const struct colour colours[LIGHTS] = {
		{1.0, 0.1, 0.1}, /* brake */
		{1.0, 0.1, 0.1}, /* oil */
		{1.0, 0.7, 0.0}, /* engine */
		{0.1, 0.9, 0.2}, /* indicator */
};

static void draw_brake(cairo_t *cairo) {
	cairo_arc(cairo, 0, 0, 0.55, 0, 2 * M_PI);
	cairo_stroke(cairo);
	cairo_arc(cairo, 0, 0, 0.8, -0.7, 0.7);
	cairo_stroke(cairo);
	cairo_arc(cairo, 0, 0, 0.8, M_PI - 0.7, M_PI + 0.7);
	cairo_stroke(cairo);
	cairo_move_to(cairo, 0, -0.3);
	cairo_line_to(cairo, 0, 0.1);
	cairo_stroke(cairo);
	cairo_arc(cairo, 0, 0.3, 0.08, 0, 2 * M_PI);
	cairo_fill(cairo);
}

static void draw_oil(cairo_t *cairo) {
	cairo_move_to(cairo, -0.8, 0.0);
	cairo_line_to(cairo, -0.4, 0.4);
	cairo_line_to(cairo, 0.4, 0.4);
	cairo_line_to(cairo, 0.8, -0.2);
	cairo_line_to(cairo, 0.3, 0.0);
	cairo_line_to(cairo, -0.4, -0.1);
	cairo_close_path(cairo);
	cairo_stroke(cairo);
	cairo_arc(cairo, 0.8, 0.3, 0.1, 0, 2 * M_PI);
	cairo_fill(cairo);
}

static void draw_engine(cairo_t *cairo) {
	cairo_rectangle(cairo, -0.5, -0.3, 0.9, 0.7);
	cairo_stroke(cairo);
	cairo_move_to(cairo, -0.3, -0.55);
	cairo_line_to(cairo, 0.2, -0.55);
	cairo_move_to(cairo, -0.8, -0.2);
	cairo_line_to(cairo, -0.8, 0.3);
	cairo_move_to(cairo, 0.75, -0.2);
	cairo_line_to(cairo, 0.75, 0.3);
	cairo_stroke(cairo);
}

static void draw_indicator(cairo_t *cairo) {
	cairo_move_to(cairo, -0.8, -0.25);
	cairo_line_to(cairo, 0.0, -0.25);
	cairo_line_to(cairo, 0.0, -0.6);
	cairo_line_to(cairo, 0.8, 0.0);
	cairo_line_to(cairo, 0.0, 0.6);
	cairo_line_to(cairo, 0.0, 0.25);
	cairo_line_to(cairo, -0.8, 0.25);
	cairo_close_path(cairo);
	cairo_fill(cairo);
}

static void (*const shapes[LIGHTS])(cairo_t *cairo) = {
		draw_brake, draw_oil, draw_engine, draw_indicator};

static void draw(cairo_surface_t *surface, uint32_t width, uint32_t height, unsigned state) {
	cairo_t *cairo = cairo_create(surface);
	cairo_set_source_rgb(cairo, 0, 0, 0);
	cairo_paint(cairo);
	double cell = (double)width / LIGHTS;
	for (unsigned i = 0; i < LIGHTS; i++) {
		double light = state & (1u << i) ? 1.0 : 0.12;
		cairo_save(cairo);
		cairo_translate(cairo, (i + 0.5) * cell, height / 2.0);
		double size = fmin(cell, height) * 0.42;
		cairo_scale(cairo, size, size);
		cairo_set_line_width(cairo, 0.14);
		cairo_set_source_rgb(cairo, colours[i].red * light, colours[i].green * light,
				colours[i].blue * light);
		shapes[i](cairo);
		cairo_restore(cairo);
	}
	cairo_destroy(cairo);
	cairo_surface_flush(surface);
}

/* cairo leaves the unused byte of RGB24 as it likes: here it is part of what is hashed. */
static void set_unused(void *data, uint32_t width, uint32_t height, size_t stride) {
	for (uint32_t y = 0; y < height; y++) {
		uint32_t *row = (uint32_t *)((uint8_t *)data + y * stride);
		for (uint32_t x = 0; x < width; x++) {
			row[x] |= 0xff000000u;
		}
	}
}

void lights_draw(void *data, uint32_t width, uint32_t height, size_t stride, unsigned state) {
	cairo_surface_t *surface = cairo_image_surface_create_for_data(
			data, CAIRO_FORMAT_RGB24, (int)width, (int)height, (int)stride);
	draw(surface, width, height, state);
	cairo_surface_destroy(surface);
	set_unused(data, width, height, stride);
}

int lights_write_png(const char *path, uint32_t width, uint32_t height, unsigned state) {
	cairo_surface_t *surface =
			cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
	draw(surface, width, height, state);
	errno = 0;
	cairo_status_t status = cairo_surface_write_to_png(surface, path);
	int error = errno; /* cairo says no more than that it could not write */
	cairo_surface_destroy(surface);
	if (status != CAIRO_STATUS_SUCCESS) {
		fprintf(stderr, "gid-telltale: %s: %s\n", path,
				error != 0 ? strerror(error) : cairo_status_to_string(status));
		return -1;
	}
	return 0;
}
