// SPDX-License-Identifier: MIT
#include "client_dmabuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * The first fields of libweston's struct linux_dmabuf_buffer. libweston passes it to its renderers
 * and backends, and declares it in a header that it does not install. They are the same in Weston
 * 14, 15 and 16. What is read here is compared with the public struct weston_buffer.
 */
struct kept_dmabuf {
	struct wl_resource *buffer; /* the wl_buffer */
	struct wl_resource *params; /* NULL once there is a wl_buffer */
	struct weston_compositor *compositor;
	int32_t width, height;
	uint32_t fourcc, flags;
	int32_t plane_count;
	int32_t fds[GID_PLANES_MAX];
	uint32_t offsets[GID_PLANES_MAX], strides[GID_PLANES_MAX];
	uint64_t modifier; /* of all planes */
};

static bool is_as_known(const struct weston_buffer *buffer, const struct kept_dmabuf *kept) {
	if (kept->buffer != buffer->resource || kept->params != NULL ||
			kept->width != buffer->width || kept->height != buffer->height ||
			kept->modifier != buffer->format_modifier || kept->plane_count < 1 ||
			kept->plane_count > (int32_t)GID_PLANES_MAX) {
		return false;
	}
	for (int32_t i = 0; i < kept->plane_count; i++) {
		if (kept->fds[i] < 0) {
			return false;
		}
	}
	return true;
}

/* NULL: it is no such buffer, or libweston stores it in another way. */
static const struct kept_dmabuf *get_kept(const struct weston_buffer *buffer) {
	const struct kept_dmabuf *kept = buffer->dmabuf;
	bool is_one = buffer->type == WESTON_BUFFER_DMABUF && buffer->resource != NULL &&
			kept != NULL && is_as_known(buffer, kept);
	return is_one ? kept : NULL;
}

uint32_t client_dmabuf_fourcc(const struct weston_buffer *buffer) {
	const struct kept_dmabuf *kept = get_kept(buffer);
	return kept != NULL ? kept->fourcc : 0;
}

bool client_dmabuf_read(const struct weston_buffer *buffer, struct dmabuf_claim *claim, int *fd) {
	const struct kept_dmabuf *kept = get_kept(buffer);
	if (kept == NULL) {
		return false;
	}
	*claim = (struct dmabuf_claim){
			.width = kept->width,
			.height = kept->height,
			.fourcc = kept->fourcc,
			.flags = kept->flags,
			.modifier = kept->modifier,
			.plane_count = kept->plane_count,
	};
	for (int32_t i = 0; i < kept->plane_count; i++) {
		claim->planes[i].offset = kept->offsets[i];
		claim->planes[i].stride = kept->strides[i];
		dmabuf_facts_read(&claim->planes[i].facts, kept->fds[i]);
	}
	*fd = kept->fds[0];
	return true;
}
