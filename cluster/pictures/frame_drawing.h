// SPDX-License-Identifier: MIT
/**
 * Draws the picture of a frame, of whatever format and size, as words of our own: turned as it is
 * seen, at its size or fitted to a place. Each byte of a frame is read once.
 *
 * How long that takes is the producer's choice.
 */
#ifndef CLUSTER_FRAME_DRAWING_H
#define CLUSTER_FRAME_DRAWING_H

#include <gid/stream.h>

#include "own_picture.h"

enum frame_drawing_memory {
	DRAWING_ROWS,	  /* a frame's, of another format, as they were read */
	DRAWING_WORDS,	  /* made of them, to be fitted */
	DRAWING_UNTURNED, /* what is seen, as it lies in the frame */
	DRAWING_MEMORY_COUNT,
};

/* What outlives a frame. Used by one thread. */
struct frame_drawing {
	void *memory[DRAWING_MEMORY_COUNT]; /* owned */
	size_t sizes[DRAWING_MEMORY_COUNT];
};

void frame_drawing_finish(struct frame_drawing *drawing);

/*
 * Draws what is seen of the frame, whose memory is `slot` of `slab`, and whose layout was checked
 * and can be converted. With FIT_EXACT `hashes` are those of the frame's rows and of the picture,
 * and `reader`, which may be NULL, is given the rows; else neither is touched. Returns 1 where it
 * came in another format than XRGB8888 or ARGB8888, else 0; -ERANGE: it is not linear, leaves the
 * frame, or has not the size of the place, -EAGAIN: a device draws it anew, -ENOMEM.
 */
int frame_drawing_draw(struct frame_drawing *drawing, enum fit fit, const struct gid_frame *frame,
		const struct gid_slab_info *slab, const void *slot, struct own_picture *picture,
		struct pixel_hashes *hashes, const struct rows_reader *reader);

#endif
