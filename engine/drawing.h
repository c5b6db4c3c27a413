// SPDX-License-Identifier: MIT
/**
 * Draws commands into a picture, on the calling thread, by pixman. Whatever a command says, nothing
 * is drawn outside of the picture and of its clip, and nothing is read outside of a source.
 *
 * Another back end has these functions, too: the engine calls nothing else.
 */
#ifndef ENGINE_DRAWING_H
#define ENGINE_DRAWING_H

#include "language.h"
#include "source_picture.h"
#include <pixman.h>

struct drawing {
	struct gid_layout layout; /* of the target */
	void *slot;
	uint8_t *memory; /* its first row */
	pixman_image_t *image;
	bool image_is_clipped;	/* by `clip` */
	pixman_region32_t clip; /* within the target */
	uint64_t cost;		/* pixels and points that were looked at, since drawing_begin() */
	uint32_t *scratch;	/* converted pixels */
	size_t scratch_size;	/* of them */
	/*
	 * Called between two parts of a long command, each of which takes about a millisecond.
	 * False ends the command where it is. NULL: nobody is asked.
	 */
	bool (*go_on)(void *data);
	void *data;
};

/* Formats that can be drawn into, and those that layers may have. */
bool drawing_can_target(uint32_t fourcc);
bool drawing_can_read(uint32_t fourcc);

void drawing_init(struct drawing *drawing);
void drawing_finish(struct drawing *drawing);

/*
 * The target from now on, without a clip: `slot` is memory with the layout, and stays the caller's
 * until another target is begun. It must be aligned for uint32_t. Returns 0; -ENOTSUP: not a format
 * for a target, or a stride or offset that is not a multiple of 4; -ENOMEM.
 */
int drawing_begin(struct drawing *drawing, const struct gid_layout *layout, void *slot);

/* The target's memory goes away. */
void drawing_forget(struct drawing *drawing);

/* Each begins where the one before ended. `count` 0: the whole picture. */
int drawing_set_clip(
		struct drawing *drawing, const struct engine_rectangle *rectangles, size_t count);

/*
 * Each returns 0, -ENOMEM, or -ECANCELED: `go_on` ended it. The commands were checked by the
 * reader. A layer's source may also be refused: -ENOTSUP for its format, -ERANGE for a box outside
 * of it.
 */
int drawing_fill(struct drawing *drawing, const struct engine_fill *fill);
void drawing_points(struct drawing *drawing, const struct engine_points *points);
int drawing_lines(struct drawing *drawing, const struct engine_lines *lines);
int drawing_triangles(struct drawing *drawing, const struct engine_triangles *triangles);
int drawing_polygon(struct drawing *drawing, const struct engine_polygon *polygon);
int drawing_layer(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source);
int drawing_masks(struct drawing *drawing, const struct engine_masks *masks,
		const struct picture *source);

/* Zeroes everywhere, whatever the clip. */
void drawing_clear(struct drawing *drawing);

#endif
