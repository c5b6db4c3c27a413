// SPDX-License-Identifier: MIT
/**
 * The check of one picture while its rows come by: for who reads each byte once, and does more with
 * it. Pure: no system call, no allocation.
 */
#ifndef GID_PROTECTION_SUM_H
#define GID_PROTECTION_SUM_H

#include <gid/protection.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef PROTECTION_HAS_CMAC
#include <nettle/cmac.h>
#endif

struct gid_protection {
	enum gid_protection_profile profile;
	char stream[GID_NAME_MAX + 1]; /* the rest is 0 */
#ifdef PROTECTION_HAS_CMAC
	struct cmac_aes128_ctx keyed; /* of which each picture's begins as a copy */
#endif
};

struct protection_sum {
	enum gid_protection_profile profile;
	uint64_t crc;
#ifdef PROTECTION_HAS_CMAC
	struct cmac_aes128_ctx cmac;
#endif
};

/* `layout` is that of the whole picture. */
void protection_sum_begin(struct protection_sum *sum, const struct gid_protection *protection,
		const struct gid_layout *layout);

/* The visible rows without padding, plane after plane, in pieces of any size. */
void protection_sum_add(struct protection_sum *sum, const void *bytes, size_t size);

/* After all rows: the check that they should have. */
void protection_sum_end(struct protection_sum *sum, const uint8_t descriptor[GID_DESCRIPTOR_SIZE],
		uint8_t bytes[GID_CHECK_SIZE]);

/* Whether two checks are the same, in a time that does not tell where they differ. */
bool protection_sums_are_equal(
		const uint8_t one[GID_CHECK_SIZE], const uint8_t other[GID_CHECK_SIZE]);

#endif
