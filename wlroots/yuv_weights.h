// SPDX-License-Identifier: MIT
/**
 * How the planes of a YUV picture are read as textures, and the weights of these in red, green and
 * blue.
 */
#ifndef GID_WLROOTS_YUV_WEIGHTS_H
#define GID_WLROOTS_YUV_WEIGHTS_H

#include <gid/gid.h>

/*
 * Each plane is a texture of one or two components. If pixels share a block in pairs, as in YUYV,
 * the one plane is read as two textures: one with two components for each pixel, one of them luma,
 * and one with four components for each block.
 */
#define YUV_TEXTURES_MAX 3

bool yuv_is_paired(const struct gid_format_info *format);

/* Whether it can be read in this way: formats with several planes, and paired ones. */
bool yuv_is_drawn(const struct gid_format_info *format);

/* In bytes: 1 or 2. */
uint32_t yuv_sample_bytes(const struct gid_format_info *format);

/* Matrices in OpenGL's order: column after column. */
struct yuv_weights {
	float matrices[YUV_TEXTURES_MAX][16]; /* of each texture's components: red to alpha */
	float offset[4]; /* added to their sum: red, green, blue and opaque alpha */
};

/* For a format that is drawn. OpenGL has scaled its samples to 0 to 1. */
void yuv_weights_init(struct yuv_weights *weights, const struct gid_colours *colours,
		const struct gid_format_info *format);

#endif
