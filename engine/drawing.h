// SPDX-License-Identifier: MIT
/**
 * Draws commands into a picture, on the calling thread. Whatever a command says, nothing is drawn
 * outside of the picture and of its clip, and nothing is read outside of a source.
 *
 * The engine calls nothing else: which back end draws is decided here, command by command.
 */
#ifndef ENGINE_DRAWING_H
#define ENGINE_DRAWING_H

#include "back_end.h"

/* Whether pictures of the format can be drawn into. */
bool drawing_can_target(uint32_t fourcc);

void drawing_init(struct drawing *drawing);

/*
 * From the next target on this back end draws what it can, and pixman the rest. Takes `device`,
 * which the back end needs.
 */
void drawing_use(struct drawing *drawing, const struct back_end *back_end, void *device);

void drawing_finish(struct drawing *drawing);

/*
 * Sets the target, without a clip: `slot` is memory with the layout, and stays the caller's until
 * another target is begun. It must be aligned for uint32_t. Returns 0; -ENOTSUP: not a format for a
 * target, or a stride or offset that is not a multiple of 4; -ENOMEM.
 */
int drawing_begin(struct drawing *drawing, const struct gid_layout *layout, void *slot);

/*
 * The target's memory goes away, or was written by others: begin a target again before drawing.
 * Deferred commands are dropped.
 */
void drawing_forget(struct drawing *drawing);

/*
 * With `fuses`: draws deferred commands, whose sources are not read afterwards. Returns 0, -ENOMEM,
 * or -ECANCELED.
 */
int drawing_catch_up(struct drawing *drawing);

/*
 * Brings all that was drawn into the target's memory. Returns 0; -EIO: the device lost it; -ENOMEM;
 * -ECANCELED.
 */
int drawing_flush(struct drawing *drawing);

/* Waits until no source is being read. */
void drawing_wait(struct drawing *drawing);

/* Replaces the clip; `count` 0: the whole picture. Returns as the functions below. */
int drawing_set_clip(
		struct drawing *drawing, const struct engine_rectangle *rectangles, size_t count);

/*
 * Each returns 0, -ENOMEM, -ECANCELED: `go_on` ended it, or -EIO: a device is lost, and with it
 * what was drawn since the target was begun. The commands were checked by the reader. A layer's
 * source may also be refused: -ENOTSUP for its format, -ERANGE for a box outside of it.
 */
int drawing_fill(struct drawing *drawing, const struct engine_fill *fill);
int drawing_points(struct drawing *drawing, const struct engine_points *points);
int drawing_lines(struct drawing *drawing, const struct engine_lines *lines);
int drawing_triangles(struct drawing *drawing, const struct engine_triangles *triangles);
int drawing_polygon(struct drawing *drawing, const struct engine_polygon *polygon);
int drawing_layer(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source);
int drawing_masks(struct drawing *drawing, const struct engine_masks *masks,
		const struct picture *source);

#endif
