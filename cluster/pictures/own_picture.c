// SPDX-License-Identifier: MIT
#include "own_picture.h"

#include <cairo.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>

#define STRIPE 16.0 /* pixels */

/* --- memory and references -------------------------------------------------------------------- */

static void own_picture_free(struct own_picture *picture) {
	free(picture->data);
	free(picture);
}

static void handle_destroyed(struct memory_view *view) {
	struct own_picture *picture = wl_container_of(view, picture, view);
	picture->used = false;
	if (!picture->pooled) {
		own_picture_free(picture);
	}
}

/* Without any reference yet. */
static struct own_picture *own_picture_create(uint32_t width, uint32_t height) {
	struct own_picture *picture = calloc(1, sizeof(*picture));
	if (picture == NULL) {
		return NULL;
	}
	picture->data = calloc((size_t)width * height, sizeof(*picture->data));
	if (picture->data == NULL) {
		free(picture);
		return NULL;
	}
	picture->pixels = (struct pixels){picture->data, width, height, (size_t)width * 4};
	return picture;
}

/* Takes the first reference. */
static struct own_picture *own_picture_use(struct own_picture *picture) {
	const struct pixels *pixels = &picture->pixels;
	memory_view_init(&picture->view, picture->data, DRM_FORMAT_XRGB8888, pixels->width,
			pixels->height, pixels->stride, handle_destroyed);
	picture->used = true;
	picture->colour = 0;
	wlr_buffer_lock(&picture->view.base);
	wlr_buffer_drop(&picture->view.base);
	return picture;
}

struct own_picture *own_picture_ref(struct own_picture *picture) {
	if (picture != NULL) {
		wlr_buffer_lock(&picture->view.base);
	}
	return picture;
}

void own_picture_unref(struct own_picture *picture) {
	if (picture != NULL) {
		wlr_buffer_unlock(&picture->view.base);
	}
}

int picture_pool_init(struct picture_pool *pool, uint32_t width, uint32_t height) {
	*pool = (struct picture_pool){0};
	for (size_t i = 0; i < PICTURE_POOL_SIZE; i++) {
		pool->pictures[i] = own_picture_create(width, height);
		if (pool->pictures[i] == NULL) {
			return -ENOMEM;
		}
		pool->pictures[i]->pooled = true;
	}
	return 0;
}

void picture_pool_finish(struct picture_pool *pool) {
	for (size_t i = 0; i < PICTURE_POOL_SIZE; i++) {
		struct own_picture *picture = pool->pictures[i];
		if (picture != NULL && picture->used) {
			picture->pooled = false;
		} else if (picture != NULL) {
			own_picture_free(picture);
		}
	}
	*pool = (struct picture_pool){0};
}

struct own_picture *picture_pool_acquire(struct picture_pool *pool) {
	for (size_t i = 0; i < PICTURE_POOL_SIZE; i++) {
		if (!pool->pictures[i]->used) {
			return own_picture_use(pool->pictures[i]);
		}
	}
	return NULL;
}

/* --- drawing ---------------------------------------------------------------------------------- */

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

int own_picture_check_png(const char *path) {
	cairo_surface_t *png = cairo_image_surface_create_from_png(path);
	cairo_status_t status = cairo_surface_status(png);
	cairo_surface_destroy(png);
	switch (status) {
	case CAIRO_STATUS_SUCCESS:
		return 0;
	case CAIRO_STATUS_FILE_NOT_FOUND:
		return -ENOENT;
	case CAIRO_STATUS_NO_MEMORY:
		return -ENOMEM;
	default:
		return -EINVAL;
	}
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
	/* Else the edges would blend with the black around them. */
	cairo_pattern_set_extend(cairo_get_source(cairo), CAIRO_EXTEND_PAD);
	cairo_paint(cairo);
	cairo_surface_destroy(png);
	return 0;
}

static int draw_fallback(cairo_t *cairo, enum fallback fallback, const char *png, double width,
		double height) {
	switch (fallback) {
	case FALLBACK_PATTERN:
	case FALLBACK_LAST:
		draw_pattern(cairo, width, height);
		return 0;
	case FALLBACK_PICTURE:
		return draw_png(cairo, png, width, height);
	case FALLBACK_BLANK:
	case FALLBACK_GREY:
		break;
	}
	return 0;
}

int own_picture_create_fallback(struct own_picture **result, enum fallback fallback,
		const char *png, uint32_t width, uint32_t height) {
	struct own_picture *picture = own_picture_create(width, height);
	if (picture == NULL) {
		return -ENOMEM;
	}
	cairo_surface_t *surface = cairo_image_surface_create_for_data((uint8_t *)picture->data,
			CAIRO_FORMAT_RGB24, (int)width, (int)height, (int)(width * 4));
	cairo_t *cairo = cairo_create(surface);
	int ret = draw_fallback(cairo, fallback, png, width, height);
	if (ret == 0 && cairo_status(cairo) != CAIRO_STATUS_SUCCESS) {
		ret = -ENOMEM;
	}
	cairo_destroy(cairo);
	cairo_surface_finish(surface);
	cairo_surface_destroy(surface);
	uint64_t colour = 0;
	if (ret == 0) {
		ret = pixels_hash_colour(&picture->pixels, &colour);
	}
	if (ret < 0) {
		own_picture_free(picture);
		return ret;
	}
	*result = own_picture_use(picture);
	picture->colour = colour;
	return 0;
}

int own_picture_create_png(
		struct own_picture **picture, const char *path, uint32_t width, uint32_t height) {
	return own_picture_create_fallback(picture, FALLBACK_PICTURE, path, width, height);
}
