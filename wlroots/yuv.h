// SPDX-License-Identifier: MIT
/**
 * YUV pictures in dma-bufs for renderers whose driver does not import them as one image: the GPU
 * draws each, from its planes, as a picture of red, green and blue that the renderer takes. No
 * processor copies a byte.
 */
#ifndef GID_WLROOTS_YUV_H
#define GID_WLROOTS_YUV_H

#include <gid/gid.h>
#include <wlr/render/allocator.h>
#include <wlr/render/wlr_renderer.h>
#include <wlr/types/wlr_buffer.h>

struct yuv;
struct yuv_picture;

/*
 * NULL where it cannot be done, so with renderers other than GLES2; the functions below take that.
 * Renderer and allocator are borrowed. Once the renderer is lost or destroyed nothing is drawn any
 * more. Destroy the pictures before.
 */
struct yuv *yuv_create(struct wlr_renderer *renderer, struct wlr_allocator *allocator);
void yuv_destroy(struct yuv *yuv);

/*
 * Imports the planes of a linear picture, and allocates what it is drawn to. The descriptors stay
 * the caller's, and are not used any more. NULL where one of both is refused.
 */
struct yuv_picture *yuv_picture_create(struct yuv *yuv, const struct wlr_dmabuf_attributes *planes,
		const struct gid_colours *colours);
void yuv_picture_destroy(struct yuv_picture *picture);

/* Where it is drawn: borrowed descriptors, for a buffer of the same size. False: no dma-bufs. */
bool yuv_picture_get_drawn(const struct yuv_picture *picture, struct wlr_dmabuf_attributes *drawn);

/*
 * Draws what the planes hold now. `buffer` has the dma-bufs of yuv_picture_get_drawn(), so that the
 * renderer has one image of them, for drawing and for sampling.
 */
bool yuv_picture_draw(struct yuv_picture *picture, struct wlr_buffer *buffer);

#endif
