// SPDX-License-Identifier: MIT
/**
 * A back end draws: a table of functions, and bits that say which of them it has. engine/drawing
 * calls them, and lets pixman do what another back end cannot.
 *
 * Whatever a command says, a back end draws nothing outside of the target and its clip, and reads
 * nothing outside of a source.
 */
#ifndef ENGINE_BACK_END_H
#define ENGINE_BACK_END_H

#include <pixman.h>

#include "fused_row.h"
#include "language.h"
#include "source_picture.h"

enum {
	CAN_FILL = 1 << 0,
	CAN_POINTS = 1 << 1,
	CAN_LINES = 1 << 2,
	CAN_TRIANGLES = 1 << 3,
	CAN_POLYGONS = 1 << 4,
	CAN_LAYERS = 1 << 5,
	CAN_MASKS = 1 << 6,
	CAN_ALL = (1 << 7) - 1,
};

/* Copies that a back end has made since it was created. */
struct drawing_copies {
	uint64_t sources; /* pictures that the device could not read where they are */
	uint64_t begun;	  /* targets, to the device */
	uint64_t flushed; /* targets, or parts of them, back to their memory */
};

/* A deferred command: see engine/fused_drawing. */
struct fused_command {
	pixman_box32_t box;    /* of the target, cut */
	const uint8_t *memory; /* of the source, for the box's corner; NULL: a colour */
	uint32_t stride;       /* of it */
	struct row_layer how;  /* but for `pixels` */
};

struct fused {
	uint32_t count;
	struct fused_command commands[FUSED_LAYERS_MAX];
};

struct helper_job;

struct drawing {
	struct gid_layout layout; /* of the target */
	void *slot;
	uint8_t *memory;	/* its first row */
	pixman_region32_t clip; /* within the target */
	uint64_t cost;		/* pixels and points that were looked at, since drawing_begin() */
	/*
	 * Called about every millisecond during a long command. False ends the command where it is.
	 * NULL: nobody is asked.
	 */
	bool (*go_on)(void *data);
	void *data;
	struct helper_job *job; /* by which other threads help with bands; NULL: none do */
	/*
	 * Commands may be deferred until drawing_catch_up() or drawing_flush(). Their sources must
	 * exist until then.
	 */
	bool fuses;
	struct fused fused;

	/* State of pixman, which draws in the target's memory. */
	pixman_image_t *image;
	bool image_is_clipped; /* by `clip` */
	bool knows_pixel;      /* of the last points: `pixel` is `colour` in the target's format */
	uint32_t colour, pixel;
	uint32_t *scratch;   /* converted pixels */
	size_t scratch_size; /* of them */

	/* State of another back end, which may draw elsewhere. */
	const struct back_end *back_end; /* NULL: there is only pixman */
	void *device;
	bool uses_device; /* for this target */
	struct drawing_copies copies;
};

/*
 * Functions return 0 or -errno. Those that draw return -ENOTSUP if they cannot draw this command,
 * of which they have drawn nothing then; -ECANCELED if `go_on` ended it; -EIO if the device is lost
 * with what was drawn since the target was begun.
 */
struct back_end {
	const char *name;
	uint32_t can; /* which of the functions there are */
	/* A new target. -ENOTSUP: pixman is to draw all of it. */
	int (*begin)(struct drawing *drawing);
	/* The target's memory goes away, or was written by others. */
	void (*forget)(struct drawing *drawing);
	void (*finish)(struct drawing *drawing);
	/*
	 * Brings all that was drawn into the target's memory. `changes`: the caller writes there
	 * next. NULL: it is always there.
	 */
	int (*flush)(struct drawing *drawing, bool changes);
	/* When it returns, no source is read any more. NULL: none ever is. */
	void (*wait)(struct drawing *drawing);
	int (*fill)(struct drawing *drawing, const struct engine_fill *fill);
	int (*points)(struct drawing *drawing, const struct engine_points *points);
	int (*lines)(struct drawing *drawing, const struct engine_lines *lines);
	int (*triangles)(struct drawing *drawing, const struct engine_triangles *triangles);
	int (*polygon)(struct drawing *drawing, const struct engine_polygon *polygon);
	int (*layer)(struct drawing *drawing, const struct engine_layer *layer,
			const struct picture *source);
	int (*masks)(struct drawing *drawing, const struct engine_masks *masks,
			const struct picture *source);
};

#endif
