// SPDX-License-Identifier: MIT
/**
 * Pictures as rows of 32-bit pixels: copied, turned, scaled; and the hashes by which two of them
 * are told to be the same.
 */
#ifndef CLUSTER_PIXELS_H
#define CLUSTER_PIXELS_H

#include <gid/stream.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pixels {
	const void *data; /* the first row */
	uint32_t width, height;
	size_t stride; /* bytes from one row to the next */
};

struct pixel_hashes {
	uint64_t content; /* XXH3-64 of the visible rows as they lie in memory: what a frame states
			   */
	/*
	 * Of the visible colours: every pixel's unused or alpha byte is set. Keyed with a secret of
	 * this process, so that nobody can make another picture with the same hash.
	 */
	uint64_t colour;
};

/* SHA-256: nobody can make a second picture that has it, too. */
struct digest {
	uint8_t bytes[32];
};

/*
 * Hashes the picture, whose memory others may write meanwhile: each row is copied once, and all
 * hashes are of that copy. `digest`: SHA-256 of the same bytes as `colour`; NULL: not wanted, as it
 * takes ten times as long. Returns 0 or -ENOMEM.
 */
int pixels_hash(const struct pixels *pixels, struct pixel_hashes *hashes, struct digest *digest);

/*
 * Its colour hash alone, in two thirds of the time: for checks of each displayed frame. Returns 0
 * or -ENOMEM.
 */
int pixels_hash_colour(const struct pixels *pixels, uint64_t *colour);

/* Who is given the bytes of a frame's visible rows, in their order, as they were read. */
struct rows_reader {
	void (*read)(void *data, const void *bytes, size_t size);
	void *data;
};

/*
 * Copies the picture, opaque, to memory of ours with `stride` bytes from row to row, which may be
 * its own: each pixel is read once, and the hashes are of that; so is what `reader` gets, NULL:
 * there is none. Returns 0 or -ENOMEM.
 */
int pixels_copy(const struct pixels *pixels, void *target, size_t stride,
		struct pixel_hashes *hashes, const struct rows_reader *reader);

/*
 * Draws a picture of ours, whose rows have no gaps, as it is seen with a transform of wl_output;
 * its rows have no gaps either.
 */
void pixels_turn(const struct pixels *own, uint32_t transform, uint32_t *seen);

/* The part of a picture; it must lie within. */
struct pixels pixels_part(const struct pixels *pixels, uint32_t x, uint32_t y, uint32_t width,
		uint32_t height);

/*
 * What lies over a picture that is stale: so much grey, premultiplied, and of all that is seen so
 * much is the veil.
 */
#define VEIL_GREY 0.30f
#define VEIL_ALPHA 0.65f

/* Copies pixels as they are seen behind the veil. */
void pixels_veil(uint32_t *to, const uint32_t *from, size_t count);

/* How a picture of any size is put into a place of ours: the words of CSS' object-fit. */
enum fit {
	FIT_CONTAIN, /* as large as it can be, all of it; what is left is black */
	FIT_COVER,   /* as small as it can be, without a gap; what stands out is cut off */
	FIT_FILL,    /* stretched to the place */
	FIT_NONE,    /* as it is, in the middle */
	FIT_EXACT,   /* of the place's size, or it is refused */
};

/* Where the picture is, seen from the place's corner: it can stand out on all sides. Pure. */
struct gid_box fit_place(enum fit fit, uint32_t width, uint32_t height, uint32_t place_width,
		uint32_t place_height);

/*
 * Draws the picture, opaque, into the place, all of which is written. Its memory can be another's,
 * who writes it meanwhile. Returns 0 or -ENOMEM.
 */
int fit_draw(enum fit fit, const struct pixels *picture, uint32_t *place, uint32_t place_width,
		uint32_t place_height);

#endif
