// SPDX-License-Identifier: MIT
#include "examiner.h"

#include "../convert/to_rgb.h"
#include "../convert/visible.h"
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <wayland-server-protocol.h>
#include <xxhash.h>

bool examiner_is_words(const struct gid_layout *layout) {
	return (layout->fourcc == DRM_FORMAT_XRGB8888 || layout->fourcc == DRM_FORMAT_ARGB8888) &&
			layout->planes[0].offset % 4 == 0 && layout->planes[0].stride % 4 == 0;
}

bool examiner_is_drawn(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory != GID_MEMORY_DMABUF || gid_dmabuf_is_drawn(info.fd);
}

uint32_t examiner_showable(struct gid_showable showable[GID_SHOWABLE_MAX]) {
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

/* Memory that is there for the next frame, too. NULL: there is none. */
static void *examiner_rows(struct examiner *examiner, int which, size_t size) {
	if (examiner->sizes[which] < size) {
		free(examiner->rows[which]);
		examiner->rows[which] = malloc(size);
		examiner->sizes[which] = examiner->rows[which] != NULL ? size : 0;
	}
	return examiner->rows[which];
}

void examiner_finish(struct examiner *examiner) {
	free(examiner->rows[0]);
	free(examiner->rows[1]);
	*examiner = (struct examiner){0};
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

/* Where the picture is drawn as it lies in memory: not the place where it is shown, if it is
 * turned.
 */
static uint32_t *examiner_target(struct examiner *examiner, const struct examination *of,
		const struct visible *visible) {
	const struct gid_box *seen = &visible->seen;
	size_t size = (size_t)seen->width * (size_t)seen->height * 4;
	return of->frame.transform == WL_OUTPUT_TRANSFORM_NORMAL ? of->picture->data
								 : examiner_rows(examiner, 0, size);
}

static int read_words(struct examination *of, const struct visible *visible, uint32_t *target,
		struct pixel_hashes *hashes) {
	const struct gid_layout *layout = &of->slab.layout;
	struct pixels whole = {
			.data = (const uint8_t *)of->slot + layout->planes[0].offset,
			.width = layout->width,
			.height = layout->height,
			.stride = layout->planes[0].stride,
	};
	struct pixels part = pixels_part(&whole, visible->x, visible->y, visible->layout.width,
			visible->layout.height);
	return pixels_copy(&part, target, (size_t)part.width * 4, hashes);
}

/* Any other format: all that follows is of a copy of the rows, which nobody else can change. */
static int read_others(struct examiner *examiner, struct examination *of,
		const struct visible *visible, uint32_t *target, struct pixel_hashes *hashes) {
	const struct gid_box *seen = &visible->seen;
	size_t size = gid_layout_size(&visible->layout);
	void *rows = examiner_rows(examiner, 1, size);
	if (rows == NULL) {
		return -ENOMEM;
	}
	visible_copy(visible, of->slot, rows);
	struct pixels pixels = {target, (uint32_t)seen->width, (uint32_t)seen->height,
			(size_t)seen->width * 4};
	to_rgb(&visible->layout, rows, (uint32_t)seen->x, (uint32_t)seen->y, pixels.width,
			pixels.height, target, pixels.stride);
	int ret = pixels_copy(&pixels, target, pixels.stride, hashes);
	hashes->content = XXH3_64bits(rows, size);
	of->converted = true;
	return ret;
}

static int examiner_draw(
		struct examiner *examiner, struct examination *of, const struct visible *visible) {
	struct pixel_hashes hashes = {0}, of_seen = {0};
	uint32_t *target = examiner_target(examiner, of, visible);
	if (target == NULL) {
		return -ENOMEM;
	}
	if (!begin_read(&of->slab)) {
		return -EAGAIN;
	}
	int ret = examiner_is_words(&of->slab.layout)
			? read_words(of, visible, target, &hashes)
			: read_others(examiner, of, visible, target, &hashes);
	end_read(&of->slab);
	of->content = hashes.content;
	of->picture->colour = hashes.colour;
	if (ret == 0 && target != of->picture->data) {
		const struct gid_box *seen = &visible->seen;
		struct pixels own = {target, (uint32_t)seen->width, (uint32_t)seen->height,
				(size_t)seen->width * 4};
		struct pixels pixels = own_picture_pixels(of->picture);
		pixels_turn(&own, of->frame.transform, of->picture->data);
		ret = pixels_hash(&pixels, &of_seen, NULL);
		of->picture->colour = of_seen.colour;
	}
	return ret;
}

/* What is seen, turned, must have the picture's size. */
static bool fits(
		const struct gid_box *seen, uint32_t transform, const struct own_picture *picture) {
	bool across = transform & WL_OUTPUT_TRANSFORM_90;
	return (uint32_t)seen->width == (across ? picture->height : picture->width) &&
			(uint32_t)seen->height == (across ? picture->width : picture->height);
}

static enum role_reason examiner_read(struct examiner *examiner, struct examination *of) {
	if (of->frame.flags & GID_FRAME_CORRUPTED) {
		return ROLE_REASON_CORRUPTED;
	}
	if (of->slab.revoked || of->slot == NULL) {
		return ROLE_REASON_MEMORY;
	}
	struct visible visible;
	if (gid_layout_check(&of->slab.layout, of->slab.slot_size) != 0 ||
			!to_rgb_can(of->slab.layout.fourcc) ||
			to_rgb_is_slow(of->slab.layout.fourcc) ||
			of->frame.transform > WL_OUTPUT_TRANSFORM_FLIPPED_270 ||
			visible_init(&visible, &of->slab.layout, &of->frame.crop) != 0 ||
			!fits(&visible.seen, of->frame.transform, of->picture)) {
		return ROLE_REASON_LAYOUT;
	}
	return examiner_draw(examiner, of, &visible) == 0 ? ROLE_REASON_NONE : ROLE_REASON_MEMORY;
}

/* What that takes is long: it is done once for each picture that is new. */
static bool examiner_allows(struct examiner *examiner, const struct own_picture *picture) {
	if (examiner->allowed->count == 0) {
		return true;
	}
	struct verdict *verdict = &examiner->verdicts[picture->colour % EXAMINER_VERDICTS];
	if (!verdict->known || verdict->colour != picture->colour) {
		struct pixels pixels = own_picture_pixels(picture);
		struct pixel_hashes hashes;
		struct digest digest;
		if (pixels_hash(&pixels, &hashes, &digest) != 0) {
			return false;
		}
		*verdict = (struct verdict){
				.known = true,
				.colour = picture->colour,
				.allowed = hashes_have(examiner->allowed, &digest),
		};
	}
	return verdict->allowed;
}

void examiner_examine(struct examiner *examiner, struct examination *examination) {
	examination->converted = false;
	examination->content = 0;
	examination->reason = examiner_read(examiner, examination);
	examination->allowed = examination->reason == ROLE_REASON_NONE &&
			examiner_allows(examiner, examination->picture);
}
