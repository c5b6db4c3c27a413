// SPDX-License-Identifier: MIT
/**
 * A wlr_buffer over a linear picture of one plane that lies in memory, which wlroots only reads.
 */
#ifndef GID_WLROOTS_VIEW_H
#define GID_WLROOTS_VIEW_H

#include <gid/gid.h>
#include <wlr/interfaces/wlr_buffer.h>

struct view {
	struct wlr_buffer base;
	const void *data; /* the first row; NULL shows nothing */
	uint32_t fourcc;
	size_t stride;
	void (*destroyed)(struct view *view); /* nobody reads the memory any more; frees `view` */
};

/* As wlr_buffer_init(): the caller's reference ends with wlr_buffer_drop(&view->base). */
void view_init(struct view *view, const void *data, uint32_t fourcc, uint32_t width,
	uint32_t height, size_t stride, void (*destroyed)(struct view *view));

/* Whether the buffer is a view. */
bool view_is_instance(const struct wlr_buffer *buffer);

#endif
