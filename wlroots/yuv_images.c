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

/* `bytes` of a sample block of the plane, one or two samples of `depth` bytes. */
static uint32_t fourcc_of_plane(uint32_t bytes, uint32_t depth) {
	bool pairs = bytes > depth;
	if (depth == 1) {
		return pairs ? DRM_FORMAT_GR88 : DRM_FORMAT_R8;
	}
	return pairs ? DRM_FORMAT_GR1616 : DRM_FORMAT_R16;
}

static EGLImageKHR import_plane(const struct yuv_egl *egl,
		const struct wlr_dmabuf_attributes *dmabuf, const struct gid_format_info *info,
		uint32_t plane) {
	const struct gid_format_plane *samples = &info->planes[plane];
	uint32_t width = (uint32_t)dmabuf->width, height = (uint32_t)dmabuf->height;
	EGLint attributes[] = {
			EGL_WIDTH,
			(EGLint)(gid_format_row_bytes(info->fourcc, plane, width) / samples->bytes),
			EGL_HEIGHT,
			(EGLint)gid_format_rows(info->fourcc, plane, height),
			EGL_LINUX_DRM_FOURCC_EXT,
			(EGLint)fourcc_of_plane(samples->bytes, info->planes[0].bytes),
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

/* EGL takes signed numbers, and would not say that they were cut. */
static bool can_be_told(const struct wlr_dmabuf_attributes *dmabuf) {
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
	if (info == NULL || info->plane_count < 2 || info->plane_count > YUV_PLANES_MAX ||
			dmabuf->n_planes != (int)info->plane_count || !can_be_told(dmabuf)) {
		return false;
	}
	for (uint32_t i = 0; i < info->plane_count; i++) {
		images->planes[i] = import_plane(egl, dmabuf, info, i);
		if (images->planes[i] == EGL_NO_IMAGE_KHR) {
			yuv_images_finish(egl, images);
			return false;
		}
	}
	return true;
}

void yuv_images_finish(const struct yuv_egl *egl, struct yuv_images *images) {
	for (uint32_t i = 0; i < YUV_PLANES_MAX; i++) {
		if (images->planes[i] != EGL_NO_IMAGE_KHR) {
			egl->destroy_image(egl->display, images->planes[i]);
		}
	}
	*images = (struct yuv_images){0};
}
