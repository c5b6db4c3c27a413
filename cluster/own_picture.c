// SPDX-License-Identifier: MIT
#include "own_picture.h"

#include "../wlroots/memory_view.h"
#include <cairo.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRIPE 16.0 /* pixels */

struct own_picture {
	struct memory_view view; /* first: it frees the whole */
	cairo_surface_t *surface;
	uint64_t colour;
};

static void handle_destroyed(struct memory_view *view) {
	struct own_picture *picture = wl_container_of(view, picture, view);
	cairo_surface_destroy(picture->surface);
	free(picture);
}

/* Takes the surface, a finished RGB24 image. */
static struct own_picture *own_picture_of(cairo_surface_t *surface) {
	struct own_picture *picture = calloc(1, sizeof(*picture));
	cairo_surface_flush(surface);
	struct pixels pixels = {
			.data = cairo_image_surface_get_data(surface),
			.width = (uint32_t)cairo_image_surface_get_width(surface),
			.height = (uint32_t)cairo_image_surface_get_height(surface),
			.stride = (size_t)cairo_image_surface_get_stride(surface),
	};
	struct pixel_hashes hashes;
	if (picture == NULL || pixels.data == NULL || pixels_hash(&pixels, &hashes, NULL) != 0) {
		cairo_surface_destroy(surface);
		free(picture);
		return NULL;
	}
	memory_view_init(&picture->view, pixels.data, DRM_FORMAT_XRGB8888, pixels.width,
			pixels.height, pixels.stride, handle_destroyed);
	picture->surface = surface;
	picture->colour = hashes.colour;
	return picture;
}

/* Red and black stripes with a white cross: no instrument looks like this. */
static void draw_pattern(cairo_t *cairo, double width, double height) {
	cairo_set_source_rgb(cairo, 0.8, 0, 0);
	cairo_set_line_width(cairo, STRIPE);
	for (double x = -height; x < width; x += 3 * STRIPE) {
		cairo_move_to(cairo, x, height);
		cairo_line_to(cairo, x + height, 0);
	}
	cairo_stroke(cairo);
	cairo_set_source_rgb(cairo, 1, 1, 1);
	cairo_set_line_width(cairo, 3);
	cairo_move_to(cairo, 0, 0);
	cairo_line_to(cairo, width, height);
	cairo_move_to(cairo, 0, height);
	cairo_line_to(cairo, width, 0);
	cairo_stroke(cairo);
}

static int draw_png(cairo_t *cairo, const char *path, double width, double height) {
	cairo_surface_t *png = cairo_image_surface_create_from_png(path);
	if (cairo_surface_status(png) != CAIRO_STATUS_SUCCESS) {
		cairo_surface_destroy(png);
		return -EINVAL;
	}
	cairo_scale(cairo, width / cairo_image_surface_get_width(png),
			height / cairo_image_surface_get_height(png));
	cairo_set_source_surface(cairo, png, 0, 0);
	cairo_paint(cairo);
	cairo_surface_destroy(png);
	return 0;
}

int own_picture_create(struct own_picture **picture, const struct role_config *role) {
	int ret = 0;
	double width = role->box.width, height = role->box.height;
	cairo_surface_t *surface = cairo_image_surface_create(
			CAIRO_FORMAT_RGB24, role->box.width, role->box.height);
	cairo_t *cairo = cairo_create(surface);
	cairo_paint(cairo); /* black */
	switch (role->fallback) {
	case FALLBACK_PATTERN:
	case FALLBACK_LAST:
		draw_pattern(cairo, width, height);
		break;
	case FALLBACK_PICTURE:
		ret = draw_png(cairo, role->picture, width, height);
		break;
	case FALLBACK_BLANK:
		break;
	}
	cairo_destroy(cairo);
	if (ret < 0) {
		cairo_surface_destroy(surface);
		return ret;
	}
	*picture = own_picture_of(surface);
	return *picture != NULL ? 0 : -ENOMEM;
}

int own_picture_read(struct own_picture **picture, const char *path, int width, int height) {
	cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
	cairo_t *cairo = cairo_create(surface);
	int ret = draw_png(cairo, path, width, height);
	cairo_destroy(cairo);
	if (ret < 0) {
		cairo_surface_destroy(surface);
		return ret;
	}
	*picture = own_picture_of(surface);
	return *picture != NULL ? 0 : -ENOMEM;
}

struct own_picture *own_picture_copy(const struct pixels *pixels) {
	cairo_surface_t *surface = cairo_image_surface_create(
			CAIRO_FORMAT_RGB24, (int)pixels->width, (int)pixels->height);
	unsigned char *data = cairo_image_surface_get_data(surface);
	size_t stride = (size_t)cairo_image_surface_get_stride(surface);
	for (uint32_t y = 0; data != NULL && y < pixels->height; y++) {
		memcpy(data + y * stride, (const uint8_t *)pixels->data + y * pixels->stride,
				(size_t)pixels->width * 4);
	}
	cairo_surface_mark_dirty(surface);
	return own_picture_of(surface);
}

struct own_picture *own_picture_copy_buffer(struct wlr_buffer *buffer) {
	struct own_picture *picture = NULL;
	size_t stride;
	uint32_t format;
	void *data;
	if (wlr_buffer_begin_data_ptr_access(
			    buffer, WLR_BUFFER_DATA_PTR_ACCESS_READ, &data, &format, &stride)) {
		struct pixels pixels = {
				data, (uint32_t)buffer->width, (uint32_t)buffer->height, stride};
		picture = own_picture_copy(&pixels);
		wlr_buffer_end_data_ptr_access(buffer);
	}
	return picture;
}

void own_picture_destroy(struct own_picture *picture) {
	if (picture != NULL) {
		wlr_buffer_drop(&picture->view.base);
	}
}

struct wlr_buffer *own_picture_buffer(struct own_picture *picture) {
	return &picture->view.base;
}

uint64_t own_picture_colour(const struct own_picture *picture) {
	return picture->colour;
}
