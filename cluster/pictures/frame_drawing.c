// SPDX-License-Identifier: MIT
#include "frame_drawing.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <wayland-server-protocol.h>
#include <xxhash.h>

#include "../../common/convert/to_rgb.h"
#include "../../common/convert/visible.h"

/* The largest picture that is scaled: 8K has 7680 x 4320. */
#define PIXELS_MAX ((size_t)1 << 25)
/* The number of rows copied and converted at a time. */
#define BAND_ROWS 64

/* The source of a drawing: a frame's picture. */
struct source {
	enum fit fit;
	const struct rows_reader *reader; /* for FIT_EXACT; may be NULL */
	struct visible visible;
	const struct gid_layout *layout;
	const void *slot;
	bool is_words;	  /* XRGB8888 or ARGB8888: no conversion */
	const void *rows; /* of other formats: the rows before conversion; NULL: not kept */
};

/* Memory that is kept for the next frame. NULL: out of memory. */
static void *frame_drawing_get_memory(
		struct frame_drawing *drawing, enum frame_drawing_memory which, size_t size) {
	if (drawing->sizes[which] < size) {
		free(drawing->memory[which]);
		drawing->memory[which] = malloc(size);
		drawing->sizes[which] = drawing->memory[which] != NULL ? size : 0;
	}
	return drawing->memory[which];
}

void frame_drawing_finish(struct frame_drawing *drawing) {
	for (size_t i = 0; i < DRAWING_MEMORY_COUNT; i++) {
		free(drawing->memory[i]);
	}
	*drawing = (struct frame_drawing){0};
}

static size_t pixels_of(const struct visible *visible) {
	return (size_t)visible->seen.width * (size_t)visible->seen.height;
}

static bool source_init(struct source *source, enum fit fit, const struct gid_frame *frame,
		const struct gid_layout *layout, const void *slot) {
	*source = (struct source){.fit = fit, .layout = layout, .slot = slot};
	source->is_words = (layout->fourcc == DRM_FORMAT_XRGB8888 ||
					   layout->fourcc == DRM_FORMAT_ARGB8888) &&
			layout->planes[0].offset % 4 == 0 && layout->planes[0].stride % 4 == 0;
	return visible_init(&source->visible, layout, &frame->crop) == 0;
}

/* With FIT_EXACT the visible part must have the size of the place; else it is only limited. */
static bool source_fits(const struct source *source, const struct pixels *place) {
	const struct gid_box *seen = &source->visible.seen;
	if (source->fit != FIT_EXACT) {
		return pixels_of(&source->visible) <= PIXELS_MAX;
	}
	return (uint32_t)seen->width == place->width && (uint32_t)seen->height == place->height;
}

/* Converts the visible part to words. Returns a copy of its original rows; NULL: out of memory. */
static const void *convert(struct frame_drawing *drawing, const struct source *source,
		const struct visible *visible, uint32_t *words) {
	const struct gid_box *seen = &visible->seen;
	void *rows = frame_drawing_get_memory(
			drawing, DRAWING_ROWS, gid_layout_size(&visible->layout));
	if (rows != NULL) {
		visible_copy(visible, source->slot, rows);
		to_rgb(&visible->layout, rows, (uint32_t)seen->x, (uint32_t)seen->y,
				(uint32_t)seen->width, (uint32_t)seen->height, words,
				(size_t)seen->width * 4);
	}
	return rows;
}

/* The same, with memory for a few rows. Returns 0 or -ENOMEM. */
static int convert_in_bands(
		struct frame_drawing *drawing, const struct source *source, uint32_t *words) {
	const struct visible *visible = &source->visible;
	const struct gid_box *seen = &visible->seen;
	for (int32_t y = 0; y < seen->height; y += BAND_ROWS) {
		int32_t rows = seen->height - y < BAND_ROWS ? seen->height - y : BAND_ROWS;
		struct gid_box box = {(int32_t)visible->x + seen->x,
				(int32_t)visible->y + seen->y + y, seen->width, rows};
		struct visible band;
		if (visible_init(&band, source->layout, &box) != 0 ||
				convert(drawing, source, &band,
						words + (ptrdiff_t)y * seen->width) == NULL) {
			return -ENOMEM;
		}
	}
	return 0;
}

/*
 * Finds the visible part as words. Words in the frame are read in place, later: a producer that
 * changes them meanwhile harms only itself. Other formats are converted from a copy, which nobody
 * else can change. Returns 0 or -ENOMEM.
 */
static int find_words(struct frame_drawing *drawing, struct source *source, uint32_t *target,
		struct pixels *words) {
	const struct visible *visible = &source->visible;
	const struct gid_plane *plane = &source->layout->planes[0];
	if (source->is_words) {
		*words = (struct pixels){(const uint8_t *)source->slot + plane->offset +
						(size_t)visible->y * plane->stride +
						(size_t)visible->x * 4,
				visible->layout.width, visible->layout.height, plane->stride};
		return 0;
	}
	uint32_t width = (uint32_t)visible->seen.width;
	*words = (struct pixels){target, width, (uint32_t)visible->seen.height, (size_t)width * 4};
	if (source->fit == FIT_EXACT) {
		source->rows = convert(drawing, source, visible, target);
		return source->rows != NULL ? 0 : -ENOMEM;
	}
	words->data = target =
			frame_drawing_get_memory(drawing, DRAWING_WORDS, pixels_of(visible) * 4);
	return target != NULL ? convert_in_bands(drawing, source, target) : -ENOMEM;
}

/* Draws into a place of the same size, and hashes. */
static int draw_exact(const struct source *source, const struct pixels *words, uint32_t *target,
		struct pixel_hashes *hashes) {
	const struct rows_reader *reader = source->reader;
	int ret = pixels_copy(words, target, (size_t)words->width * 4, hashes,
			source->rows == NULL ? reader : NULL);
	if (source->rows != NULL) {
		size_t size = gid_layout_size(&source->visible.layout);
		hashes->content = XXH3_64bits(source->rows, size);
		if (reader != NULL) {
			reader->read(reader->data, source->rows, size);
		}
	}
	return ret;
}

/* Draws without the transform. Returns 0, -EAGAIN or -ENOMEM. */
static int draw_unturned(struct frame_drawing *drawing, struct source *source,
		const struct gid_slab_info *slab, const struct pixels *place, uint32_t *target,
		struct pixel_hashes *hashes) {
	bool is_dmabuf = slab->memory == GID_MEMORY_DMABUF;
	struct pixels words;
	/* The device writes to it again, although the frame was sent: it must not be read. */
	if (is_dmabuf && gid_dmabuf_begin_read(slab->fd) != 0) {
		return -EAGAIN;
	}
	int ret = find_words(drawing, source, target, &words);
	if (ret == 0 && source->fit == FIT_EXACT) {
		ret = draw_exact(source, &words, target, hashes);
	} else if (ret == 0) {
		ret = fit_draw(source->fit, &words, target, place->width, place->height);
	}
	if (is_dmabuf) {
		gid_dmabuf_end_read(slab->fd);
	}
	return ret;
}

/* Applies the transform at the size of the place, which the producer does not choose. */
int frame_drawing_draw(struct frame_drawing *drawing, enum fit fit, const struct gid_frame *frame,
		const struct gid_slab_info *slab, const void *slot, struct own_picture *picture,
		struct pixel_hashes *hashes, const struct rows_reader *reader) {
	struct source source;
	struct pixels place = picture->pixels;
	bool turned = frame->transform != WL_OUTPUT_TRANSFORM_NORMAL;
	uint32_t *target = picture->data;
	if (frame->transform & WL_OUTPUT_TRANSFORM_90) {
		place.width = picture->pixels.height;
		place.height = picture->pixels.width;
		place.stride = (size_t)place.width * 4;
	}
	if (!source_init(&source, fit, frame, &slab->layout, slot) ||
			!source_fits(&source, &place)) {
		return -ERANGE;
	}
	source.reader = reader;
	if (turned) {
		target = frame_drawing_get_memory(
				drawing, DRAWING_UNTURNED, place.stride * place.height);
		place.data = target;
	}
	if (target == NULL) {
		return -ENOMEM;
	}
	int ret = draw_unturned(drawing, &source, slab, &place, target, hashes);
	if (ret == 0 && turned) {
		pixels_turn(&place, frame->transform, picture->data);
	}
	if (ret == 0 && turned && fit == FIT_EXACT) {
		ret = pixels_hash_colour(&picture->pixels, &hashes->colour);
	}
	return ret == 0 ? !source.is_words : ret;
}
