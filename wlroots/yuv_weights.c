// SPDX-License-Identifier: MIT
#include "yuv_weights.h"

#include "yuv_matrix.h"

bool yuv_is_paired(const struct gid_format_info *format) {
	return format->kind == GID_FORMAT_YUV && format->planes[0].hsub == 2;
}

bool yuv_is_drawn(const struct gid_format_info *format) {
	return format->kind == GID_FORMAT_YUV && (format->plane_count > 1 || yuv_is_paired(format));
}

uint32_t yuv_sample_bytes(const struct gid_format_info *format) {
	return format->planes[0].bytes / (yuv_is_paired(format) ? 4 : 1);
}

/* The weight of a sample in red, green and blue, and its value without colour. */
struct part {
	double weights[3];
	double zero, range; /* 8-bit codes: without colour, and from there to the largest */
};

static void weights_add(struct yuv_weights *weights, const struct gid_format_info *format, int kind,
		const struct part *part) {
	const struct gid_format_sample *sample = &format->samples[kind];
	const uint32_t bits = 8 * yuv_sample_bytes(format);
	/*
	 * Luma of pairs is in the first texture, which has each pixel; their chroma is in the
	 * second.
	 */
	const uint32_t texture = yuv_is_paired(format) ? kind != 0 : sample->plane;
	const uint32_t colour = sample->shift / bits;
	const uint32_t below = sample->shift % bits;
	/* OpenGL's 1 is a sample with all bits set, of which the upper ones may be unused. */
	const double codes =
			(double)((1u << bits) - 1) * 256 / (double)(1u << (sample->bits + below));
	for (int i = 0; i < 3; i++) {
		weights->matrices[texture][4 * colour + (uint32_t)i] =
				(float)(part->weights[i] * codes / part->range);
		weights->offset[i] -= (float)(part->weights[i] * part->zero / part->range);
	}
}

void yuv_weights_init(struct yuv_weights *weights, const struct gid_colours *colours,
		const struct gid_format_info *format) {
	struct yuv_matrix matrix;
	yuv_matrix_init(&matrix, colours);
	const struct part parts[] = {
			{{1, 1, 1}, matrix.black, matrix.luma},
			{{0, -matrix.green_u, matrix.blue_u}, 128, matrix.chroma},
			{{matrix.red_v, -matrix.green_v, 0}, 128, matrix.chroma},
	};
	*weights = (struct yuv_weights){.offset = {0, 0, 0, 1}};
	for (int kind = 0; kind < 3; kind++) {
		weights_add(weights, format, kind, &parts[kind]);
	}
}
