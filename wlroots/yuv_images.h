// SPDX-License-Identifier: MIT
/**
 * The planes of a YUV picture in dma-bufs, each imported as an EGL image of its own, as
 * yuv_weights.h describes: of red, green, blue and alpha, which drivers import even if they refuse
 * the picture as one image.
 */
#ifndef GID_WLROOTS_YUV_IMAGES_H
#define GID_WLROOTS_YUV_IMAGES_H

#include <wlr/render/egl.h>
#include <wlr/render/wlr_renderer.h>

#include "yuv_weights.h"

/* EGL of a renderer, and what it needs for imports. */
struct yuv_egl {
	EGLDisplay display;
	EGLContext context;
	PFNEGLCREATEIMAGEKHRPROC create_image;
	PFNEGLDESTROYIMAGEKHRPROC destroy_image;
	bool knows_modifiers;
};

struct yuv_images {
	EGLImageKHR textures[YUV_TEXTURES_MAX]; /* EGL_NO_IMAGE_KHR: not used */
};

/* Returns false if the renderer is not GLES2, or cannot import dma-bufs. */
bool yuv_egl_init(struct yuv_egl *egl, struct wlr_renderer *renderer);

/*
 * Imports a linear picture, whose format gidway knows as paired, or with two or three planes. The
 * descriptors stay the caller's. Returns false, and imports nothing, if the driver refuses a plane.
 */
bool yuv_images_import(const struct yuv_egl *egl, const struct wlr_dmabuf_attributes *dmabuf,
		struct yuv_images *images);

/* May be called twice. */
void yuv_images_finish(const struct yuv_egl *egl, struct yuv_images *images);

#endif
