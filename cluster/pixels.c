// SPDX-License-Identifier: MIT
#include "pixels.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wayland-server-protocol.h>
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

struct place {
	uint32_t x, y;
};

/* The pixel of the picture that is seen at a place, as wl_surface.set_buffer_transform has it. */
static struct place undo_transform(
	const struct pixels *pixels, uint32_t transform, struct place seen) {
	bool mirror_x = transform == WL_OUTPUT_TRANSFORM_270 ||
		transform == WL_OUTPUT_TRANSFORM_180 || transform == WL_OUTPUT_TRANSFORM_FLIPPED ||
		transform == WL_OUTPUT_TRANSFORM_FLIPPED_270;
	bool mirror_y = transform == WL_OUTPUT_TRANSFORM_180 ||
		transform == WL_OUTPUT_TRANSFORM_90 ||
		transform == WL_OUTPUT_TRANSFORM_FLIPPED_180 ||
		transform == WL_OUTPUT_TRANSFORM_FLIPPED_270;
	struct place place = seen;
	if (transform & WL_OUTPUT_TRANSFORM_90) {
		place = (struct place){seen.y, seen.x};
	}
	place.x = mirror_x ? pixels->width - 1 - place.x : place.x;
	place.y = mirror_y ? pixels->height - 1 - place.y : place.y;
	return place;
}

int pixels_hash_turned(
	const struct pixels *pixels, uint32_t transform, struct pixel_hashes *hashes) {
	bool across = transform & WL_OUTPUT_TRANSFORM_90;
	size_t size = (size_t)pixels->width * pixels->height * 4;
	uint32_t *copy = malloc(size), *turned = malloc(size);
	struct pixels own = {copy, pixels->width, pixels->height, (size_t)pixels->width * 4};
	struct pixels seen = {
		.data = turned,
		.width = across ? own.height : own.width,
		.height = across ? own.width : own.height,
	};
	seen.stride = (size_t)seen.width * 4;
	struct pixel_hashes of_seen;
	int ret = -ENOMEM;
	if (copy == NULL || turned == NULL) {
		goto done;
	}
	for (uint32_t y = 0; y < own.height; y++) {
		memcpy(copy + (size_t)y * own.width,
			(const uint8_t *)pixels->data + y * pixels->stride, own.stride);
	}
	for (uint32_t y = 0; y < seen.height; y++) {
		for (uint32_t x = 0; x < seen.width; x++) {
			struct place from = undo_transform(&own, transform, (struct place){x, y});
			turned[(size_t)y * seen.width + x] =
				copy[(size_t)from.y * own.width + from.x];
		}
	}
	ret = pixels_hash(&own, hashes);
	if (ret == 0) {
		ret = pixels_hash(&seen, &of_seen);
		hashes->colour = of_seen.colour;
	}

done:
	free(turned);
	free(copy);
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
