// SPDX-License-Identifier: MIT
/** What back ends share: parts of long commands, colours, and where a layer goes. */
#ifndef ENGINE_DRAWING_PARTS_H
#define ENGINE_DRAWING_PARTS_H

#include "back_end.h"

#define PART_PIXELS ((uint64_t)512 << 10) /* about a millisecond of work */

/* From 0xAARRGGBB to pixman's colours, which are multiplied by alpha and have 16 bits. */
pixman_color_t drawing_colour(uint32_t colour);

/* The part of a box that lies in the clip's extents; false: none. */
bool drawing_overlaps(struct drawing *drawing, pixman_box32_t *box);

/* Counts the pixels of such a part, and the clip's rectangles, each of which is looked at. */
void drawing_count(struct drawing *drawing, const pixman_box32_t *box);

/* Both. */
bool drawing_cut(struct drawing *drawing, pixman_box32_t *box);

/* Between two parts: whether the command goes on. */
bool drawing_goes_on(struct drawing *drawing);

/* Whether its pixels have an alpha that they are not multiplied by. */
bool layer_is_straight(const struct engine_layer *layer, uint32_t fourcc);

/* What YUV means: as the layer says, and what it leaves open as its picture says. */
struct gid_colours layer_colours(const struct engine_layer *layer, const struct gid_layout *source);

/* What a layer shows, and where. */
struct placed {
	uint32_t x, y, width, height; /* of the source */
	pixman_box32_t box;	      /* of the target, not cut */
	bool plain;		      /* pixel for pixel */
};

/* Returns 0; -ERANGE: it would show what is outside of its source. */
int placed_init(struct placed *placed, const struct engine_layer *layer,
		const struct gid_layout *source);

/*
 * From pixels of the target, counted from `from`, to those of the source's box: the inverse of what
 * wl_output's transforms do. Returns 0; -ERANGE: the numbers are too large.
 */
int placed_transform(pixman_transform_t *transform, const struct placed *placed, uint32_t turn,
		const pixman_box32_t *from);

#endif
