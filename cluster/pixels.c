// SPDX-License-Identifier: MIT
#include "pixels.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <xxhash.h>

#define CHUNK 1024 /* pixels */

int pixels_hash(const struct pixels *pixels, struct pixel_hashes *hashes) {
	XXH3_state_t *content = XXH3_createState(), *colour = XXH3_createState();
	int ret = -ENOMEM;
	if (content == NULL || colour == NULL) {
		goto done;
	}
	XXH3_64bits_reset(content);
	XXH3_64bits_reset(colour);
	for (uint32_t y = 0; y < pixels->height; y++) {
		const uint8_t *row = (const uint8_t *)pixels->data + y * pixels->stride;
		for (uint32_t x = 0; x < pixels->width; x += CHUNK) {
			uint32_t copy[CHUNK];
			uint32_t count = pixels->width - x < CHUNK ? pixels->width - x : CHUNK;
			memcpy(copy, row + (size_t)x * 4, (size_t)count * 4);
			XXH3_64bits_update(content, copy, (size_t)count * 4);
			for (uint32_t i = 0; i < count; i++) {
				copy[i] |= htole32(0xff000000u);
			}
			XXH3_64bits_update(colour, copy, (size_t)count * 4);
		}
	}
	hashes->content = XXH3_64bits_digest(content);
	hashes->colour = XXH3_64bits_digest(colour);
	ret = 0;

done:
	XXH3_freeState(content);
	XXH3_freeState(colour);
	return ret;
}

struct pixels pixels_part(
	const struct pixels *pixels, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
	return (struct pixels){
		.data = (const uint8_t *)pixels->data + y * pixels->stride + (size_t)x * 4,
		.width = width,
		.height = height,
		.stride = pixels->stride,
	};
}
