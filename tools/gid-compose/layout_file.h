// SPDX-License-Identifier: MIT
/** The file that says what is on the canvas. Pure, but for the reading. */
#ifndef COMPOSE_LAYOUT_FILE_H
#define COMPOSE_LAYOUT_FILE_H

#include <gid/stream.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What the file leaves to what is known of a stream's frames. */
enum layer_choice {
	LAYER_AUTO = 0,
	LAYER_NO = 1,
	LAYER_YES = 2,
};

struct layer_config {
	char *name;	       /* of its section */
	unsigned line;	       /* where that begins */
	char *stream, *domain; /* domain NULL: our own */
	struct gid_box source; /* empty: all of it */
	int16_t x, y;
	uint16_t width, height; /* 0: as large as the source */
	int32_t z;
	uint8_t alpha, turn; /* turn as enum wl_output_transform */
	bool nearest;
	struct gid_colours colours; /* of YUV: matrix and range; 0: as its slab says */
	enum layer_choice straight; /* not multiplied by alpha */
};

struct layout_file {
	char *engine, *canvas;
	uint32_t fourcc, width, height;
	uint32_t rate;		     /* pictures a second, at most */
	uint32_t background;	     /* 0xffRRGGBB */
	struct layer_config *layers; /* by z, the lowest first */
	size_t layer_count;
};

/*
 * Reads the file and writes each mistake to `errors` as `NAME:LINE: what is wrong`. Returns 0,
 * -EINVAL, -ENOMEM, or why the file cannot be opened. The layout is to be finished in any case.
 */
int layout_file_read(struct layout_file *layout, const char *path, FILE *errors);
int layout_file_read_stream(struct layout_file *layout, FILE *file, const char *name, FILE *errors);

void layout_file_finish(struct layout_file *layout);

#endif
