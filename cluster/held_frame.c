// SPDX-License-Identifier: MIT
#include "held_frame.h"

#include "../convert/to_rgb.h"
#include "../convert/visible.h"
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wayland-server-protocol.h>
#include <xxhash.h>

static bool is_words(const struct gid_layout *layout) {
	return (layout->fourcc == DRM_FORMAT_XRGB8888 || layout->fourcc == DRM_FORMAT_ARGB8888) &&
			layout->planes[0].offset % 4 == 0 && layout->planes[0].stride % 4 == 0;
}

/* Whose device writes to it anew, after the frame was sent, has a picture that may not be read. */
static bool begin_read(const struct gid_slab_info *info) {
	return info->memory != GID_MEMORY_DMABUF || gid_dmabuf_begin_read(info->fd) == 0;
}

static void end_read(const struct gid_slab_info *info) {
	if (info->memory == GID_MEMORY_DMABUF) {
		gid_dmabuf_end_read(info->fd);
	}
}

static int hash_memory(const struct gid_slab_info *info, uint32_t transform,
		const struct pixels *pixels, struct pixel_hashes *hashes, struct digest *digest) {
	if (!begin_read(info)) {
		return -EAGAIN;
	}
	int ret = transform == WL_OUTPUT_TRANSFORM_NORMAL
			? pixels_hash(pixels, hashes, digest)
			: pixels_hash_turned(pixels, transform, hashes, digest);
	end_read(info);
	return ret;
}

bool held_frame_is_drawn(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory != GID_MEMORY_DMABUF || gid_dmabuf_is_drawn(info.fd);
}

uint32_t held_frame_showable(struct gid_showable showable[GID_SHOWABLE_MAX]) {
	const uint32_t words[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_ARGB8888};
	const uint32_t memory = GID_SHOWABLE_SHARED | GID_SHOWABLE_DMABUF;
	const struct gid_format_info *format;
	uint32_t count = 0;
	for (; count < 2; count++) {
		showable[count] = (struct gid_showable){.fourcc = words[count], .memory = memory};
	}
	for (size_t i = 0; (format = gid_format_at(i)) != NULL && count < GID_SHOWABLE_MAX; i++) {
		if (format->fourcc != words[0] && format->fourcc != words[1] &&
				to_rgb_can(format->fourcc) && !to_rgb_is_slow(format->fourcc)) {
			showable[count++] = (struct gid_showable){
					.fourcc = format->fourcc, .memory = memory};
		}
	}
	return count;
}

/* What is seen, turned, must have this size. */
static bool fits(const struct gid_box *seen, uint32_t transform, uint32_t width, uint32_t height) {
	bool across = transform & WL_OUTPUT_TRANSFORM_90;
	return (uint32_t)seen->width == (across ? height : width) &&
			(uint32_t)seen->height == (across ? width : height);
}

static int look_at_words(const struct gid_slab_info *info, const struct visible *visible,
		const uint8_t *slot, uint32_t transform, struct looked_at *looked,
		struct digest *digest) {
	struct pixels whole = {
			.data = slot + info->layout.planes[0].offset,
			.width = info->layout.width,
			.height = info->layout.height,
			.stride = info->layout.planes[0].stride,
	};
	looked->pixels = pixels_part(&whole, visible->x, visible->y, visible->layout.width,
			visible->layout.height);
	return hash_memory(info, transform, &looked->pixels, &looked->hashes, digest);
}

/* Any other format: all that follows is of a copy of the rows, which nobody else can change. */
static int look_at_others(const struct gid_slab_info *info, const struct visible *visible,
		const uint8_t *slot, uint32_t transform, struct looked_at *looked,
		struct digest *digest) {
	size_t size = gid_layout_size(&visible->layout);
	struct pixels *pixels = &looked->pixels;
	pixels->width = (uint32_t)visible->seen.width;
	pixels->height = (uint32_t)visible->seen.height;
	pixels->stride = (size_t)pixels->width * 4;
	void *rows = malloc(size);
	pixels->data = looked->converted = malloc(pixels->stride * pixels->height);
	int ret = -ENOMEM;
	if (rows != NULL && looked->converted != NULL && begin_read(info)) {
		visible_copy(visible, slot, rows);
		end_read(info);
		to_rgb(&visible->layout, rows, (uint32_t)visible->seen.x, (uint32_t)visible->seen.y,
				pixels->width, pixels->height, looked->converted, pixels->stride);
		ret = transform == WL_OUTPUT_TRANSFORM_NORMAL
				? pixels_hash(pixels, &looked->hashes, digest)
				: pixels_hash_turned(pixels, transform, &looked->hashes, digest);
		looked->hashes.content = XXH3_64bits(rows, size);
	}
	free(rows);
	return ret;
}

enum role_reason held_frame_examine(const struct gid_frame *frame, const struct gid_slab *slab,
		uint32_t width, uint32_t height, struct looked_at *looked, struct digest *digest) {
	struct gid_slab_info info;
	*looked = (struct looked_at){0};
	gid_slab_get_info(slab, &info);
	if (frame->flags & GID_FRAME_CORRUPTED) {
		return ROLE_REASON_CORRUPTED;
	}
	const uint8_t *slot = gid_slab_view(slab, gid_slot_of(frame->gid));
	if (info.revoked || slot == NULL) {
		return ROLE_REASON_MEMORY;
	}
	struct visible visible;
	if (gid_layout_check(&info.layout, info.slot_size) != 0 ||
			!to_rgb_can(info.layout.fourcc) || to_rgb_is_slow(info.layout.fourcc) ||
			frame->transform > WL_OUTPUT_TRANSFORM_FLIPPED_270 ||
			visible_init(&visible, &info.layout, &frame->crop) != 0 ||
			!fits(&visible.seen, frame->transform, width, height)) {
		return ROLE_REASON_LAYOUT;
	}
	int ret = is_words(&info.layout)
			? look_at_words(&info, &visible, slot, frame->transform, looked, digest)
			: look_at_others(&info, &visible, slot, frame->transform, looked, digest);
	if (ret != 0) {
		return ROLE_REASON_MEMORY;
	}
	/* Asked after reading: then what was read is what the frame named. */
	return gid_slab_is_current(slab, frame->gid) ? ROLE_REASON_NONE : ROLE_REASON_TAKEN_BACK;
}

void looked_at_finish(struct looked_at *looked) {
	free(looked->converted);
	looked->converted = NULL;
}

/*
 * The slab's memory goes when this returns. What is shown, perhaps as the last frame of a domain
 * that died, stays the same: the visible part of it is copied.
 */
static void handle_revoked(void *data, struct gid_slab *slab) {
	struct held_frame *held = data;
	struct memory_view *view = &held->view;
	if (held->copy != NULL) {
		return; /* which is shown already */
	}
	size_t row = (size_t)view->base.width * 4, rows = (size_t)view->base.height;
	held->copy = view->data != NULL ? malloc(row * rows) : NULL;
	for (size_t y = 0; y < rows && held->copy != NULL; y++) {
		memcpy((uint8_t *)held->copy + y * row,
				(const uint8_t *)view->data + y * view->stride, row);
	}
	view->data = held->copy;
	view->stride = row;
	if (!view->sampled) {
		memory_view_forget_dmabuf(view); /* the copy is in none, and waits for no device */
	}
}

static void handle_destroyed(struct memory_view *view) {
	struct held_frame *held = wl_container_of(view, held, view);
	gid_slab_on_revoked(held->slab, NULL, held);
	free(held->copy);
	if (held->consumer != NULL) {
		gid_consumer_release(held->consumer, &held->frame);
	}
	wl_list_remove(&held->link);
	gid_slab_unref(held->slab);
	free(held);
}

/* The renderer may sample the picture, or the part of it that is shown, from the dma-buf itself. */
static void held_frame_set_dmabuf(struct held_frame *held, struct wlr_renderer *renderer) {
	struct gid_slab_info info;
	gid_slab_get_info(held->slab, &info);
	const struct memory_view *view = &held->view;
	const uint8_t *slab = gid_slab_view(held->slab, 0);
	uint64_t offset = info.offset + (uint64_t)((const uint8_t *)view->data - slab);
	if (info.memory != GID_MEMORY_DMABUF || offset > UINT32_MAX) {
		return;
	}
	struct wlr_dmabuf_attributes dmabuf = {
			.width = view->base.width,
			.height = view->base.height,
			.format = view->fourcc,
			.modifier = DRM_FORMAT_MOD_LINEAR,
			.n_planes = 1,
			.offset = {(uint32_t)offset},
			.stride = {(uint32_t)view->stride},
			.fd = {info.fd},
	};
	memory_view_set_dmabuf(&held->view, &dmabuf, renderer);
}

struct held_frame *held_frame_create(struct wl_list *list, struct gid_consumer *consumer,
		const struct gid_frame *frame, struct gid_slab *slab, struct looked_at *looked,
		struct wlr_renderer *renderer) {
	const struct pixels *pixels = &looked->pixels;
	struct held_frame *held = calloc(1, sizeof(*held));
	if (held == NULL) {
		return NULL;
	}
	/* Safety pictures are opaque: what shines through from below could not be checked. */
	memory_view_init(&held->view, pixels->data, DRM_FORMAT_XRGB8888, pixels->width,
			pixels->height, pixels->stride, handle_destroyed);
	held->consumer = consumer;
	held->slab = slab;
	held->frame = *frame;
	held->hashes = looked->hashes;
	held->copy = looked->converted;
	looked->converted = NULL;
	if (held->copy == NULL) {
		held_frame_set_dmabuf(held, renderer);
	}
	gid_slab_on_revoked(slab, handle_revoked, held);
	wl_list_insert(list, &held->link);
	return held;
}

void held_frame_forget_consumer(struct wl_list *list) {
	struct held_frame *held, *next;
	wl_list_for_each_safe(held, next, list, link) {
		held->consumer = NULL;
		wl_list_remove(&held->link);
		wl_list_init(&held->link);
	}
}
