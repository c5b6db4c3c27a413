// SPDX-License-Identifier: MIT
/** YUV pictures as textures, and what each of these weighs in red, green and blue. */
#ifndef GID_WLROOTS_YUV_WEIGHTS_H
#define GID_WLROOTS_YUV_WEIGHTS_H

#include <gid/gid.h>

/*
 * Each plane is a texture of one or two colours. Of formats whose pixels share a block in pairs, as
 * YUYV, the one plane is two: with two colours a pixel, of which one is luma, and with four a
 * block.
 */
#define YUV_TEXTURES_MAX 3

bool yuv_is_paired(const struct gid_format_info *format);

/* Whether it can be read so: formats of more than one plane, and paired ones. */
bool yuv_is_drawn(const struct gid_format_info *format);

/* Bytes of each of its samples: 1 or 2. */
uint32_t yuv_sample_bytes(const struct gid_format_info *format);

/* As OpenGL has matrices: column after column. */
struct yuv_weights {
	float matrices[YUV_TEXTURES_MAX][16]; /* of what each texture gives: red to alpha */
	float offset[4]; /* added to their sum: red, green, blue and opaque alpha */
};

/* Of a format that is drawn, whose samples OpenGL has scaled to 0 to 1. */
void yuv_weights_init(struct yuv_weights *weights, const struct gid_colours *colours,
		const struct gid_format_info *format);

#endif
