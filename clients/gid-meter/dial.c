// SPDX-License-Identifier: MIT
#include "dial.h"

#include <cairo.h>
#include <math.h>

static void draw_dial(cairo_t *cairo, double x, double y, double radius, double value) {
	const double begin = 0.75 * M_PI, range = 1.5 * M_PI;
	cairo_set_source_rgb(cairo, 0.8, 0.85, 0.9);
	cairo_set_line_width(cairo, radius * 0.03);
	cairo_arc(cairo, x, y, radius, begin, begin + range);
	cairo_stroke(cairo);
	for (int i = 0; i <= 12; i++) {
		double angle = begin + range * i / 12;
		cairo_move_to(cairo, x + cos(angle) * radius * 0.88,
				y + sin(angle) * radius * 0.88);
		cairo_line_to(cairo, x + cos(angle) * radius, y + sin(angle) * radius);
	}
	cairo_stroke(cairo);
	double angle = begin + range * value;
	cairo_set_source_rgb(cairo, 1.0, 0.35, 0.1);
	cairo_set_line_width(cairo, radius * 0.05);
	cairo_move_to(cairo, x, y);
	cairo_line_to(cairo, x + cos(angle) * radius * 0.8, y + sin(angle) * radius * 0.8);
	cairo_stroke(cairo);
}

void dials_draw(void *data, uint32_t width, uint32_t height, size_t stride, double seconds) {
	cairo_surface_t *surface = cairo_image_surface_create_for_data(
			data, CAIRO_FORMAT_RGB24, (int)width, (int)height, (int)stride);
	cairo_t *cairo = cairo_create(surface);
	cairo_set_source_rgb(cairo, 0.03, 0.04, 0.06);
	cairo_paint(cairo);
	double radius = fmin(width / 4.0, height / 2.0) * 0.8;
	draw_dial(cairo, width * 0.25, height * 0.55, radius, 0.5 - 0.5 * cos(seconds * 0.7));
	draw_dial(cairo, width * 0.75, height * 0.55, radius, 0.5 - 0.5 * cos(seconds * 1.9));
	cairo_destroy(cairo);
	cairo_surface_destroy(surface);
}
