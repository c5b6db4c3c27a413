// SPDX-License-Identifier: MIT
/*
 * Pictures are told from each other also where somebody made them to be taken for one another.
 *
 * Of a lane of 8 bytes XXH3 takes the product of its halves, each under a part of the secret, and
 * the sum. With the secret that everybody knows, a half can be made 0: then the other one can be
 * exchanged with that of another such lane, and nobody sees it in the hash.
 */
#define XXH_INLINE_ALL
#include "cluster/base/pixels.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <xxhash.h>

#include "tap.h"

#define WIDTH 64
#define HEIGHT 8
#define STRIPE 16 /* pixels */

/* What the states of a thread's hashes take, two allocations and their place: one of it fails. */
static unsigned calls, refused; /* by its number, from 1; 0: none */

static bool refuses(void) {
	return ++calls == refused;
}

void *__real_XXH3_createState(void);
void *__wrap_XXH3_createState(void);
void *__wrap_XXH3_createState(void) {
	return refuses() ? NULL : __real_XXH3_createState();
}

int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value) {
	return refuses() ? ENOMEM : __real_pthread_setspecific(key, value);
}

/* To be tried before this thread has its states. */
static void test_no_memory(void) {
	const uint32_t picture = 1;
	struct pixels pixels = {&picture, 1, 1, sizeof(picture)};
	for (refused = 1; refused <= 3; refused++) {
		struct pixel_hashes hashes;
		uint64_t colour;
		uint32_t copy = 0;
		calls = 0;
		tap_ok(pixels_hash(&pixels, &hashes, NULL) == -ENOMEM,
				"no hash where call %u has no memory", refused);
		calls = 0;
		tap_ok(pixels_hash_colour(&pixels, &colour) == -ENOMEM, "nor one of its colour");
		calls = 0;
		tap_ok(pixels_copy(&pixels, &copy, sizeof(copy), &hashes, NULL) == -ENOMEM &&
						copy == 0,
				"nor a copy");
	}
	refused = 0;
}

static uint32_t secret_at(size_t offset) {
	uint32_t part;
	memcpy(&part, XXH3_kSecret + offset, sizeof(part));
	return part;
}

static void draw(uint32_t *picture, uint32_t left, uint32_t right) {
	for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
		picture[i] = 0xff000000u | i * 0x30507u;
	}
	picture[0] = secret_at(0);
	picture[1] = left;
	picture[STRIPE] = secret_at(8);
	picture[STRIPE + 1] = right;
}

static struct pixel_hashes hashes_of(const uint32_t *picture, struct digest *digest) {
	struct pixels pixels = {picture, WIDTH, HEIGHT, WIDTH * 4};
	struct pixel_hashes hashes = {0};
	uint64_t colour = 0;
	tap_ok(pixels_hash(&pixels, &hashes, digest) == 0, "a picture is hashed");
	tap_ok(pixels_hash_colour(&pixels, &colour) == 0 && colour == hashes.colour,
			"its colour is the same where nothing else is wanted");
	return hashes;
}

/* With rows of another length, and opaque; what lies beside them stays. */
static void test_copies(void) {
	const uint32_t picture[2][3] = {{1, 2, 3}, {4, 5, 6}};
	struct pixels pixels = {picture, 3, 2, sizeof(picture[0])};
	struct pixel_hashes expected, hashes = {0};
	uint32_t copy[3][4];
	memset(copy, 0xa5, sizeof(copy));
	pixels_hash(&pixels, &expected, NULL);
	tap_ok(pixels_copy(&pixels, copy, sizeof(copy[0]), &hashes, NULL) == 0 &&
					hashes.colour == expected.colour &&
					hashes.content == expected.content,
			"a copy has the picture's hashes");
	tap_ok(copy[1][2] == 0xff000006u && copy[1][3] == 0xa5a5a5a5u, "opaque, row by row");
}

static void test_turns(void) {
	const uint32_t picture[2][3] = {{1, 2, 3}, {4, 5, 6}};
	const uint32_t across[3][2] = {{4, 1}, {5, 2}, {6, 3}};
	const uint32_t mirrored[2][3] = {{3, 2, 1}, {6, 5, 4}};
	struct pixels pixels = {picture, 3, 2, sizeof(picture[0])};
	uint32_t seen[6];
	pixels_turn(&pixels, 1, seen);
	tap_ok(memcmp(seen, across, sizeof(seen)) == 0, "a picture is turned as it is seen");
	pixels_turn(&pixels, 4, seen);
	tap_ok(memcmp(seen, mirrored, sizeof(seen)) == 0, "and mirrored");
}

int main(void) {
	uint32_t one[WIDTH * HEIGHT], other[WIDTH * HEIGHT];
	struct digest digest_of_one, digest_of_other;
	test_no_memory();
	draw(one, 0xffff0000u, 0xff00ff00u);
	draw(other, 0xff00ff00u, 0xffff0000u);
	struct pixel_hashes of_one = hashes_of(one, &digest_of_one);
	struct pixel_hashes of_other = hashes_of(other, &digest_of_other);
	tap_ok(of_one.content == of_other.content, "two pictures made to have one XXH3-64");
	tap_ok(memcmp(&digest_of_one, &digest_of_other, sizeof(digest_of_one)) != 0,
			"the set of allowed pictures tells them apart");
	tap_ok(of_one.colour != of_other.colour, "so does the check of what was composed");
	for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
		other[i] = one[i] & 0x00ffffffu;
	}
	struct pixel_hashes without_alpha = hashes_of(other, &digest_of_other);
	tap_ok(without_alpha.colour == of_one.colour &&
					memcmp(&digest_of_one, &digest_of_other,
							sizeof(digest_of_one)) == 0,
			"what no eye sees changes neither");
	test_copies();
	test_turns();
	return tap_finish();
}
