// SPDX-License-Identifier: MIT
#include "forward_parts.h"

#include <drm_fourcc.h>
#include <math.h>
#include <pixman.h>
#include <stdlib.h>
#include <string.h>

#include "client_dmabuf.h"
#include "shm_format.h"
#include "to_rgb.h"
#include "weston_buffer.h"
#include "window_parts.h"

/* The largest picture that is converted: 4K. More would delay the display. */
#define CONVERTED_PIXELS_MAX (UINT64_C(3840) * 2160)

struct tree {
	pixman_image_t *target;
	int32_t width, height, scale; /* of the main surface, in surface coordinates */
	bool cuts; /* clip what reaches beyond the main surface; else it is refused */
	unsigned surfaces;
	uint64_t pixels_left; /* that may still be composited or converted */
	struct refusal *refusal;
	enum tree_result result;
};

/* A picture that pixman can read. */
struct source {
	pixman_image_t *image;
	void *converted;	   /* owned, or NULL */
	struct wl_shm_buffer *shm; /* whose access was begun, or NULL */
};

static bool refuse(struct tree *tree, enum gid_hidden hidden, const char *text) {
	*tree->refusal = (struct refusal){hidden, text};
	tree->result = TREE_REFUSED;
	return false;
}

/* Charges pixels, whose number clients choose, to the tree's budget. */
static bool spend(struct tree *tree, uint64_t pixels) {
	if (pixels > tree->pixels_left) {
		return refuse(tree, GID_HIDDEN_SIZE, "its surfaces are too large to be drawn");
	}
	tree->pixels_left -= pixels;
	return true;
}

/* --- from memory to images -------------------------------------------------------------------- */

static void source_finish(struct source *source) {
	if (source->image != NULL) {
		pixman_image_unref(source->image);
	}
	if (source->shm != NULL) {
		wl_shm_buffer_end_access(source->shm);
	}
	free(source->converted);
}

/* The layout's offsets count from `memory`. */
static bool source_of_memory(struct tree *tree, struct source *source,
		const struct gid_layout *layout, const uint8_t *memory) {
	int width = (int)layout->width, height = (int)layout->height;
	const uint8_t *data = memory + layout->planes[0].offset;
	bool alpha = layout->fourcc == DRM_FORMAT_ARGB8888;
	if ((alpha || layout->fourcc == DRM_FORMAT_XRGB8888) && (uintptr_t)data % 4 == 0 &&
			layout->planes[0].stride % 4 == 0) {
		source->image = pixman_image_create_bits_no_clear(
				alpha ? PIXMAN_a8r8g8b8 : PIXMAN_x8r8g8b8, width, height,
				(uint32_t *)data, (int)layout->planes[0].stride);
	} else {
		if (layout->modifier != DRM_FORMAT_MOD_LINEAR || !to_rgb_can(layout->fourcc)) {
			return refuse(tree, GID_HIDDEN_FORMAT,
					"a picture's format cannot be drawn by the processor");
		}
		if ((uint64_t)layout->width * layout->height > CONVERTED_PIXELS_MAX) {
			return refuse(tree, GID_HIDDEN_SIZE,
					"a picture is too large to be converted");
		}
		if (!spend(tree, (uint64_t)layout->width * layout->height)) {
			return false;
		}
		source->converted = malloc((size_t)width * (size_t)height * 4);
		if (source->converted != NULL) {
			to_rgb(layout, memory, 0, 0, layout->width, layout->height,
					source->converted, (size_t)width * 4);
			source->image = pixman_image_create_bits_no_clear(
					to_rgb_has_alpha(layout->fourcc) ? PIXMAN_a8r8g8b8
									 : PIXMAN_x8r8g8b8,
					width, height, source->converted, width * 4);
		}
	}
	return source->image != NULL ||
			refuse(tree, GID_HIDDEN_MEMORY, "there is no memory to draw it");
}

static bool source_of_gid(
		struct tree *tree, struct source *source, const struct buffer_memory *memory) {
	if (memory->pending) {
		tree->result = TREE_LATER;
		return false;
	}
	const uint8_t *slot = memory->slab != NULL
			? gid_slab_view_untouched(memory->slab, gid_slot_of(memory->gid))
			: NULL;
	if (slot == NULL) {
		return refuse(tree, GID_HIDDEN_GONE, "a buffer's memory is gone");
	}
	struct gid_slab_info info;
	gid_slab_get_info(memory->slab, &info);
	struct gid_layout layout = *memory->layout;
	layout.colours = info.layout.colours;
	return source_of_memory(tree, source, &layout, slot);
}

static bool source_of_shm(struct tree *tree, struct source *source, struct wl_shm_buffer *shm) {
	struct gid_layout layout = {
			.fourcc = shm_format_to_fourcc(wl_shm_buffer_get_format(shm)),
			.width = (uint32_t)wl_shm_buffer_get_width(shm),
			.height = (uint32_t)wl_shm_buffer_get_height(shm),
			.plane_count = 1,
			.planes = {{0, (uint32_t)wl_shm_buffer_get_stride(shm)}},
	};
	const struct gid_format_info *format = gid_format_find(layout.fourcc);
	if (format == NULL || format->plane_count != 1) {
		return refuse(tree, GID_HIDDEN_FORMAT, "a wl_shm buffer's format cannot be drawn");
	}
	if (layout.planes[0].stride < gid_format_row_bytes(layout.fourcc, 0, layout.width)) {
		return refuse(tree, GID_HIDDEN_FORMAT,
				"a wl_shm buffer's rows are longer than its stride");
	}
	wl_shm_buffer_begin_access(shm);
	source->shm = shm;
	return source_of_memory(tree, source, &layout, wl_shm_buffer_get_data(shm));
}

static uint16_t solid_channel(float value) {
	return (uint16_t)lrintf(value * 65535.0f);
}

static bool source_of_buffer(
		struct tree *tree, struct source *source, const struct weston_buffer *buffer) {
	struct buffer_memory memory;
	/* If the client has destroyed the buffer on screen, only a solid colour is left. */
	if (buffer->resource == NULL && buffer->type != WESTON_BUFFER_SOLID) {
		return refuse(tree, GID_HIDDEN_GONE, "a subsurface's buffer was destroyed");
	}
	if (buffer->resource != NULL && buffer_get_memory(buffer->resource, &memory)) {
		return source_of_gid(tree, source, &memory);
	}
	switch (buffer->type) {
	case WESTON_BUFFER_SHM:
		return source_of_shm(tree, source, buffer->shm_buffer);
	case WESTON_BUFFER_SOLID: {
		const struct weston_solid_buffer_values *solid = &buffer->solid;
		source->image = pixman_image_create_solid_fill(&(pixman_color_t){
				.red = solid_channel(solid->r),
				.green = solid_channel(solid->g),
				.blue = solid_channel(solid->b),
				.alpha = solid_channel(solid->a),
		});
		return source->image != NULL ||
				refuse(tree, GID_HIDDEN_MEMORY, "there is no memory to draw it");
	}
	default:
		return refuse(tree, GID_HIDDEN_DMABUF,
				"a buffer is a dma-buf that is not made of gids");
	}
}

/* --- compositing ------------------------------------------------------------------------------ */

static bool is_whole(double value) {
	return value == nearbyint(value);
}

/*
 * Finds the transform from target pixels to buffer pixels. Returns whether it maps each pixel to
 * one pixel. Evaluates the matrix at three points, as its struct differs between versions of
 * libweston. Their distance is a power of two, which keeps whole numbers exact.
 */
static bool find_transform(const struct tree *tree, const struct weston_surface *surface, int32_t x,
		int32_t y, struct pixman_f_transform *transform) {
	const struct weston_matrix *matrix = &surface->surface_to_buffer_matrix;
	const double far = 4096;
	struct weston_coord origin = weston_matrix_transform_coord(matrix, weston_coord(0, 0));
	struct weston_coord right = weston_matrix_transform_coord(matrix, weston_coord(far, 0));
	struct weston_coord down = weston_matrix_transform_coord(matrix, weston_coord(0, far));
	struct weston_coord u = {(right.x - origin.x) / far, (right.y - origin.y) / far};
	struct weston_coord v = {(down.x - origin.x) / far, (down.y - origin.y) / far};
	const double scale = tree->scale;
	*transform = (struct pixman_f_transform){{
			{u.x / scale, v.x / scale, origin.x - u.x * x - v.x * y},
			{u.y / scale, v.y / scale, origin.y - u.y * x - v.y * y},
			{0, 0, 1},
	}};
	const double *a = transform->m[0], *b = transform->m[1];
	return fabs(a[0]) + fabs(a[1]) == 1 && fabs(b[0]) + fabs(b[1]) == 1 && is_whole(a[0]) &&
			is_whole(b[1]) && is_whole(a[2]) && is_whole(b[2]);
}

/* Composites the surface at (x, y) of the main surface. */
static bool draw_surface(
		struct tree *tree, const struct weston_surface *surface, int32_t x, int32_t y) {
	bool within = x >= 0 && y >= 0 && x <= tree->width - surface->width &&
			y <= tree->height - surface->height;
	if (!within && !tree->cuts) {
		return refuse(tree, GID_HIDDEN_SUBSURFACE,
				"a subsurface reaches beyond its main surface");
	}
	struct pixman_f_transform wanted;
	bool one_to_one = find_transform(tree, surface, x, y, &wanted);
	struct pixman_transform fixed;
	if (!pixman_transform_from_pixman_f_transform(&fixed, &wanted)) {
		return refuse(tree, GID_HIDDEN_CROP, "a surface is scaled too much");
	}
	uint64_t pixels = (uint64_t)surface->width * (uint64_t)surface->height *
			(uint64_t)tree->scale * (uint64_t)tree->scale;
	if (!spend(tree, pixels)) {
		return false;
	}
	struct source source = {0};
	bool found = source_of_buffer(tree, &source, surface->buffer_ref.buffer);
	if (found) {
		pixman_image_set_transform(source.image, &fixed);
		pixman_image_set_filter(source.image,
				one_to_one ? PIXMAN_FILTER_NEAREST : PIXMAN_FILTER_BILINEAR, NULL,
				0);
		pixman_image_set_repeat(source.image, PIXMAN_REPEAT_PAD);
		int32_t scale = tree->scale;
		pixman_image_composite32(PIXMAN_OP_OVER, source.image, NULL, tree->target,
				x * scale, y * scale, 0, 0, x * scale, y * scale,
				surface->width * scale, surface->height * scale);
	}
	source_finish(&source);
	return found;
}

/* When the last subsurface goes, the list still has the surface itself. */
static bool has_list(const struct weston_surface *surface) {
	return wl_list_length(&surface->subsurface_list) > 1;
}

static bool has_content(const struct weston_surface *surface) {
	return surface->buffer_ref.buffer != NULL && surface->width > 0 && surface->height > 0;
}

/* The list begins with the topmost surface, and contains the surface itself. */
static bool draw_tree(struct tree *tree, const struct weston_surface *surface, int32_t x, int32_t y,
		unsigned depth) {
	if (!has_content(surface)) {
		return true; /* its subsurfaces are not shown either */
	}
	if (depth > FORWARD_TREE_DEPTH_MAX || ++tree->surfaces > FORWARD_TREE_SURFACES_MAX) {
		return refuse(tree, GID_HIDDEN_SUBSURFACE, "the surface has too many subsurfaces");
	}
	if (!has_list(surface)) {
		return draw_surface(tree, surface, x, y);
	}
	const struct weston_subsurface *sub;
	wl_list_for_each_reverse(sub, &surface->subsurface_list, parent_link) {
		bool drawn = sub->surface == surface
				? draw_surface(tree, surface, x, y)
				: draw_tree(tree, sub->surface,
						  x + (int32_t)lrint(sub->position.offset.c.x),
						  y + (int32_t)lrint(sub->position.offset.c.y),
						  depth + 1);
		if (!drawn) {
			return false;
		}
	}
	return true;
}

bool forward_tree_has_children(const struct weston_surface *surface) {
	const struct weston_subsurface *sub;
	if (has_list(surface)) {
		wl_list_for_each(sub, &surface->subsurface_list, parent_link) {
			if (sub->surface != surface && has_content(sub->surface)) {
				return true;
			}
		}
	}
	return false;
}

/* --- the surface that covers the tree --------------------------------------------------------- */

static bool is_opaque(const struct weston_buffer *buffer) {
	struct buffer_memory memory;
	uint32_t fourcc = 0; /* unknown */
	if (buffer->resource == NULL) {
		return false;
	}
	if (buffer_get_memory(buffer->resource, &memory)) {
		fourcc = memory.layout->fourcc;
	} else if (buffer->type == WESTON_BUFFER_SHM) {
		fourcc = shm_format_to_fourcc(wl_shm_buffer_get_format(buffer->shm_buffer));
	} else if (buffer->type == WESTON_BUFFER_DMABUF) {
		fourcc = client_dmabuf_fourcc(buffer);
	}
	return to_rgb_can(fourcc) && !to_rgb_has_alpha(fourcc);
}

/*
 * Returns the topmost surface that has content, if it is opaque and as large as the main surface.
 */
static struct weston_surface *find_cover(
		struct weston_surface *surface, const struct weston_surface *main, unsigned depth) {
	if (depth > FORWARD_TREE_DEPTH_MAX || !has_content(surface)) {
		return NULL;
	}
	const struct weston_subsurface *sub;
	wl_list_for_each(sub, &surface->subsurface_list, parent_link) {
		if (sub->surface == surface) {
			break;
		}
		if (has_content(sub->surface)) {
			bool at_origin = sub->position.offset.c.x == 0 &&
					sub->position.offset.c.y == 0;
			return at_origin ? find_cover(sub->surface, main, depth + 1) : NULL;
		}
	}
	bool covers = surface->width == main->width && surface->height == main->height &&
			is_opaque(surface->buffer_ref.buffer);
	return covers ? surface : NULL;
}

struct weston_surface *forward_tree_find_cover(struct weston_surface *surface) {
	struct weston_surface *cover = find_cover(surface, surface, 0);
	return cover != surface ? cover : NULL;
}

static struct wl_resource *find_link(const struct weston_surface *surface,
		const struct weston_surface *wanted, unsigned depth, unsigned *looks) {
	const struct weston_subsurface *sub;
	wl_list_for_each(sub, &surface->subsurface_list, parent_link) {
		if (*looks == FORWARD_TREE_LOOKS_MAX) {
			return NULL;
		}
		*looks += 1;
		if (sub->surface == wanted) {
			return sub->resource;
		}
		struct wl_resource *found = NULL;
		if (sub->surface != surface && depth < FORWARD_TREE_DEPTH_MAX) {
			found = find_link(sub->surface, wanted, depth + 1, looks);
		}
		if (found != NULL) {
			return found;
		}
	}
	return NULL;
}

struct wl_resource *forward_find_link(
		const struct weston_surface *surface, const struct weston_surface *wanted) {
	unsigned looks = 0;
	return find_link(surface, wanted, 0, &looks);
}

/* They are in front of the window, and clipped to it. */
static bool draw_parts(struct tree *tree, struct weston_surface *window, struct gid_box seen) {
	struct window_part parts[WINDOW_PARTS_MAX];
	unsigned count = window_find_parts(window, seen, parts);
	bool drawn = true;
	tree->cuts = true;
	for (unsigned i = 1; drawn && i < count; i++) {
		drawn = draw_tree(tree, parts[i].view->surface, parts[i].x, parts[i].y, 0);
	}
	return drawn;
}

enum tree_result forward_tree_draw(struct weston_surface *surface, const struct gid_box *parts,
		int32_t scale, uint64_t pixels_max, uint32_t *pixels, size_t stride,
		struct refusal *refusal) {
	struct tree tree = {
			.width = surface->width,
			.height = surface->height,
			.scale = scale,
			.pixels_left = pixels_max,
			.refusal = refusal,
			.result = TREE_DRAWN,
	};
	/* The slot has old content; what is behind the surface is black. */
	tree.target = pixman_image_create_bits(PIXMAN_x8r8g8b8, surface->width * scale,
			surface->height * scale, pixels, (int)stride);
	if (tree.target == NULL) {
		refuse(&tree, GID_HIDDEN_MEMORY, "there is no memory to draw it");
		return TREE_REFUSED;
	}
	for (int32_t y = 0; y < surface->height * scale; y++) {
		memset((uint8_t *)pixels + (size_t)y * stride, 0,
				(size_t)(surface->width * scale) * 4);
	}
	if (draw_tree(&tree, surface, 0, 0, 0) && parts != NULL) {
		draw_parts(&tree, surface, *parts);
	}
	pixman_image_unref(tree.target);
	return tree.result;
}
