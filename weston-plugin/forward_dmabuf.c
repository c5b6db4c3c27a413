// SPDX-License-Identifier: MIT
/* Content in dma-bufs: a device may still draw into them, and other machines cannot read them. */
#include <errno.h>
#include <string.h>

#include "content_hash.h"
#include "forward_parts.h"

static bool refuse(struct refusal *refusal, enum gid_hidden hidden, const char *text) {
	*refusal = (struct refusal){hidden, text};
	return false;
}

static void copy_planes(const struct gid_layout *from, const uint8_t *source,
		const struct gid_layout *to, uint8_t *end) {
	for (uint32_t i = 0; i < to->plane_count; i++) {
		size_t bytes = gid_format_row_bytes(to->fourcc, i, to->width);
		uint32_t rows = gid_format_rows(to->fourcc, i, to->height);
		for (uint32_t y = 0; y < rows; y++) {
			memcpy(end + to->planes[i].offset + (size_t)y * to->planes[i].stride,
					source + from->planes[i].offset +
							(size_t)y * from->planes[i].stride,
					bytes);
		}
	}
}

/* Copies the whole picture into a slot of our own, which `picture` then names. */
static bool copy_picture(struct forward *forward, struct forward_picture *picture,
		const struct gid_layout *layout, const uint8_t *slot, struct refusal *refusal) {
	struct pixel_copies *copies = &forward->copies;
	if (!forward->config->copy) {
		return refuse(refusal, GID_HIDDEN_COPY,
				"the dma-buf can only be copied for a consumer on another machine, "
				"which copy=false forbids");
	}
	if (!forward_may_copy(forward, layout->width, layout->height, refusal)) {
		return false;
	}
	gid_id gid;
	uint8_t *data;
	int error = pixel_copies_take(copies, forward->domain, forward->producer, layout->fourcc,
			layout->width, layout->height, &gid, &data);
	if (error != 0) {
		return refuse(refusal, GID_HIDDEN_MEMORY, gid_strerror(error));
	}
	copy_planes(layout, slot, &copies->layout, data - copies->layout.planes[0].offset);
	gid_producer_count_copy_for(forward->producer, GID_COPY_UPSTREAM_MEMORY,
			gid_layout_size(&copies->layout));
	picture->gid = gid;
	picture->slab = copies->slab;
	picture->buffer = NULL;
	picture->release = NULL;
	picture->damage = (struct gid_box){0};
	picture->flags |= GID_FRAME_COPIED;
	return true;
}

/*
 * Hashes the pixels, if that is configured, while no device changes them. First copies them, if a
 * consumer needs a copy. If gidd was only now asked for the copy's memory, the event `again`
 * follows when gidd has answered.
 */
static bool hash_picture(struct forward *forward, struct forward_picture *picture,
		struct gid_slab_info *info, struct refusal *refusal) {
	const uint8_t *slot = gid_slab_view(picture->slab, gid_slot_of(picture->gid));
	if (slot == NULL || info->revoked) {
		return refuse(refusal, GID_HIDDEN_GONE, "the buffer's memory is gone");
	}
	struct gid_layout layout = info->layout;
	if (gid_producer_needs_window(forward->producer)) {
		if (!copy_picture(forward, picture, &layout, slot, refusal)) {
			return false;
		}
		layout = forward->copies.layout;
		slot = gid_slab_data(picture->slab, gid_slot_of(picture->gid));
	}
	int error = forward->config->hash
			? content_hash_slot(&layout, &picture->crop, slot, &picture->content_hash)
			: 0;
	if (error != 0) {
		if (picture->flags & GID_FRAME_COPIED) {
			gid_slab_give(picture->slab, gid_slot_of(picture->gid));
		}
		return error == -EINVAL ? refuse(refusal, GID_HIDDEN_CROP,
							  "the viewport's source leaves the buffer")
					: refuse(refusal, GID_HIDDEN_MEMORY,
							  "there is no memory to hash it");
	}
	return true;
}

static bool show_drawn(struct forward *forward, const struct forward_picture *drawn,
		struct refusal *refusal) {
	struct forward_picture picture = *drawn;
	struct gid_slab_info info;
	gid_slab_get_info(picture.slab, &info);
	if (gid_dmabuf_begin_read(info.fd) != 0) {
		return refuse(refusal, GID_HIDDEN_MEMORY,
				"the client has the picture drawn anew after it was committed");
	}
	bool hashed = hash_picture(forward, &picture, &info, refusal);
	gid_dmabuf_end_read(info.fd);
	if (hashed) {
		forward_show(forward, &picture);
	} else if (forward->copies.asking) {
		forward_outdate(forward);
	}
	return hashed || forward->copies.asking;
}

static void handle_drawn(void *data, struct forward_picture *picture) {
	struct forward *forward = data;
	struct refusal refusal;
	if (forward_is_ready(forward) && !show_drawn(forward, picture, &refusal)) {
		forward_refuse(forward, &refusal);
	}
}

bool forward_show_dmabuf(struct forward *forward, const struct forward_picture *picture,
		struct refusal *refusal) {
	if (drawn_wait_is_needed(picture->slab)) {
		forward_outdate(forward);
		forward->wait.drawn = handle_drawn;
		forward->wait.data = forward;
		return drawn_wait_add(&forward->wait, picture) == 0 ||
				refuse(refusal, GID_HIDDEN_MEMORY,
						"there is no memory to wait for the dma-buf");
	}
	struct forward_picture now = *picture;
	if (drawn_wait_drop(&forward->wait)) {
		now.damage = (struct gid_box){
				0}; /* it also has to cover the content that was dropped */
	}
	return show_drawn(forward, &now, refusal);
}
