// SPDX-License-Identifier: MIT
#include "dmabuf_claim.h"

#include <drm_fourcc.h>

#include "linux-dmabuf-v1-protocol.h"

static bool refuse(struct refusal *refusal, enum gid_hidden hidden, const char *text) {
	*refusal = (struct refusal){hidden, text};
	return false;
}

static bool check_format(const struct dmabuf_claim *claim, struct refusal *refusal) {
	const struct gid_format_info *info = gid_format_find(claim->fourcc);
	if (info == NULL || claim->plane_count < 1 ||
			info->plane_count != (uint32_t)claim->plane_count) {
		return refuse(refusal, GID_HIDDEN_FORMAT,
				"gidway does not know the dma-buf's format with so many planes");
	}
	if (claim->modifier == DRM_FORMAT_MOD_INVALID) {
		return refuse(refusal, GID_HIDDEN_FORMAT,
				"the dma-buf has no modifier: where its pixels lie, only its "
				"driver knows");
	}
	if (claim->modifier != DRM_FORMAT_MOD_LINEAR) {
		return refuse(refusal, GID_HIDDEN_FORMAT,
				"the dma-buf's modifier is not the linear one: such pictures "
				"cannot be checked");
	}
	return true;
}

static bool check_flags(const struct dmabuf_claim *claim, struct refusal *refusal) {
	if (claim->flags & ZWP_LINUX_BUFFER_PARAMS_V1_FLAGS_Y_INVERT) {
		return refuse(refusal, GID_HIDDEN_DMABUF,
				"the dma-buf's rows are in order from bottom to top (y_invert)");
	}
	if (claim->flags &
			(ZWP_LINUX_BUFFER_PARAMS_V1_FLAGS_INTERLACED |
					ZWP_LINUX_BUFFER_PARAMS_V1_FLAGS_BOTTOM_FIRST)) {
		return refuse(refusal, GID_HIDDEN_DMABUF, "the dma-buf's rows are interlaced");
	}
	return claim->flags == 0 ||
			refuse(refusal, GID_HIDDEN_DMABUF,
					"the dma-buf has flags that gidway does not know");
}

/* A frame has one gid, which names one piece of memory. */
static bool check_descriptors(const struct dmabuf_claim *claim, struct refusal *refusal) {
	const struct dmabuf_facts *first = &claim->planes[0].facts;
	for (int32_t i = 0; i < claim->plane_count; i++) {
		const struct dmabuf_facts *facts = &claim->planes[i].facts;
		if (facts->is_unknown) {
			return refuse(refusal, GID_HIDDEN_DMABUF,
					"there is no /proc here, by which dma-bufs are known");
		}
		if (!facts->is_dmabuf) {
			return refuse(refusal, GID_HIDDEN_DMABUF,
					"the buffer's descriptor is not one of a dma-buf");
		}
		if (facts->inode != first->inode) {
			return refuse(refusal, GID_HIDDEN_DMABUF,
					"the picture's planes lie in several dma-bufs");
		}
	}
	return true;
}

bool dmabuf_claim_check(const struct dmabuf_claim *claim, struct gid_layout *layout,
		uint64_t *offset, struct refusal *refusal) {
	if (!check_format(claim, refusal) || !check_flags(claim, refusal) ||
			!check_descriptors(claim, refusal)) {
		return false;
	}
	if (claim->width < 1 || claim->height < 1) {
		return refuse(refusal, GID_HIDDEN_DMABUF, "the dma-buf's picture has no pixels");
	}
	uint32_t begin = claim->planes[0].offset;
	for (int32_t i = 1; i < claim->plane_count; i++) {
		begin = claim->planes[i].offset < begin ? claim->planes[i].offset : begin;
	}
	*layout = (struct gid_layout){
			.fourcc = claim->fourcc,
			.modifier = claim->modifier,
			.width = (uint32_t)claim->width,
			.height = (uint32_t)claim->height,
			.plane_count = (uint32_t)claim->plane_count,
	};
	for (int32_t i = 0; i < claim->plane_count; i++) {
		layout->planes[i].offset = claim->planes[i].offset - begin;
		layout->planes[i].stride = claim->planes[i].stride;
	}
	*offset = begin;
	uint64_t size = claim->planes[0].facts.size;
	if (begin >= size || gid_layout_check(layout, size - begin) != 0) {
		return refuse(refusal, GID_HIDDEN_DMABUF,
				"the dma-buf is smaller than its picture, or its rows are longer "
				"than the stride");
	}
	return true;
}
