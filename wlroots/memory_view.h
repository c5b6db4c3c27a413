// SPDX-License-Identifier: MIT
/**
 * A wlr_buffer over a picture that is not ours, which wlroots only reads: from memory (linear, of
 * one plane), or by sampling from the dma-bufs that it lies in, or from one drawn of those.
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
	const void *data; /* the first row; NULL shows nothing */
	uint32_t fourcc;
	size_t stride;
	struct wlr_dmabuf_attributes dmabuf; /* borrowed descriptors; no planes: memory of others */
	bool sampled;			     /* from the dma-bufs, and `data` is not read */
	struct yuv_picture
			*yuv; /* owned; what is drawn to the dma-bufs, NULL: they are as they are */
	bool stale;	      /* `yuv` is to be drawn before the dma-bufs are used */
	void (*destroyed)(struct memory_view
					*view); /* nobody reads the memory any more; frees `view` */
};

/* As wlr_buffer_init(): the caller's reference ends with wlr_buffer_drop(&view->base). */
void memory_view_init(struct memory_view *view, const void *data, uint32_t fourcc, uint32_t width,
		uint32_t height, size_t stride, void (*destroyed)(struct memory_view *view));

/*
 * The picture lies in these dma-bufs. A processor that reads `data` tells the first one so, which
 * makes it see what a device wrote; and the renderer samples from them if it takes them. Emits the
 * buffer's release event. Returns whether the renderer does.
 */
bool memory_view_set_dmabuf(struct memory_view *view, const struct wlr_dmabuf_attributes *dmabuf,
		struct wlr_renderer *renderer);

/*
 * The picture lies in `planes`, YUV that the renderer does not take, and what it samples from is a
 * picture drawn of them: now, and whenever it asks for the view's dma-bufs after
 * memory_view_set_stale(). As memory_view_set_dmabuf() otherwise.
 */
bool memory_view_set_yuv(struct memory_view *view, const struct wlr_dmabuf_attributes *planes,
		const struct gid_colours *colours, struct yuv *yuv, struct wlr_renderer *renderer);

/* Other pixels may be in the memory. */
void memory_view_set_stale(struct memory_view *view);

/* The descriptors go away. A texture that exists keeps what it samples from. */
void memory_view_forget_dmabuf(struct memory_view *view);

#endif
