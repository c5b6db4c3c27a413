// SPDX-License-Identifier: MIT
/**
 * A wlr_buffer over a picture in memory of another domain. wlroots only reads it: from memory
 * (linear, of one plane), by sampling its dma-bufs, or by sampling a picture that is drawn from
 * these.
 */
#ifndef GID_WLROOTS_MEMORY_VIEW_H
#define GID_WLROOTS_MEMORY_VIEW_H

#include <gid/gid.h>
#include <wlr/interfaces/wlr_buffer.h>
#include <wlr/render/wlr_renderer.h>

struct yuv;
struct yuv_picture;

struct memory_view {
	struct wlr_buffer base;
	const void *data; /* the first row; NULL: nothing is shown */
	uint32_t fourcc;
	size_t stride;
	struct wlr_dmabuf_attributes dmabuf; /* borrowed; without planes: other memory */
	bool sampled;			     /* from `dmabuf`; `data` is not read */
	struct yuv_picture *yuv;	     /* owned; draws `dmabuf`; NULL: that is the picture */
	bool stale;			     /* `yuv` must draw before `dmabuf` is used */
	/* The memory is not read any more; frees `view`. */
	void (*destroyed)(struct memory_view *view);
};

/* Like wlr_buffer_init(): the caller's reference ends with wlr_buffer_drop(&view->base). */
void memory_view_init(struct memory_view *view, const void *data, uint32_t fourcc, uint32_t width,
		uint32_t height, size_t stride, void (*destroyed)(struct memory_view *view));

/*
 * The picture lies in these dma-bufs. Reads of `data` begin and end access to the first one, so
 * that they see what a device wrote. The renderer samples from them if it can. Emits the buffer's
 * release event. Returns whether the renderer samples.
 */
bool memory_view_set_dmabuf(struct memory_view *view, const struct wlr_dmabuf_attributes *dmabuf,
		struct wlr_renderer *renderer);

/*
 * The picture lies in `planes`, as YUV that the renderer cannot sample. It samples a picture drawn
 * from them: now, and after each memory_view_set_stale() when it next requests the view's dma-bufs.
 * Otherwise like memory_view_set_dmabuf().
 */
bool memory_view_set_yuv(struct memory_view *view, const struct wlr_dmabuf_attributes *planes,
		const struct gid_colours *colours, struct yuv *yuv, struct wlr_renderer *renderer);

/* The pixels in the memory may have changed. */
void memory_view_set_stale(struct memory_view *view);

/* The descriptors are about to be closed. An existing texture keeps what it samples from. */
void memory_view_forget_dmabuf(struct memory_view *view);

#endif
