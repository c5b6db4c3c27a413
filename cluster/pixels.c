// SPDX-License-Identifier: MIT
#include "pixels.h"

#include <endian.h>
#include <errno.h>
#include <gid/stream.h>
#include <glib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#define CHUNK 1024 /* pixels */

/* Made at first use. Until the process ends. */
static uint8_t secret[XXH3_SECRET_SIZE_MIN];

static void secret_make(void) {
	/* Fewer than 256 bytes come whole, or, on a kernel without randomness, not at all. */
	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret)) {
		abort();
	}
}

/* `target`: what `colour` is of is written there, too; NULL: nowhere. */
static int hash_rows(const struct pixels *pixels, struct pixel_hashes *hashes,
		struct digest *digest, uint8_t *target, size_t stride) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, secret_make);
	XXH3_state_t *content = XXH3_createState(), *colour = XXH3_createState();
	GChecksum *sum = digest != NULL ? g_checksum_new(G_CHECKSUM_SHA256) : NULL;
	int ret = -ENOMEM;
	if (content == NULL || colour == NULL) {
		goto done;
	}
	XXH3_64bits_reset(content);
	XXH3_64bits_reset_withSecret(colour, secret, sizeof(secret));
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
			if (target != NULL) {
				memcpy(target + y * stride + (size_t)x * 4, copy,
						(size_t)count * 4);
			}
			if (sum != NULL) {
				g_checksum_update(sum, (const guchar *)copy, (gssize)count * 4);
			}
		}
	}
	hashes->content = XXH3_64bits_digest(content);
	hashes->colour = XXH3_64bits_digest(colour);
	if (sum != NULL) {
		gsize size = sizeof(digest->bytes);
		g_checksum_get_digest(sum, digest->bytes, &size);
	}
	ret = 0;

done:
	if (sum != NULL) {
		g_checksum_free(sum);
	}
	XXH3_freeState(content);
	XXH3_freeState(colour);
	return ret;
}

int pixels_hash(const struct pixels *pixels, struct pixel_hashes *hashes, struct digest *digest) {
	return hash_rows(pixels, hashes, digest, NULL, 0);
}

/* Where in `own` the pixel lies that is seen at a place. */
static int64_t pixel_seen_at(const struct pixels *own, uint32_t transform, int32_t x, int32_t y) {
	struct gid_box seen = {x, y, 1, 1};
	struct gid_box pixel = gid_box_turn_back(seen, own->width, own->height, transform);
	return (int64_t)pixel.y * own->width + pixel.x;
}

void pixels_turn(const struct pixels *own, uint32_t transform, uint32_t *seen) {
	struct gid_box all = {0, 0, (int32_t)own->width, (int32_t)own->height};
	struct gid_box shown = gid_box_turn(all, own->width, own->height, transform);
	const uint32_t *from = own->data;
	int64_t start = pixel_seen_at(own, transform, 0, 0);
	int64_t right = pixel_seen_at(own, transform, 1, 0) - start;
	int64_t down = pixel_seen_at(own, transform, 0, 1) - start;
	for (int32_t y = 0; y < shown.height; y++) {
		for (int32_t x = 0; x < shown.width; x++) {
			*seen++ = from[start + y * down + x * right];
		}
	}
}

int pixels_copy(const struct pixels *pixels, void *target, size_t stride,
		struct pixel_hashes *hashes) {
	return hash_rows(pixels, hashes, NULL, target, stride);
}

struct pixels pixels_part(const struct pixels *pixels, uint32_t x, uint32_t y, uint32_t width,
		uint32_t height) {
	return (struct pixels){
			.data = (const uint8_t *)pixels->data + y * pixels->stride + (size_t)x * 4,
			.width = width,
			.height = height,
			.stride = pixels->stride,
	};
}
