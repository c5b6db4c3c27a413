// SPDX-License-Identifier: MIT
#include "content_hash.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

#include "visible.h"

bool content_has_plain_rows(uint32_t fourcc) {
	const struct gid_format_info *info = gid_format_find(fourcc);
	return info->plane_count == 1 && info->planes[0].hsub == 1;
}

uint64_t content_hash_rows(const struct pixel_rows *pixels) {
	XXH3_state_t *state = XXH3_createState();
	if (state == NULL) {
		return 0; /* consumers find that this is not the picture's */
	}
	XXH3_64bits_reset(state);
	for (uint32_t y = 0; y < pixels->height; y++) {
		XXH3_64bits_update(state, pixels->data + y * pixels->stride, pixels->row_bytes);
	}
	uint64_t hash = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return hash;
}

/* Hashes the rows in place, without a copy. */
static uint64_t hash_plain(const struct visible *visible, const void *slot) {
	const struct gid_layout *whole = &visible->whole;
	size_t pixel_bytes = gid_format_row_bytes(whole->fourcc, 0, 1);
	size_t stride = whole->planes[0].stride;
	return content_hash_rows(&(struct pixel_rows){
			.data = (const uint8_t *)slot + whole->planes[0].offset +
					visible->y * stride + visible->x * pixel_bytes,
			.width = visible->layout.width,
			.height = visible->layout.height,
			.stride = stride,
			.row_bytes = visible->layout.width * pixel_bytes,
	});
}

int content_hash_slot(const struct gid_layout *layout, const struct gid_box *crop, const void *slot,
		uint64_t *hash) {
	struct visible visible;
	if (visible_init(&visible, layout, crop) != 0) {
		return -EINVAL;
	}
	if (content_has_plain_rows(layout->fourcc)) {
		*hash = hash_plain(&visible, slot);
		return 0;
	}
	/* Formats with several planes, or with subsampling: their rows are cropped differently. */
	size_t size = gid_layout_size(&visible.layout);
	void *rows = malloc(size);
	if (rows == NULL) {
		return -ENOMEM;
	}
	visible_copy(&visible, slot, rows);
	*hash = XXH3_64bits(rows, size);
	free(rows);
	return 0;
}
