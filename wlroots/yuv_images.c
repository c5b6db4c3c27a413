// SPDX-License-Identifier: MIT
#include "yuv_images.h"

#include <drm_fourcc.h>
#include <gid/gid.h>
#include <string.h>
#include <wlr/render/gles2.h>
#include <wlr/types/wlr_buffer.h>

bool yuv_egl_init(struct yuv_egl *egl, struct wlr_renderer *renderer) {
	if (!wlr_renderer_is_gles2(renderer) ||
			wlr_renderer_get_texture_formats(renderer, WLR_BUFFER_CAP_DMABUF) == NULL) {
		return false;
	}
	struct wlr_egl *of_renderer = wlr_gles2_renderer_get_egl(renderer);
	*egl = (struct yuv_egl){
			.display = wlr_egl_get_display(of_renderer),
			.context = wlr_egl_get_context(of_renderer),
			.create_image = (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress(
					"eglCreateImageKHR"),
			.destroy_image = (PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress(
					"eglDestroyImageKHR"),
	};
	const char *extensions = eglQueryString(egl->display, EGL_EXTENSIONS);
	egl->knows_modifiers = extensions != NULL &&
			strstr(extensions, "EGL_EXT_image_dma_buf_import_modifiers") != NULL;
	return egl->create_image != NULL && egl->destroy_image != NULL;
}

/* One texture: texels of `samples` samples, of `depth` bytes each. */
struct texels {
	uint32_t plane, samples, depth;
};

static uint32_t fourcc_of(const struct texels *texels) {
	switch (texels->samples) {
	case 1:
		return texels->depth == 1 ? DRM_FORMAT_R8 : DRM_FORMAT_R16;
	case 2:
		return texels->depth == 1 ? DRM_FORMAT_GR88 : DRM_FORMAT_GR1616;
	default:
		return texels->depth == 1 ? DRM_FORMAT_ABGR8888 : DRM_FORMAT_ABGR16161616;
	}
}

/* Returns the number of textures. */
static uint32_t find_texels(
		const struct gid_format_info *info, struct texels texels[YUV_TEXTURES_MAX]) {
	uint32_t depth = yuv_sample_bytes(info);
	if (yuv_is_paired(info)) {
		texels[0] = (struct texels){.samples = 2, .depth = depth};
		texels[1] = (struct texels){.samples = 4, .depth = depth};
		return 2;
	}
	for (uint32_t i = 0; i < info->plane_count; i++) {
		texels[i] = (struct texels){i, info->planes[i].bytes / depth, depth};
	}
	return info->plane_count;
}

static EGLImageKHR import_texels(const struct yuv_egl *egl,
		const struct wlr_dmabuf_attributes *dmabuf, const struct texels *texels) {
	uint32_t plane = texels->plane;
	uint32_t row = gid_format_row_bytes(dmabuf->format, plane, (uint32_t)dmabuf->width);
	EGLint attributes[] = {
			EGL_WIDTH,
			(EGLint)(row / (texels->samples * texels->depth)),
			EGL_HEIGHT,
			(EGLint)gid_format_rows(dmabuf->format, plane, (uint32_t)dmabuf->height),
			EGL_LINUX_DRM_FOURCC_EXT,
			(EGLint)fourcc_of(texels),
			EGL_DMA_BUF_PLANE0_FD_EXT,
			dmabuf->fd[plane],
			EGL_DMA_BUF_PLANE0_OFFSET_EXT,
			(EGLint)dmabuf->offset[plane],
			EGL_DMA_BUF_PLANE0_PITCH_EXT,
			(EGLint)dmabuf->stride[plane],
			EGL_IMAGE_PRESERVED_KHR,
			EGL_TRUE,
			egl->knows_modifiers ? EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT : EGL_NONE,
			(EGLint)(DRM_FORMAT_MOD_LINEAR & UINT32_MAX),
			EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT,
			(EGLint)(DRM_FORMAT_MOD_LINEAR >> 32),
			EGL_NONE,
	};
	return egl->create_image(
			egl->display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, attributes);
}

/* EGL takes signed numbers, and does not report that they were truncated. */
static bool can_be_described(const struct wlr_dmabuf_attributes *dmabuf) {
	for (int i = 0; i < dmabuf->n_planes; i++) {
		if (dmabuf->offset[i] > INT32_MAX || dmabuf->stride[i] > INT32_MAX) {
			return false;
		}
	}
	return dmabuf->modifier == DRM_FORMAT_MOD_LINEAR && dmabuf->width > 0 && dmabuf->height > 0;
}

bool yuv_images_import(const struct yuv_egl *egl, const struct wlr_dmabuf_attributes *dmabuf,
		struct yuv_images *images) {
	const struct gid_format_info *info = gid_format_find(dmabuf->format);
	*images = (struct yuv_images){0};
	if (info == NULL || !yuv_is_drawn(info) || info->plane_count > YUV_TEXTURES_MAX ||
			dmabuf->n_planes != (int)info->plane_count || !can_be_described(dmabuf)) {
		return false;
	}
	struct texels texels[YUV_TEXTURES_MAX];
	uint32_t count = find_texels(info, texels);
	for (uint32_t i = 0; i < count; i++) {
		images->textures[i] = import_texels(egl, dmabuf, &texels[i]);
		if (images->textures[i] == EGL_NO_IMAGE_KHR) {
			yuv_images_finish(egl, images);
			return false;
		}
	}
	return true;
}

void yuv_images_finish(const struct yuv_egl *egl, struct yuv_images *images) {
	for (uint32_t i = 0; i < YUV_TEXTURES_MAX; i++) {
		if (images->textures[i] != EGL_NO_IMAGE_KHR) {
			egl->destroy_image(egl->display, images->textures[i]);
		}
	}
	*images = (struct yuv_images){0};
}
