// SPDX-License-Identifier: MIT
/**
 * The command language of the engine: what lists of commands look like in a slot of the requester's
 * slab, and the page in which the engine reports. docs/engine.md describes each field.
 *
 * All numbers are little-endian. A command begins with its opcode and its size in words of 32 bits,
 * so that a reader can go over those that it does not know.
 */
#ifndef ENGINE_LANGUAGE_H
#define ENGINE_LANGUAGE_H

#include <assert.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "lists are read as they lie in memory");

/* Lists are words of memory, read and written by these structs. */
#define ENGINE_WIRE __attribute__((may_alias))

#define ENGINE_BATCH_MAGIC 0x62646967u /* `gidb` */
#define ENGINE_MAGIC 0x6c646967u       /* `gidl` */
#define ENGINE_VERSION 3u
#define ENGINE_LIST_WORDS_MAX 65536u /* of one list, with its header */
#define ENGINE_CLIP_MAX 1024u	     /* rectangles of one clip */
#define ENGINE_LAYERS_MAX 64u	     /* commands of one list that name a gid */
#define ENGINE_LINE_WIDTH_MAX 4096u  /* in 1/16 of a pixel */
#define ENGINE_POLYGON_MAX 4096u     /* points of one polygon */

/* An unknown command with this bit is skipped; without it, the list is refused. */
#define ENGINE_OPTIONAL 0x8000u

enum engine_opcode {
	ENGINE_CANVAS = 1,
	ENGINE_CLIP = 2,
	ENGINE_FILL = 3,
	ENGINE_POINTS = 4,
	ENGINE_LINES = 5,
	ENGINE_TRIANGLES = 6,
	ENGINE_LAYER = 7,
	ENGINE_MASKS = 8,
	ENGINE_PRESENT = 9,
	ENGINE_POLYGON = 10,
	ENGINE_EXPECT = 32769,
};

/* Porter and Duff's operators. */
enum engine_operator {
	ENGINE_CLEAR = 0,
	ENGINE_SRC = 1,
	ENGINE_DST = 2,
	ENGINE_OVER = 3,
	ENGINE_OVER_REVERSE = 4,
	ENGINE_IN = 5,
	ENGINE_IN_REVERSE = 6,
	ENGINE_OUT = 7,
	ENGINE_OUT_REVERSE = 8,
	ENGINE_ATOP = 9,
	ENGINE_ATOP_REVERSE = 10,
	ENGINE_XOR = 11,
	ENGINE_ADD = 12,
};

/* What is inside of a polygon whose edges cross. */
enum engine_rule {
	ENGINE_EVEN_ODD = 0, /* what an odd number of edges separates from outside */
	ENGINE_WINDING = 1,  /* what the edges go around, all in all */
};

enum engine_filter {
	ENGINE_NEAREST = 0,
	ENGINE_BILINEAR = 1,
};

/* The source's pixels are not multiplied by their alpha. */
#define ENGINE_LAYER_STRAIGHT 1u

/* The next picture begins with undefined pixels, not with those of this one. */
#define ENGINE_PRESENT_DISCARD 1u

/*
 * The beginning of a slot. Lists lie behind it, one after another. The requester appends a list and
 * then raises `end`, so that many lists need one entry of the ring only.
 */
struct ENGINE_WIRE engine_batch {
	uint32_t magic, version;
	uint64_t serial; /* another one, and not 0, whenever a slot is begun */
	uint32_t end;	 /* words of the slot that are written, with this header; ENGINE_CLOSED */
	uint32_t reserved0;
	uint64_t wanted; /* fence of a list that the requester sleeps for; 0: none */
	uint32_t reserved1[8];
};
_Static_assert(sizeof(struct engine_batch) == 64, "as docs/engine.md says");

/* In `end`: no more lists come to this slot. */
#define ENGINE_CLOSED 0x80000000u

struct ENGINE_WIRE engine_list {
	uint32_t magic;
	uint32_t words;			/* of the list, with this header */
	uint32_t fence_low, fence_high; /* above that of the list before */
};
_Static_assert(sizeof(struct engine_list) == 16, "as docs/engine.md says");

struct ENGINE_WIRE engine_head {
	uint16_t opcode, words; /* of the whole command */
};

struct ENGINE_WIRE engine_point {
	int16_t x, y;
};

struct ENGINE_WIRE engine_rectangle {
	int16_t x, y;
	uint16_t width, height;
};

struct ENGINE_WIRE engine_canvas {
	struct engine_head head;
	uint16_t width, height;
	uint32_t fourcc;
	uint32_t reserved;
};
_Static_assert(sizeof(struct engine_canvas) == 16, "as docs/engine.md says");

struct ENGINE_WIRE engine_clip {
	struct engine_head head;
	struct engine_rectangle rectangles[]; /* none: the whole canvas */
};
_Static_assert(sizeof(struct engine_clip) == 4, "as docs/engine.md says");

struct ENGINE_WIRE engine_fill {
	struct engine_head head;
	uint32_t op; /* enum engine_operator */
	uint32_t colour;
	struct engine_rectangle rectangles[];
};
_Static_assert(sizeof(struct engine_fill) == 12, "as docs/engine.md says");

struct ENGINE_WIRE engine_points {
	struct engine_head head;
	uint32_t colour;
	struct engine_point points[];
};
_Static_assert(sizeof(struct engine_points) == 8, "as docs/engine.md says");

struct ENGINE_WIRE engine_lines {
	struct engine_head head;
	uint32_t colour;
	uint32_t width; /* 1/16 of a pixel */
	struct engine_point points[];
};
_Static_assert(sizeof(struct engine_lines) == 12, "as docs/engine.md says");

struct ENGINE_WIRE engine_triangles {
	struct engine_head head;
	uint32_t colour;
	struct engine_point points[]; /* three for each */
};
_Static_assert(sizeof(struct engine_triangles) == 8, "as docs/engine.md says");

struct ENGINE_WIRE engine_layer {
	struct engine_head head;
	uint8_t op, filter, transform, alpha;
	uint32_t gid_low, gid_high;
	uint8_t primaries, transfer, matrix, range; /* struct gid_colours; 0: as its slab says */
	uint16_t source_x, source_y, source_width, source_height; /* 0, 0: the whole picture */
	int16_t x, y;
	uint16_t width, height; /* 0, 0: that of the source, after the transform */
	uint16_t flags, reserved1;
};
_Static_assert(sizeof(struct engine_layer) == 40, "as docs/engine.md says");

struct ENGINE_WIRE engine_glyph {
	uint16_t source_x, source_y, width, height;
	int16_t x, y;
};

struct ENGINE_WIRE engine_masks {
	struct engine_head head;
	uint32_t colour;
	uint32_t gid_low, gid_high;
	struct engine_glyph glyphs[];
};
_Static_assert(sizeof(struct engine_masks) == 16, "as docs/engine.md says");

struct ENGINE_WIRE engine_present {
	struct engine_head head;
	uint32_t flags;
	struct engine_rectangle damage; /* empty: all of it */
	uint32_t pts_low, pts_high;	/* media time in ns; 2^64-1: none */
};
_Static_assert(sizeof(struct engine_present) == 24, "as docs/engine.md says");

struct ENGINE_WIRE engine_polygon {
	struct engine_head head;
	uint32_t colour;
	uint32_t rule; /* enum engine_rule */
	struct engine_point points[];
};
_Static_assert(sizeof(struct engine_polygon) == 12, "as docs/engine.md says");

_Static_assert((ENGINE_EXPECT & ENGINE_OPTIONAL) != 0, "older engines skip it");

/* Lists to come will have sources of this gid's slab. Nothing is drawn. */
struct ENGINE_WIRE engine_expect {
	struct engine_head head;
	uint32_t gid_low, gid_high;
};
_Static_assert(sizeof(struct engine_expect) == 12, "as docs/engine.md says");

/* What draws the canvas. */
enum engine_back_end {
	ENGINE_PIXMAN = 0,
	ENGINE_GLES = 1, /* what it can; the rest pixman */
};

#define ENGINE_REPORT_MAGIC 0x656e69676e646967ull /* `gidngine` */
#define ENGINE_REPORT_TEXT 192u

/*
 * The engine's report on one canvas, in memory that only the engine writes. The engine makes
 * `refusals` odd, changes the fields behind it, and makes it even: who reads them looks at
 * `refusals` before and after. `asleep` has a line of its own: requesters look at it for each list,
 * while the fields above change.
 */
struct ENGINE_WIRE engine_report {
	uint64_t magic;
	uint32_t version;
	uint32_t slots;	  /* how many pictures the canvas may have */
	uint64_t lists;	  /* done: drawn or refused */
	uint64_t fence;	  /* of the last list that is done */
	uint64_t refused; /* lists */
	uint64_t presented;
	uint64_t not_presented; /* pictures, for which no slot was free */
	uint64_t work_ns;	/* of a processor, for this canvas */
	uint64_t refusals;
	uint64_t refused_fence;
	int32_t refused_error; /* -errno */
	uint32_t refused_word; /* where in the list */
	char refused_text[ENGINE_REPORT_TEXT];
	uint32_t back_end; /* enum engine_back_end */
	uint32_t reserved1;
	uint64_t copied_sources;  /* pictures, to a graphics device */
	uint64_t copied_canvases; /* to it or back */
	uint32_t reserved2[4];
	uint64_t asleep; /* odd: no batch is looked at before the ring has a frame */
	uint32_t reserved3[14];
};
_Static_assert(sizeof(struct engine_report) == 384, "as docs/engine.md says");

/* The names of a canvas's streams; %s is the canvas's name. */
#define ENGINE_LISTS_STREAM "engine/%s"
#define ENGINE_CANVAS_STREAM "canvas/%s"
#define ENGINE_REPORT_STREAM "canvas/%s/report"
#define ENGINE_NAME_MAX 48u /* bytes of a canvas's name */

#endif
