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

/* Draws `own`, whose rows have no gaps, as it is seen. */
static void draw_turned(uint32_t *pixel, uint32_t seen_width, uint32_t seen_height,
		const struct pixels *own, uint32_t transform) {
	const uint32_t *from = own->data;
	int64_t start = pixel_seen_at(own, transform, 0, 0);
	int64_t right = pixel_seen_at(own, transform, 1, 0) - start;
	int64_t down = pixel_seen_at(own, transform, 0, 1) - start;
	for (uint32_t y = 0; y < seen_height; y++) {
		for (uint32_t x = 0; x < seen_width; x++) {
			*pixel++ = from[start + y * down + x * right];
		}
	}
}

/* The picture as it lies in memory, copied, and as it is seen. Both are to be freed in any case. */
struct turned {
	struct pixels own, seen;
	uint32_t *own_rows, *seen_rows;
};

static int turned_init(struct turned *turned, const struct pixels *pixels, uint32_t transform) {
	size_t size = (size_t)pixels->width * pixels->height * 4;
	*turned = (struct turned){.own_rows = malloc(size), .seen_rows = malloc(size)};
	struct pixels *own = &turned->own, *seen = &turned->seen;
	*own = (struct pixels){
			turned->own_rows, pixels->width, pixels->height, (size_t)pixels->width * 4};
	struct gid_box all = {0, 0, (int32_t)own->width, (int32_t)own->height};
	struct gid_box shown = gid_box_turn(all, own->width, own->height, transform);
	*seen = (struct pixels){turned->seen_rows, (uint32_t)shown.width, (uint32_t)shown.height,
			(size_t)shown.width * 4};
	if (turned->own_rows == NULL || turned->seen_rows == NULL) {
		return -ENOMEM;
	}
	for (uint32_t y = 0; y < own->height; y++) {
		memcpy(turned->own_rows + (size_t)y * own->width,
				(const uint8_t *)pixels->data + y * pixels->stride, own->stride);
	}
	draw_turned(turned->seen_rows, seen->width, seen->height, own, transform);
	return 0;
}

static void turned_finish(struct turned *turned) {
	free(turned->seen_rows);
	free(turned->own_rows);
}

int pixels_hash_turned(const struct pixels *pixels, uint32_t transform, struct pixel_hashes *hashes,
		struct digest *digest) {
	struct turned turned;
	struct pixel_hashes of_seen;
	int ret = turned_init(&turned, pixels, transform);
	if (ret == 0) {
		ret = pixels_hash(&turned.own, hashes, NULL);
	}
	if (ret == 0) {
		ret = pixels_hash(&turned.seen, &of_seen, digest);
		hashes->colour = of_seen.colour;
	}
	turned_finish(&turned);
	return ret;
}

int pixels_copy(const struct pixels *pixels, uint32_t transform, void *target, size_t stride,
		uint64_t *colour) {
	struct pixel_hashes hashes = {0};
	struct turned turned = {0};
	int ret = transform != 0 ? turned_init(&turned, pixels, transform) : 0;
	if (ret == 0) {
		ret = hash_rows(transform != 0 ? &turned.seen : pixels, &hashes, NULL, target,
				stride);
	}
	turned_finish(&turned);
	*colour = hashes.colour;
	return ret;
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
