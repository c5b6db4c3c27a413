// SPDX-License-Identifier: MIT
/**
 * Draws YUV pictures in dma-bufs, for renderers whose driver does not import them as one image: the
 * GPU draws each from its planes, as an RGB picture that the renderer samples. The processor copies
 * nothing.
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
 * Returns NULL if that is not possible, as with renderers other than GLES2; the functions below
 * accept NULL. The caller owns renderer and allocator. After the renderer is lost or destroyed
 * nothing is drawn any more. Destroy all pictures first.
 */
struct yuv *yuv_create(struct wlr_renderer *renderer, struct wlr_allocator *allocator);
void yuv_destroy(struct yuv *yuv);

/*
 * Imports the planes of a linear picture, and allocates the target that it is drawn to. The
 * descriptors stay the caller's, and are not used after this. Returns NULL if one of both fails.
 */
struct yuv_picture *yuv_picture_create(struct yuv *yuv, const struct wlr_dmabuf_attributes *planes,
		const struct gid_colours *colours);
void yuv_picture_destroy(struct yuv_picture *picture);

/*
 * Returns the target's dma-bufs: borrowed descriptors, for a buffer of the same size. False: it has
 * none.
 */
bool yuv_picture_get_drawn(const struct yuv_picture *picture, struct wlr_dmabuf_attributes *drawn);

/*
 * Draws the current content of the planes. `buffer` has the dma-bufs of yuv_picture_get_drawn(), so
 * that the renderer uses one image of them, for drawing and for sampling.
 */
bool yuv_picture_draw(struct yuv_picture *picture, struct wlr_buffer *buffer);

#endif
