// SPDX-License-Identifier: MIT
/*
 * To be preloaded: the renderer has a fault. Where the file SPOILED_COMPOSITION is, it is removed,
 * and one bit of the next picture of a role is drawn wrong, once, in the place where it is shown.
 */
#include <dlfcn.h>
#include <pixman.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Of tests/safety/test_composed.py. */
#define OUTPUT_WIDTH 640
#define ROLE_WIDTH 320
/* Within the picture, down and to the right. */
#define AT 10

void pixman_image_composite32(pixman_op_t op, pixman_image_t *from, pixman_image_t *mask,
		pixman_image_t *to, int32_t from_x, int32_t from_y, int32_t mask_x, int32_t mask_y,
		int32_t to_x, int32_t to_y, int32_t width, int32_t height) {
	__typeof__(&pixman_image_composite32) real =
			(__typeof__(real))(uintptr_t)dlsym(RTLD_NEXT, "pixman_image_composite32");
	real(op, from, mask, to, from_x, from_y, mask_x, mask_y, to_x, to_y, width, height);
	const char *path = getenv("SPOILED_COMPOSITION");
	if (path == NULL || pixman_image_get_width(to) != OUTPUT_WIDTH ||
			pixman_image_get_width(from) != ROLE_WIDTH || unlink(path) < 0) {
		return;
	}
	uint32_t *pixels = pixman_image_get_data(to);
	pixels[(to_y + AT) * (pixman_image_get_stride(to) / (int)sizeof(*pixels)) + to_x + AT] ^= 1u
			<< 8;
}
