// SPDX-License-Identifier: MIT
#include "protection_sum.h"

#include <endian.h>
#include <string.h>

#ifdef PROTECTION_HAS_CRC64
#include <lzma.h>
#endif

/* What comes before the rows, little-endian. They and a descriptor follow: see wire-ring.md. */
struct prefix {
	char magic[8];
	uint32_t profile, fourcc;
	uint64_t modifier;
	uint32_t width, height;
	struct gid_colours colours;
	uint32_t reserved[3]; /* rows begin with a block of a cipher */
	char stream[GID_NAME_MAX + 1];
};

_Static_assert(sizeof(struct prefix) == 112, "published");

void protection_sum_begin(struct protection_sum *sum, const struct gid_protection *protection,
		const struct gid_layout *layout) {
	struct prefix prefix = {
			.magic = {'g', 'i', 'd', 'c', 'h', 'e', 'c', 'k'},
			.profile = htole32(protection->profile),
			.fourcc = htole32(layout->fourcc),
			.modifier = htole64(layout->modifier),
			.width = htole32(layout->width),
			.height = htole32(layout->height),
			.colours = layout->colours,
	};
	memcpy(prefix.stream, protection->stream, sizeof(prefix.stream));
	sum->profile = protection->profile;
	sum->crc = 0;
#ifdef PROTECTION_HAS_CMAC
	sum->cmac = protection->keyed;
#endif
	protection_sum_add(sum, &prefix, sizeof(prefix));
}

void protection_sum_add(struct protection_sum *sum, const void *bytes, size_t size) {
	switch (sum->profile) {
#ifdef PROTECTION_HAS_CRC64
	case GID_PROTECTION_CRC64:
		sum->crc = lzma_crc64(bytes, size, sum->crc);
		break;
#endif
#ifdef PROTECTION_HAS_CMAC
	case GID_PROTECTION_CMAC:
		cmac_aes128_update(&sum->cmac, size, bytes);
		break;
#endif
	default:
		break;
	}
}

void protection_sum_end(struct protection_sum *sum, const uint8_t descriptor[GID_DESCRIPTOR_SIZE],
		uint8_t bytes[GID_CHECK_SIZE]) {
	protection_sum_add(sum, descriptor, GID_DESCRIPTOR_SIZE);
	memset(bytes, 0, GID_CHECK_SIZE);
#ifdef PROTECTION_HAS_CMAC
	if (sum->profile == GID_PROTECTION_CMAC) {
		cmac_aes128_digest(&sum->cmac, GID_CHECK_SIZE, bytes);
		return;
	}
#endif
	uint64_t crc = htole64(sum->crc);
	memcpy(bytes, &crc, sizeof(crc));
}

bool protection_sums_are_equal(
		const uint8_t one[GID_CHECK_SIZE], const uint8_t other[GID_CHECK_SIZE]) {
	unsigned differ = 0;
	for (size_t i = 0; i < GID_CHECK_SIZE; i++) {
		differ |= one[i] ^ other[i];
	}
	return differ == 0;
}
