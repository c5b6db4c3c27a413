// SPDX-License-Identifier: MIT
#include "pixel_copies.h"

#include <errno.h>
#include <string.h>

/* For what consumers hold, the current picture and the next one. */
#define SLOTS 6
#define STRIDE_ALIGN 64

void pixel_copies_finish(struct pixel_copies *copies) {
	gid_slab_unref(copies->slab);
	copies->slab = NULL;
	copies->asking = false;
	copies->error = 0;
}

static void handle_made(void *data, int error, struct gid_slab *slab) {
	struct pixel_copies *copies = data;
	copies->asking = false;
	copies->error = error;
	copies->settled(copies->data);
}

static bool copies_fit(const struct pixel_copies *copies, uint32_t fourcc, uint32_t width,
		uint32_t height) {
	return copies->slab != NULL && copies->layout.fourcc == fourcc &&
			copies->layout.width == width && copies->layout.height == height;
}

static int copies_make(struct pixel_copies *copies, struct gid_domain *domain, uint32_t fourcc,
		uint32_t width, uint32_t height) {
	pixel_copies_finish(copies);
	int error = gid_layout_init(&copies->layout, fourcc, width, height, STRIDE_ALIGN);
	if (error != 0) {
		return error;
	}
	error = gid_slab_create_async(domain, copies->stream, &copies->layout, 0, SLOTS, NULL,
			handle_made, copies, &copies->slab);
	return error != 0 ? error : -EINPROGRESS;
}

/* One request at a time: a client may choose another size for each picture. */
static int copies_prepare(struct pixel_copies *copies, struct gid_domain *domain, uint32_t fourcc,
		uint32_t width, uint32_t height) {
	if (copies->asking) {
		return -EINPROGRESS;
	}
	int error = copies_fit(copies, fourcc, width, height)
			? gid_slab_renew(copies->slab)
			: copies_make(copies, domain, fourcc, width, height);
	copies->asking = error == -EINPROGRESS;
	return error == -EAGAIN && copies->error != 0 ? copies->error : error;
}

static int take_slot(struct gid_slab *slab, struct gid_producer *producer) {
	int slot = gid_slab_take(slab);
	if (slot < 0 && gid_producer_reclaim(producer, false)) {
		slot = gid_slab_take(slab);
	}
	if (slot < 0 && gid_producer_reclaim(producer, true)) {
		slot = gid_slab_take(slab);
	}
	return slot;
}

int pixel_copies_take(struct pixel_copies *copies, struct gid_domain *domain,
		struct gid_producer *producer, uint32_t fourcc, uint32_t width, uint32_t height,
		gid_id *gid, uint8_t **data) {
	int error = copies_prepare(copies, domain, fourcc, width, height);
	if (error < 0) {
		return error;
	}
	int slot = take_slot(copies->slab, producer);
	if (slot < 0) {
		return slot;
	}
	*gid = gid_slab_gid(copies->slab, (uint32_t)slot);
	*data = (uint8_t *)gid_slab_data(copies->slab, (uint32_t)slot) +
			copies->layout.planes[0].offset;
	return 0;
}

int pixel_copies_add(struct pixel_copies *copies, struct gid_domain *domain,
		struct gid_producer *producer, const struct pixel_rows *pixels, gid_id *gid) {
	uint8_t *data;
	int error = pixel_copies_take(copies, domain, producer, pixels->fourcc, pixels->width,
			pixels->height, gid, &data);
	if (error != 0) {
		return error;
	}
	for (uint32_t y = 0; y < pixels->height; y++) {
		memcpy(data + (size_t)y * copies->layout.planes[0].stride,
				pixels->data + y * pixels->stride, pixels->row_bytes);
	}
	gid_producer_count_copy_for(producer, GID_COPY_UPSTREAM_MEMORY,
			(uint64_t)pixels->row_bytes * pixels->height);
	return 0;
}
