// SPDX-License-Identifier: MIT
#include "forward_parts.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <libweston/desktop.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>

#include "content_hash.h"
#include "libweston_exports.h"
#include "shm_format.h"
#include "weston_buffer.h"
#include "window_parts.h"

/* A commit, while its content is found. */
struct commit {
	struct forward *forward;
	struct weston_surface *surface;
	struct weston_buffer *buffer;
	struct forward_picture picture;
	struct pixel_rows pixels; /* the visible part, of a format with one plane */
	bool parts;		  /* composite the menus and dialogs of its window, too */
	bool drawn;		  /* composited from several surfaces */
	struct refusal refusal;	  /* why it cannot be sent */
};

enum found {
	FOUND,
	FOUND_NOTHING, /* `refusal` says why */
	FOUND_DMABUF,  /* can be hashed when its fences have signalled */
	FOUND_LATER,   /* the memory of the client, or of our copy, is not there yet */
};

static bool refuse(struct commit *commit, enum gid_hidden hidden, const char *text) {
	commit->refusal = (struct refusal){hidden, text};
	return false;
}

/* --- the visible part ------------------------------------------------------------------------- */

/*
 * Converts a length of the viewport's source to buffer pixels. Returns false if the result is not a
 * whole number.
 */
static bool to_pixels(wl_fixed_t length, int32_t scale, int32_t *pixels) {
	int64_t scaled = (int64_t)length * scale;
	*pixels = (int32_t)(scaled / 256);
	return scaled % 256 == 0;
}

static struct gid_box scale_box(struct gid_box box, int32_t scale) {
	return (struct gid_box){
			box.x * scale, box.y * scale, box.width * scale, box.height * scale};
}

/*
 * The window geometry of an ordinary window: without the shadow that its client draws around it.
 * Empty: the whole surface.
 */
static struct gid_box find_frame(const struct commit *commit) {
	struct weston_surface *surface = commit->surface;
	if (commit->forward->config->role != NULL || !weston_surface_is_desktop_surface(surface)) {
		return (struct gid_box){0};
	}
	struct gid_box frame = window_frame(surface);
	bool whole = frame.width == surface->width && frame.height == surface->height;
	return whole ? (struct gid_box){0} : frame;
}

static struct gid_box whole_surface(const struct commit *commit) {
	return (struct gid_box){0, 0, commit->surface->width, commit->surface->height};
}

/*
 * Finds the part of the buffer that the viewport's source or the window geometry selects. The
 * destination size of the viewport does not matter: consumers scale as they like.
 */
static bool find_crop(struct commit *commit) {
	const struct weston_buffer_viewport *viewport = &commit->surface->buffer_viewport;
	struct gid_box *crop = &commit->picture.crop;
	commit->picture.seen = whole_surface(commit);
	commit->picture.transform = viewport->buffer.transform;
	int32_t scale = viewport->buffer.scale;
	if (viewport->buffer.src_width == wl_fixed_from_int(-1)) {
		struct gid_box frame = find_frame(commit);
		if (frame.width == 0 || viewport->surface.width != -1) {
			return true;
		}
		*crop = scale_box(frame, scale);
		commit->picture.seen = frame;
	} else if (!to_pixels(viewport->buffer.src_x, scale, &crop->x) ||
			!to_pixels(viewport->buffer.src_y, scale, &crop->y) ||
			!to_pixels(viewport->buffer.src_width, scale, &crop->width) ||
			!to_pixels(viewport->buffer.src_height, scale, &crop->height)) {
		return refuse(commit, GID_HIDDEN_CROP,
				"the viewport's source does not consist of whole pixels");
	}
	*crop = gid_box_turn_back(*crop, (uint32_t)commit->buffer->width,
			(uint32_t)commit->buffer->height, commit->picture.transform);
	if (crop->x < 0 || crop->y < 0 || crop->width < 1 || crop->height < 1 ||
			crop->x > commit->buffer->width - crop->width ||
			crop->y > commit->buffer->height - crop->height) {
		return refuse(commit, GID_HIDDEN_CROP, "the viewport's source leaves the buffer");
	}
	return true;
}

static bool check_size(struct commit *commit) {
	const struct safety_config *config = commit->forward->config;
	const struct gid_box *crop = &commit->picture.crop;
	int32_t width = crop->width > 0 ? crop->width : commit->buffer->width;
	int32_t height = crop->width > 0 ? crop->height : commit->buffer->height;
	if (commit->picture.transform & WL_OUTPUT_TRANSFORM_90) {
		int32_t across = width;
		width = height;
		height = across;
	}
	if (config->width != 0 && (width != config->width || height != config->height)) {
		return refuse(commit, GID_HIDDEN_SIZE, "the picture is not of the role's size");
	}
	return true;
}

/*
 * Weston collects surface->damage since its last repaint, so it includes all damage since the last
 * frame.
 */
static void find_damage(struct commit *commit) {
	if (commit->forward->skipped || commit->forward->drawn) {
		return; /* full damage */
	}
	pixman_region32_t around, damage;
	/* Clients choose the number of rectangles: use the extents only. */
	pixman_region32_init_with_extents(
			&around, pixman_region32_extents(&commit->surface->damage));
	pixman_region32_init(&damage);
	weston_surface_to_buffer_region(commit->surface, &around, &damage);
	pixman_region32_fini(&around);
	pixman_region32_intersect_rect(&damage, &damage, 0, 0, (unsigned int)commit->buffer->width,
			(unsigned int)commit->buffer->height);
	const pixman_box32_t *extents = pixman_region32_extents(&damage);
	commit->picture.damage = (struct gid_box){extents->x1, extents->y1,
			extents->x2 - extents->x1, extents->y2 - extents->y1};
	pixman_region32_fini(&damage);
}

/* --- the memory ------------------------------------------------------------------------------- */

/* `pixels` has the rows of the whole buffer, and gets those of the crop. */
static void cut_pixels(struct commit *commit) {
	const struct gid_box *crop = &commit->picture.crop;
	struct pixel_rows *pixels = &commit->pixels;
	uint32_t pixel_bytes = gid_format_row_bytes(pixels->fourcc, 0, 1);
	if (crop->width > 0) {
		pixels->data += (size_t)crop->y * pixels->stride + (size_t)crop->x * pixel_bytes;
		pixels->width = (uint32_t)crop->width;
		pixels->height = (uint32_t)crop->height;
	}
	pixels->row_bytes = (size_t)pixels->width * pixel_bytes;
}

/*
 * Uses the client's own gid, if that can be lent. Sets `pixels` only if the format has plain rows.
 * The pages of the picture are there since its buffer was made: how large the rest of the slot is a
 * stranger chooses, and so it is not touched.
 */
static bool find_gid(struct commit *commit, const struct buffer_memory *memory) {
	struct gid_slab_info info;
	gid_slab_get_info(memory->slab, &info);
	const uint8_t *slot = gid_slab_view_untouched(memory->slab, gid_slot_of(memory->gid));
	if (slot == NULL || !buffer_memory_can_be_lent(memory, commit->forward->domain)) {
		return false;
	}
	commit->picture.gid = memory->gid;
	commit->picture.slab = memory->slab;
	commit->picture.buffer = commit->buffer;
	commit->picture.release = commit->surface->buffer_release_ref.buffer_release;
	if (!content_has_plain_rows(info.layout.fourcc)) {
		return true;
	}
	commit->pixels = (struct pixel_rows){
			.data = slot + info.layout.planes[0].offset,
			.fourcc = info.layout.fourcc,
			.width = info.layout.width,
			.height = info.layout.height,
			.stride = info.layout.planes[0].stride,
	};
	return true;
}

/* Uses the client's own dma-buf, and exports it first if it is new. */
static enum dmabuf_found find_dmabuf(struct commit *commit) {
	struct forward *forward = commit->forward;
	struct forward_picture *picture = &commit->picture;
	if (commit->buffer->direct_display) {
		refuse(commit, GID_HIDDEN_DMABUF,
				"the dma-buf is for planes of the display alone (direct-display)");
		return DMABUF_REFUSED;
	}
	struct gid_slab *slab;
	enum dmabuf_found found = dmabuf_exports_get(&forward->dmabufs, forward->domain,
			commit->buffer, &slab, &commit->refusal);
	if (found == DMABUF_FOUND) {
		picture->gid = gid_slab_gid(slab, 0);
		picture->slab = slab;
		picture->buffer = commit->buffer;
		picture->release = commit->surface->buffer_release_ref.buffer_release;
	}
	return found;
}

/*
 * Adds the commit's acquire fence (zwp_linux_explicit_synchronization_v1) to the dma-buf, so that
 * every reader of the dma-buf waits for it.
 */
static bool take_acquire_fence(struct commit *commit) {
	struct gid_slab_info info;
	struct dma_buf_import_sync_file fence = {
			.flags = DMA_BUF_SYNC_WRITE,
			.fd = commit->surface->acquire_fence_fd,
	};
	gid_slab_get_info(commit->picture.slab, &info);
	while (fence.fd >= 0 && ioctl(info.fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &fence) != 0) {
		if (errno != EINTR) {
			return refuse(commit, GID_HIDDEN_DMABUF,
					"the kernel does not let the dma-buf have the commit's "
					"fence: Linux 6.0 does");
		}
	}
	return true;
}

static bool is_dmabuf(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory == GID_MEMORY_DMABUF;
}

static bool find_shm(struct commit *commit) {
	if (commit->buffer->type != WESTON_BUFFER_SHM) {
		return refuse(commit, GID_HIDDEN_DMABUF,
				"the buffer is neither made of gids of this domain nor a dma-buf "
				"of its client's, nor of shared memory");
	}
	if (!commit->forward->config->copy) {
		return refuse(commit, GID_HIDDEN_COPY,
				"the buffer can only be copied, which copy=false forbids");
	}
	struct wl_shm_buffer *shm = commit->buffer->shm_buffer;
	commit->pixels = (struct pixel_rows){
			.data = wl_shm_buffer_get_data(shm),
			.fourcc = shm_format_to_fourcc(wl_shm_buffer_get_format(shm)),
			.width = (uint32_t)wl_shm_buffer_get_width(shm),
			.height = (uint32_t)wl_shm_buffer_get_height(shm),
			.stride = (size_t)wl_shm_buffer_get_stride(shm),
	};
	const struct gid_format_info *format = gid_format_find(commit->pixels.fourcc);
	if (format == NULL || !content_has_plain_rows(format->fourcc)) {
		return refuse(commit, GID_HIDDEN_FORMAT, "the buffer's format cannot be copied");
	}
	/* libwayland only checks that the stride has as many bytes as a row has pixels. */
	if (commit->pixels.stride < gid_format_row_bytes(format->fourcc, 0, commit->pixels.width)) {
		return refuse(commit, GID_HIDDEN_FORMAT,
				"the buffer's rows are longer than its stride");
	}
	return true;
}

static void hash_rows(struct commit *commit) {
	if (commit->forward->config->hash) {
		commit->picture.content_hash = content_hash_rows(&commit->pixels);
	}
}

/* Decides what to do when there is no slot for a copy. */
static enum found find_no_slot(struct commit *commit, int error) {
	if (error == -EINPROGRESS) {
		return FOUND_LATER;
	}
	refuse(commit, GID_HIDDEN_MEMORY, gid_strerror(error));
	return FOUND_NOTHING;
}

/* Copies the visible part only. */
static enum found copy_pixels(struct commit *commit) {
	struct wl_shm_buffer *shm = commit->buffer->shm_buffer;
	struct forward_picture *picture = &commit->picture;
	struct forward *forward = commit->forward;
	if (!forward_may_copy(forward, commit->pixels.width, commit->pixels.height,
			    &commit->refusal)) {
		return FOUND_NOTHING;
	}
	wl_shm_buffer_begin_access(shm);
	int error = pixel_copies_add(&forward->copies, forward->domain, forward->producer,
			&commit->pixels, &picture->gid);
	wl_shm_buffer_end_access(shm);
	if (error != 0) {
		return find_no_slot(commit, error);
	}
	picture->slab = forward->copies.slab;
	struct gid_slab_info info;
	gid_slab_get_info(picture->slab, &info);
	picture->damage = picture->crop = (struct gid_box){0};
	picture->flags |= GID_FRAME_COPIED;
	commit->pixels.data =
			(const uint8_t *)gid_slab_view(picture->slab, gid_slot_of(picture->gid)) +
			info.layout.planes[0].offset;
	commit->pixels.stride = info.layout.planes[0].stride;
	return FOUND;
}

/* Hashes formats with several planes, or with subsampling: their rows are cropped differently. */
static bool hash_samples(struct commit *commit) {
	struct forward_picture *picture = &commit->picture;
	struct gid_slab_info info;
	gid_slab_get_info(picture->slab, &info);
	int error = content_hash_slot(&info.layout, &picture->crop,
			gid_slab_view_untouched(picture->slab, gid_slot_of(picture->gid)),
			&picture->content_hash);
	if (error == -EINVAL) {
		return refuse(commit, GID_HIDDEN_CROP, "the viewport's source leaves the buffer");
	}
	return error == 0 || refuse(commit, GID_HIDDEN_MEMORY, "there is no memory to hash it");
}

/* --- composited or scaled content ------------------------------------------------------------- */

/*
 * Returns how many pixels a unit of surface coordinates gets, so that the content has the role's
 * size; 0: there is no such scale. Clients choose any scale and any size of the surface.
 */
static int32_t find_scale(const struct commit *commit) {
	const struct safety_config *config = commit->forward->config;
	const struct weston_surface *surface = commit->surface;
	int32_t most = surface->buffer_viewport.buffer.scale;
	if (surface->width < 1 || surface->height < 1) {
		return 0;
	}
	int32_t scale = config->width != 0 ? config->width / surface->width : most;
	int64_t width = (int64_t)surface->width * scale, height = (int64_t)surface->height * scale;
	bool fits = config->width != 0 ? width == config->width && height == config->height
				       : width <= GID_SIZE_MAX && height <= GID_SIZE_MAX;
	return fits && scale <= most ? scale : 0;
}

static enum tree_result draw_picture(struct commit *commit, int32_t scale) {
	struct forward *forward = commit->forward;
	struct forward_picture *picture = &commit->picture;
	uint32_t width = (uint32_t)(commit->surface->width * scale);
	uint32_t height = (uint32_t)(commit->surface->height * scale);
	uint8_t *data;
	if (!forward->config->copy) {
		refuse(commit, GID_HIDDEN_COPY,
				"the surface can only be drawn into a copy, which copy=false forbids");
		return TREE_REFUSED;
	}
	if (!forward_may_copy(forward, width, height, &commit->refusal)) {
		return TREE_REFUSED;
	}
	int error = pixel_copies_take(&forward->copies, forward->domain, forward->producer,
			DRM_FORMAT_XRGB8888, width, height, &picture->gid, &data);
	if (error != 0) {
		return find_no_slot(commit, error) == FOUND_LATER ? TREE_LATER : TREE_REFUSED;
	}
	picture->slab = forward->copies.slab;
	size_t stride = forward->copies.layout.planes[0].stride;
	uint64_t max = forward->config->pixels_max;
	struct gid_box frame = find_frame(commit);
	struct gid_box seen = frame.width > 0 ? frame : whole_surface(commit);
	enum tree_result result = forward_tree_draw(commit->surface, commit->parts ? &seen : NULL,
			scale, max != 0 ? 2 * max : UINT64_MAX, (uint32_t *)data, stride,
			&commit->refusal);
	if (result != TREE_DRAWN) {
		gid_slab_give(picture->slab, gid_slot_of(picture->gid));
		return result;
	}
	picture->damage = (struct gid_box){0};
	picture->crop = scale_box(frame, scale);
	picture->seen = seen;
	picture->transform = WL_OUTPUT_TRANSFORM_NORMAL;
	picture->flags |= GID_FRAME_COPIED;
	commit->pixels = (struct pixel_rows){
			.data = data,
			.fourcc = DRM_FORMAT_XRGB8888,
			.width = width,
			.height = height,
			.stride = stride,
			.row_bytes = (size_t)width * 4,
	};
	gid_producer_count_copy_for(
			forward->producer, GID_COPY_COMPOSED, (uint64_t)width * height * 4);
	hash_rows(commit);
	commit->drawn = true;
	return TREE_DRAWN;
}

/* --- the commit ------------------------------------------------------------------------------- */

static enum found find_drawn_picture(struct commit *commit, int32_t scale) {
	switch (draw_picture(commit, scale)) {
	case TREE_DRAWN:
		return FOUND;
	case TREE_LATER:
		return FOUND_LATER;
	default:
		return FOUND_NOTHING;
	}
}

/* Uses the surface's own buffer, without compositing. */
static enum found find_own_picture(struct commit *commit, const struct buffer_memory *memory) {
	find_damage(commit);
	if (memory == NULL && commit->buffer->type == WESTON_BUFFER_DMABUF) {
		enum dmabuf_found found = find_dmabuf(commit);
		if (found != DMABUF_FOUND) {
			return found == DMABUF_LATER ? FOUND_LATER : FOUND_NOTHING;
		}
		return take_acquire_fence(commit) ? FOUND_DMABUF : FOUND_NOTHING;
	}
	bool lent = memory != NULL && find_gid(commit, memory);
	if (lent && is_dmabuf(commit->picture.slab)) {
		return take_acquire_fence(commit) ? FOUND_DMABUF : FOUND_NOTHING;
	}
	if (lent && !commit->forward->config->hash) {
		return FOUND;
	}
	if (lent && commit->pixels.data == NULL) {
		return hash_samples(commit) ? FOUND : FOUND_NOTHING;
	}
	if (!lent && !find_shm(commit)) {
		return FOUND_NOTHING;
	}
	cut_pixels(commit);
	enum found found = lent ? FOUND : copy_pixels(commit);
	if (found == FOUND) {
		hash_rows(commit);
	}
	return found;
}

/*
 * Uses the picture of the only visible surface, if that needs no compositing. Returns whether it
 * does, and then sets `found`.
 */
static bool find_cover(struct commit *commit, enum found *found) {
	struct weston_surface *cover = forward_tree_find_cover(commit->surface);
	if (cover == NULL || find_frame(commit).width > 0) {
		return false;
	}
	struct buffer_memory memory;
	struct commit seen = {
			.forward = commit->forward,
			.surface = cover,
			.buffer = cover->buffer_ref.buffer,
	};
	bool gids = buffer_get_memory(seen.buffer->resource, &memory);
	if ((gids && memory.slab == NULL) || !find_crop(&seen) || !check_size(&seen)) {
		return false;
	}
	*found = find_own_picture(&seen, gids ? &memory : NULL);
	if (*found == FOUND_NOTHING && seen.buffer->type != WESTON_BUFFER_DMABUF) {
		return false; /* compositing may still work */
	}
	seen.picture.damage =
			(struct gid_box){0}; /* another surface may have been visible before */
	*commit = seen;
	return true;
}

/*
 * Composites the window with its menus and dialogs. Returns whether that is possible, and then sets
 * `found`. A window in memory that the processor cannot read is sent without them.
 */
static bool find_with_parts(struct commit *commit, enum found *found) {
	struct commit drawn = *commit;
	int32_t scale = find_scale(commit);
	drawn.parts = true;
	*found = scale > 0 ? find_drawn_picture(&drawn, scale) : FOUND_NOTHING;
	if (*found != FOUND_NOTHING) {
		*commit = drawn;
		return true;
	}
	forward_log(commit->forward, "gid: %s: sent without its menus and dialogs: %s\n",
			commit->forward->config->label,
			scale > 0 ? drawn.refusal.text : "its scale is too large");
	return false;
}

static enum found find_picture(struct commit *commit) {
	struct buffer_memory memory;
	bool gids = buffer_get_memory(commit->buffer->resource, &memory);
	if (gids && memory.pending) {
		return FOUND_LATER;
	}
	if (gids && memory.slab == NULL) {
		refuse(commit, GID_HIDDEN_GONE, "the buffer's memory is gone");
		return FOUND_NOTHING;
	}
	enum found found;
	if (commit->forward->config->role == NULL && window_has_parts(commit->surface) &&
			find_with_parts(commit, &found)) {
		return found;
	}
	bool plain = find_crop(commit) && check_size(commit);
	bool children = forward_tree_has_children(commit->surface);
	if (plain && !children) {
		return find_own_picture(commit, gids ? &memory : NULL);
	}
	if (children && find_cover(commit, &found)) {
		return found;
	}
	int32_t scale = find_scale(commit);
	if (scale > 0) {
		return find_drawn_picture(commit, scale);
	}
	if (plain) {
		refuse(commit, GID_HIDDEN_SIZE,
				"with its subsurfaces the surface is not of the role's size");
	}
	return FOUND_NOTHING;
}

void forward_skip(struct forward *forward) {
	forward->skipped = true;
	forward_outdate(forward);
}

void forward_commit(struct forward *forward, struct weston_surface *surface) {
	if (!forward_is_ready(forward)) {
		return;
	}
	struct commit commit = {
			.forward = forward,
			.surface = surface,
			.buffer = surface->buffer_ref.buffer,
			.picture.commit_time = gid_clock_now(),
	};
	if (commit.buffer == NULL || commit.buffer->resource == NULL) {
		forward_hide(forward, -1, GID_HIDDEN_EMPTY);
		return;
	}
	enum found found = find_picture(&commit);
	forward->skipped = forward->skipped && found == FOUND_LATER;
	forward->drawn = found == FOUND_LATER ? forward->drawn : commit.drawn;
	switch (found) {
	case FOUND:
		if (drawn_wait_drop(&forward->wait)) {
			commit.picture.damage = (struct gid_box){0};
		}
		forward_show(forward, &commit.picture);
		break;
	case FOUND_DMABUF:
		if (!forward_show_dmabuf(forward, &commit.picture, &commit.refusal)) {
			forward_refuse(forward, &commit.refusal);
		}
		break;
	case FOUND_NOTHING:
		drawn_wait_drop(&forward->wait);
		forward_refuse(forward, &commit.refusal);
		break;
	case FOUND_LATER:
		forward_outdate(forward);
		break;
	}
}
