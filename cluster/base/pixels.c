// SPDX-License-Identifier: MIT
#include "pixels.h"

#include <endian.h>
#include <errno.h>
#include <gid/stream.h>
#include <glib.h>
#include <pixman.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#define CHUNK 1024 /* pixels */
#define OPAQUE htole32(0xff000000u)

struct pixels pixels_part(const struct pixels *pixels, uint32_t x, uint32_t y, uint32_t width,
		uint32_t height) {
	return (struct pixels){
			.data = (const uint8_t *)pixels->data + y * pixels->stride + (size_t)x * 4,
			.width = width,
			.height = height,
			.stride = pixels->stride,
	};
}

/* --- hashes ----------------------------------------------------------------------------------- */

/* Created at first use; lives until the process ends. */
static uint8_t secret[XXH3_SECRET_SIZE_MIN];

static void secret_make(void) {
	/* The kernel gives up to 256 bytes as a whole, or fails if it has no randomness. */
	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret)) {
		abort();
	}
}

/* One set for each thread, for its lifetime: no allocation for each picture. */
struct states {
	XXH3_state_t *content, *colour;
};

static pthread_key_t states_of_thread;

static void states_destroy(void *data) {
	struct states *states = data;
	XXH3_freeState(states->content);
	XXH3_freeState(states->colour);
	free(states);
}

static void make_all(void) {
	secret_make();
	if (pthread_key_create(&states_of_thread, states_destroy) != 0) {
		abort();
	}
}

/* NULL: out of memory. */
static struct states *states_get(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_all);
	struct states *states = pthread_getspecific(states_of_thread);
	if (states != NULL) {
		return states;
	}
	states = calloc(1, sizeof(*states));
	if (states == NULL) {
		return NULL;
	}
	states->content = XXH3_createState();
	states->colour = XXH3_createState();
	if (states->content == NULL || states->colour == NULL ||
			pthread_setspecific(states_of_thread, states) != 0) {
		states_destroy(states);
		return NULL;
	}
	return states;
}

/* Four pixels at any address. */
typedef uint32_t fours __attribute__((vector_size(16), may_alias, aligned(4)));

static void make_opaque(uint32_t *row, uint32_t count) {
	fours *some = (fours *)row;
	for (uint32_t i = 0; i < count / 4; i++) {
		some[i] |= OPAQUE;
	}
	for (uint32_t i = count / 4 * 4; i < count; i++) {
		row[i] |= OPAQUE;
	}
}

/* What one pass over a picture computes; NULL: not needed. */
struct pass {
	XXH3_state_t *colour, *content;
	GChecksum *digest;
	const struct rows_reader *reader;
};

/* Takes the next pixels, already copied. */
static void pass_take(const struct pass *pass, uint32_t *copy, uint32_t count) {
	size_t size = (size_t)count * 4;
	if (pass->content != NULL) {
		XXH3_64bits_update(pass->content, copy, size);
	}
	if (pass->reader != NULL) {
		pass->reader->read(pass->reader->data, copy, size);
	}
	make_opaque(copy, count);
	XXH3_64bits_update(pass->colour, copy, size);
	if (pass->digest != NULL) {
		g_checksum_update(pass->digest, (const guchar *)copy, (gssize)size);
	}
}

/* `target`: where the opaque pixels are copied to; NULL: nowhere. */
static void pass_run(const struct pass *pass, const struct pixels *pixels, uint8_t *target,
		size_t stride) {
	XXH3_64bits_reset_withSecret(pass->colour, secret, sizeof(secret));
	if (pass->content != NULL) {
		XXH3_64bits_reset(pass->content);
	}
	for (uint32_t y = 0; y < pixels->height; y++) {
		const uint8_t *row = (const uint8_t *)pixels->data + y * pixels->stride;
		for (uint32_t x = 0; x < pixels->width; x += CHUNK) {
			uint32_t copy[CHUNK];
			uint32_t count = pixels->width - x < CHUNK ? pixels->width - x : CHUNK;
			memcpy(copy, row + (size_t)x * 4, (size_t)count * 4);
			pass_take(pass, copy, count);
			if (target != NULL) {
				memcpy(target + y * stride + (size_t)x * 4, copy,
						(size_t)count * 4);
			}
		}
	}
}

int pixels_hash(const struct pixels *pixels, struct pixel_hashes *hashes, struct digest *digest) {
	const struct states *states = states_get();
	if (states == NULL) {
		return -ENOMEM;
	}
	GChecksum *sum = digest != NULL ? g_checksum_new(G_CHECKSUM_SHA256) : NULL;
	const struct pass pass = {states->colour, states->content, .digest = sum};
	pass_run(&pass, pixels, NULL, 0);
	hashes->content = XXH3_64bits_digest(states->content);
	hashes->colour = XXH3_64bits_digest(states->colour);
	if (sum != NULL) {
		gsize size = sizeof(digest->bytes);
		g_checksum_get_digest(sum, digest->bytes, &size);
		g_checksum_free(sum);
	}
	return 0;
}

int pixels_hash_colour(const struct pixels *pixels, uint64_t *colour) {
	const struct states *states = states_get();
	if (states == NULL) {
		return -ENOMEM;
	}
	const struct pass pass = {.colour = states->colour};
	pass_run(&pass, pixels, NULL, 0);
	*colour = XXH3_64bits_digest(states->colour);
	return 0;
}

int pixels_copy(const struct pixels *pixels, void *target, size_t stride,
		struct pixel_hashes *hashes, const struct rows_reader *reader) {
	const struct states *states = states_get();
	if (states == NULL) {
		return -ENOMEM;
	}
	const struct pass pass = {states->colour, states->content, .reader = reader};
	pass_run(&pass, pixels, target, stride);
	hashes->content = XXH3_64bits_digest(states->content);
	hashes->colour = XXH3_64bits_digest(states->colour);
	return 0;
}

/* --- rotation --------------------------------------------------------------------------------- */

/* The index in `own` of the pixel that is seen at (x, y). */
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

/* --- the veil --------------------------------------------------------------------------------- */

/* A share of 255, cut off as pixman and wlroots do it. */
#define SHARE(value) ((uint8_t)((uint32_t)((value) * 0xffff) >> 8))
#define GREY SHARE(VEIL_GREY)
#define ALPHA SHARE(VEIL_ALPHA)

/* Of four pixels; and room to multiply them. */
typedef uint8_t sixteen_bytes __attribute__((vector_size(16), may_alias, aligned(4)));
typedef uint16_t sixteen_words __attribute__((vector_size(32)));

static void veil_four(void *to, const void *from) {
	const sixteen_bytes veil = {GREY, GREY, GREY, ALPHA, GREY, GREY, GREY, ALPHA, GREY, GREY,
			GREY, ALPHA, GREY, GREY, GREY, ALPHA};
	sixteen_words seen = __builtin_convertvector(*(const sixteen_bytes *)from, sixteen_words);
	seen = seen * (uint16_t)(255 - ALPHA) + 128;
	seen = (seen + (seen >> 8)) >> 8; /* divided by 255, and rounded, as pixman does it */
	*(sixteen_bytes *)to = __builtin_convertvector(seen, sixteen_bytes) + veil;
}

void pixels_veil(uint32_t *to, const uint32_t *from, size_t count) {
	size_t whole = count / 4 * 4;
	for (size_t i = 0; i < whole; i += 4) {
		veil_four(to + i, from + i);
	}
	uint32_t rest[4] = {0};
	memcpy(rest, from + whole, (count - whole) * sizeof(*rest));
	veil_four(rest, rest);
	memcpy(to + whole, rest, (count - whole) * sizeof(*rest));
}

/* --- scaling ---------------------------------------------------------------------------------- */

static uint32_t scale(uint32_t size, uint32_t by, uint32_t of) {
	uint32_t scaled = (uint32_t)(((uint64_t)size * by + of / 2) / of);
	return scaled > 0 ? scaled : 1;
}

struct gid_box fit_place(enum fit fit, uint32_t width, uint32_t height, uint32_t place_width,
		uint32_t place_height) {
	uint32_t w = fit == FIT_FILL ? place_width : width;
	uint32_t h = fit == FIT_FILL ? place_height : height;
	/* Whether the picture has a wider aspect ratio than the place. */
	bool wide = (uint64_t)width * place_height > (uint64_t)place_width * height;
	if (fit == FIT_CONTAIN || fit == FIT_COVER) {
		bool by_width = wide == (fit == FIT_CONTAIN);
		w = by_width ? place_width : scale(width, place_height, height);
		h = by_width ? scale(height, place_width, width) : place_height;
	}
	return (struct gid_box){((int32_t)place_width - (int32_t)w) / 2,
			((int32_t)place_height - (int32_t)h) / 2, (int32_t)w, (int32_t)h};
}

static void draw_as_it_is(const struct pixels *picture, const struct gid_box *at,
		const struct gid_box *seen, uint32_t *place, uint32_t place_width) {
	for (int32_t y = 0; y < seen->height; y++) {
		const uint8_t *row = (const uint8_t *)picture->data +
				(size_t)(seen->y - at->y + y) * picture->stride +
				(size_t)(seen->x - at->x) * 4;
		uint32_t *to = place + (size_t)(seen->y + y) * place_width + seen->x;
		memcpy(to, row, (size_t)seen->width * 4);
		make_opaque(to, (uint32_t)seen->width);
	}
}

static int draw_scaled(const struct pixels *picture, const struct gid_box *at,
		const struct gid_box *seen, uint32_t *place, uint32_t place_width,
		uint32_t place_height) {
	int error = -ENOMEM;
	pixman_transform_t transform;
	pixman_image_t *from = pixman_image_create_bits_no_clear(PIXMAN_x8r8g8b8,
			(int)picture->width, (int)picture->height, (uint32_t *)picture->data,
			(int)picture->stride);
	pixman_image_t *to = pixman_image_create_bits_no_clear(PIXMAN_a8r8g8b8, (int)place_width,
			(int)place_height, place, (int)(place_width * 4));
	if (from == NULL || to == NULL) {
		goto done;
	}
	/* Starts at the first visible pixel: pixman draws nothing beyond 32767. */
	double across = (double)picture->width / at->width;
	double down = (double)picture->height / at->height;
	pixman_transform_init_scale(
			&transform, pixman_double_to_fixed(across), pixman_double_to_fixed(down));
	transform.matrix[0][2] = pixman_double_to_fixed((seen->x - at->x) * across);
	transform.matrix[1][2] = pixman_double_to_fixed((seen->y - at->y) * down);
	pixman_image_set_transform(from, &transform);
	pixman_image_set_filter(from, PIXMAN_FILTER_BILINEAR, NULL, 0);
	pixman_image_set_repeat(from, PIXMAN_REPEAT_PAD);
	pixman_image_composite32(PIXMAN_OP_SRC, from, NULL, to, 0, 0, 0, 0, seen->x, seen->y,
			seen->width, seen->height);
	error = 0;

done:
	if (from != NULL) {
		pixman_image_unref(from);
	}
	if (to != NULL) {
		pixman_image_unref(to);
	}
	return error;
}

int fit_draw(enum fit fit, const struct pixels *picture, uint32_t *place, uint32_t place_width,
		uint32_t place_height) {
	struct gid_box at =
			fit_place(fit, picture->width, picture->height, place_width, place_height);
	struct gid_box seen = at;
	if (at.width > (int32_t)place_width) {
		seen.x = 0;
		seen.width = (int32_t)place_width;
	}
	if (at.height > (int32_t)place_height) {
		seen.y = 0;
		seen.height = (int32_t)place_height;
	}
	if (seen.width < (int32_t)place_width || seen.height < (int32_t)place_height) {
		for (size_t i = 0; i < (size_t)place_width * place_height; i++) {
			place[i] = OPAQUE;
		}
	}
	if ((uint32_t)at.width == picture->width && (uint32_t)at.height == picture->height) {
		draw_as_it_is(picture, &at, &seen, place, place_width);
		return 0;
	}
	return draw_scaled(picture, &at, &seen, place, place_width, place_height);
}
