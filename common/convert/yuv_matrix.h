// SPDX-License-Identifier: MIT
/**
 * How YUV is converted to red, green and blue, as the layout of the slab says: the one place that
 * knows coefficients and ranges. Pure.
 */
#ifndef GID_CONVERT_YUV_MATRIX_H
#define GID_CONVERT_YUV_MATRIX_H

#include <gid/gid.h>

/*
 * BT.601-7, 2.5, from codes of 8 bits: y = (Y - black) / luma, u = (U - 128) / chroma, v likewise;
 * R = y + red_v * v, G = y - green_u * u - green_v * v, B = y + blue_u * u, all from 0 to 1.
 */
struct yuv_matrix {
	double black, luma, chroma;
	double red_v, green_u, green_v, blue_u;
};

/* A matrix or range that is unset or unknown counts as BT.601 and limited range. */
static inline enum gid_matrix yuv_matrix_meant(const struct gid_colours *colours) {
	switch (colours->matrix) {
	case GID_MATRIX_BT709:
	case GID_MATRIX_FCC:
	case GID_MATRIX_SMPTE240M:
	case GID_MATRIX_BT2020:
		return colours->matrix;
	default:
		return GID_MATRIX_BT601;
	}
}

static inline enum gid_range yuv_range_meant(const struct gid_colours *colours) {
	return colours->range == GID_RANGE_FULL ? GID_RANGE_FULL : GID_RANGE_LIMITED;
}

/* Whether the colours are those that renderers assume for all YUV: BT.601 of limited range. */
static inline bool yuv_matrix_is_usual(const struct gid_colours *colours) {
	return yuv_matrix_meant(colours) == GID_MATRIX_BT601 &&
			yuv_range_meant(colours) == GID_RANGE_LIMITED;
}

static inline void yuv_matrix_init(struct yuv_matrix *matrix, const struct gid_colours *colours) {
	/* The parts of red and blue in luma; green's is the rest. */
	static const struct {
		double red, blue;
	} parts[] = {
			[GID_MATRIX_BT709] = {0.2126, 0.0722},
			[GID_MATRIX_FCC] = {0.30, 0.11},
			[GID_MATRIX_BT601] = {0.299, 0.114},
			[GID_MATRIX_SMPTE240M] = {0.212, 0.087},
			[GID_MATRIX_BT2020] = {0.2627, 0.0593},
	};
	const double red = parts[yuv_matrix_meant(colours)].red;
	const double blue = parts[yuv_matrix_meant(colours)].blue;
	const bool full = yuv_range_meant(colours) == GID_RANGE_FULL;
	*matrix = (struct yuv_matrix){
			.black = full ? 0 : 16,
			.luma = full ? 255 : 219,
			.chroma = full ? 255 : 224,
			.red_v = 2 * (1 - red),
			.green_u = 2 * (1 - blue) * blue / (1 - red - blue),
			.green_v = 2 * (1 - red) * red / (1 - red - blue),
			.blue_u = 2 * (1 - blue),
	};
}

#endif
