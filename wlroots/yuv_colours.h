// SPDX-License-Identifier: MIT
/**
 * What the numbers of YUV pictures mean as red, green and blue, as the layout of their slab says.
 */
#ifndef GID_WLROOTS_YUV_COLOURS_H
#define GID_WLROOTS_YUV_COLOURS_H

#include <gid/gid.h>

struct yuv_colours {
	float red, blue;	     /* their parts of luma; green's is the rest */
	float black, luma_range;     /* codes of 8 bits */
	float neutral, chroma_range; /* the same */
};

/* ITU-R BT.601-7 of narrow range, which Weston's renderer assumes as well. */
extern const struct yuv_colours yuv_bt601_narrow;

/* Of a layout; those of yuv_bt601_narrow where it says nothing. */
struct yuv_colours yuv_colours_of(const struct gid_colours *said);

/* Whether they are those that renderers take all YUV for. */
bool yuv_colours_are_usual(const struct yuv_colours *colours);

/*
 * Each plane is a texture of one or two colours. Of formats whose pixels share a block in pairs, as
 * YUYV, the one plane is two: with two colours a pixel, of which one is luma, and with four a
 * block.
 */
#define YUV_TEXTURES_MAX 3

bool yuv_is_paired(uint32_t fourcc);

/* As OpenGL has matrices: column after column. */
struct yuv_weights {
	float matrices[YUV_TEXTURES_MAX][16]; /* of what each texture gives: red to alpha */
	float offset[4]; /* added to their sum: red, green, blue and opaque alpha */
};

/*
 * Of a format that gidway knows to be paired, or to have two or three planes, whose samples OpenGL
 * has scaled to 0 to 1.
 */
void yuv_weights_init(
		struct yuv_weights *weights, const struct yuv_colours *colours, uint32_t fourcc);

#endif
