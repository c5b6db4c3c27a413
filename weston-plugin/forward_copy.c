// SPDX-License-Identifier: MIT
#include "forward_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a consumer can have, and the one that is shown, and the next. */
#define SLOTS 6
#define STRIDE_ALIGN 64

struct forward_copies {
	struct gid_slab *slab; /* of the present size and format */
	struct gid_layout layout;
};

void forward_copies_destroy(struct forward_copies *copies) {
	if (copies) {
		gid_slab_unref(copies->slab);
		free(copies);
	}
}

static bool copies_fit(const struct forward_copies *copies, const struct pixel_rows *pixels) {
	return copies && copies->layout.fourcc == pixels->fourcc &&
		copies->layout.width == pixels->width && copies->layout.height == pixels->height;
}

static int copies_create(struct forward *forward, const struct pixel_rows *pixels) {
	forward_copies_destroy(forward->copies);
	forward->copies = NULL;
	struct forward_copies *copies = calloc(1, sizeof(*copies));
	if (!copies) {
		return -ENOMEM;
	}
	int error = gid_layout_init(
		&copies->layout, pixels->fourcc, pixels->width, pixels->height, STRIDE_ALIGN);
	if (error == 0) {
		error = gid_slab_create(
			forward->domain, &copies->layout, 0, SLOTS, NULL, &copies->slab);
	}
	if (error != 0) {
		free(copies);
		return error;
	}
	forward->copies = copies;
	return 0;
}

static int copies_take(struct forward *forward) {
	struct gid_slab *slab = forward->copies->slab;
	int slot = gid_slab_take(slab);
	if (slot < 0 && gid_producer_reclaim(forward->producer, false)) {
		slot = gid_slab_take(slab);
	}
	if (slot < 0 && gid_producer_reclaim(forward->producer, true)) {
		slot = gid_slab_take(slab);
	}
	return slot;
}

int forward_copy(struct forward *forward, const struct pixel_rows *pixels, gid_id *gid,
	struct gid_slab **slab) {
	if (!copies_fit(forward->copies, pixels)) {
		int error = copies_create(forward, pixels);
		if (error != 0) {
			return error;
		}
	}
	int slot = copies_take(forward);
	if (slot < 0) {
		return slot;
	}
	const struct gid_plane *plane = &forward->copies->layout.planes[0];
	*slab = forward->copies->slab;
	*gid = gid_slab_gid(*slab, (uint32_t)slot);
	uint8_t *data = (uint8_t *)gid_slab_data(*slab, (uint32_t)slot) + plane->offset;
	for (uint32_t y = 0; y < pixels->height; y++) {
		memcpy(data + (size_t)y * plane->stride, pixels->data + y * pixels->stride,
			pixels->row_bytes);
	}
	gid_producer_count_copy(forward->producer, (uint64_t)pixels->row_bytes * pixels->height);
	return 0;
}
