// SPDX-License-Identifier: MIT
#include "software_gl.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wlr/render/drm_format_set.h>
#include <wlr/render/egl.h>
#include <wlr/render/gles2.h>
#include <wlr/util/log.h>

#include "dmabuf_create.h"
#include "versions.h"

/* --- drawing ---------------------------------------------------------------------------------- */

bool software_gl_is_needed(void) {
	glob_t nodes = {0};
	bool none = getenv("WLR_RENDER_DRM_DEVICE") == NULL &&
			glob("/dev/dri/renderD*", 0, NULL, &nodes) == GLOB_NOMATCH;
	globfree(&nodes);
	return none;
}

static EGLContext context_create(EGLDisplay display) {
	static const EGLint attributes[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
	if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_ES_API)) {
		return EGL_NO_CONTEXT;
	}
	return eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
}

struct wlr_renderer *software_gl_create(void) {
	/* wlroots refuses software renderers unless told otherwise. */
	setenv("WLR_RENDERER_ALLOW_SOFTWARE", "1", 0);
	EGLDisplay display = eglGetPlatformDisplay(
			EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	EGLContext context = display != EGL_NO_DISPLAY ? context_create(display) : EGL_NO_CONTEXT;
	if (context == EGL_NO_CONTEXT) {
		wlr_log(WLR_ERROR, "EGL cannot draw without a graphics card: error 0x%x",
				(unsigned)eglGetError());
		goto error_display;
	}
	struct wlr_egl *egl = wlr_egl_create_with_context(display, context);
	if (egl == NULL) {
		goto error_context;
	}
	/* On failure `egl` leaks a few bytes: wlroots has no public function to free it. */
	struct wlr_renderer *renderer = wlr_gles2_renderer_create(egl);
	if (renderer != NULL) {
		return renderer;
	}

error_context:
	eglDestroyContext(display, context);
error_display:
	if (display != EGL_NO_DISPLAY) {
		eglTerminate(display);
	}
	return NULL;
}

/* --- memory ----------------------------------------------------------------------------------- */

#define STRIDE_ALIGN 64u /* a cache line */
/*
 * llvmpipe writes whole blocks of this many rows, also at the lower edge: else it would write past
 * the dma-buf. The stride has room for its columns.
 */
#define ROW_ALIGN 4u

struct udmabuf_allocator {
	struct wlr_allocator base;
	int device;
};

struct udmabuf {
	struct wlr_buffer base;
	struct wlr_dmabuf_attributes attributes; /* owns the descriptor */
};

static void handle_destroy(struct wlr_buffer *base) {
	struct udmabuf *buffer = wl_container_of(base, buffer, base);
	wlr_buffer_finish(base);
	wlr_dmabuf_attributes_finish(&buffer->attributes);
	free(buffer);
}

static bool handle_get_dmabuf(struct wlr_buffer *base, struct wlr_dmabuf_attributes *attributes) {
	const struct udmabuf *buffer = wl_container_of(base, buffer, base);
	*attributes = buffer->attributes;
	return true;
}

static const struct wlr_buffer_impl buffer_impl = {
		.destroy = handle_destroy,
		.get_dmabuf = handle_get_dmabuf,
};

static bool is_linear(const struct wlr_drm_format *format) {
	bool four_bytes = format->format == DRM_FORMAT_XRGB8888 ||
			format->format == DRM_FORMAT_ARGB8888;
	for (size_t i = 0; i < format->len; i++) {
		if (format->modifiers[i] == DRM_FORMAT_MOD_LINEAR) {
			return four_bytes;
		}
	}
	return false;
}

static struct wlr_buffer *create_buffer(struct wlr_allocator *base, int width, int height,
		const struct wlr_drm_format *format) {
	struct udmabuf_allocator *allocator = wl_container_of(base, allocator, base);
	if (!is_linear(format)) {
		wlr_log(WLR_ERROR, "only linear XRGB and ARGB can be drawn to");
		return NULL;
	}
	struct udmabuf *buffer = calloc(1, sizeof(*buffer));
	if (buffer == NULL) {
		return NULL;
	}
	uint32_t stride = ((uint32_t)width * 4 + STRIDE_ALIGN - 1) / STRIDE_ALIGN * STRIDE_ALIGN;
	size_t rows = ((size_t)height + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
	int fd = dmabuf_create(allocator->device, stride * rows);
	if (fd < 0) {
		wlr_log(WLR_ERROR, "no dma-buf of %dx%d: %s", width, height, strerror(-fd));
		free(buffer);
		return NULL;
	}
	buffer->attributes = (struct wlr_dmabuf_attributes){
			.width = width,
			.height = height,
			.format = format->format,
			.modifier = DRM_FORMAT_MOD_LINEAR,
			.n_planes = 1,
			.stride = {stride},
			.fd = {fd},
	};
	wlr_buffer_init(&buffer->base, &buffer_impl, width, height);
	return &buffer->base;
}

static void destroy(struct wlr_allocator *base) {
	struct udmabuf_allocator *allocator = wl_container_of(base, allocator, base);
	close(allocator->device);
	free(allocator);
}

static const struct wlr_allocator_interface allocator_impl = {
		.create_buffer = create_buffer,
		.destroy = destroy,
};

struct wlr_allocator *software_gl_allocator_create(void) {
	struct udmabuf_allocator *allocator = calloc(1, sizeof(*allocator));
	if (allocator == NULL) {
		return NULL;
	}
	allocator->device = open(DMABUF_DEVICE, O_RDWR | O_CLOEXEC);
	if (allocator->device < 0) {
		wlr_log(WLR_ERROR, DMABUF_DEVICE ": %s", strerror(errno));
		free(allocator);
		return NULL;
	}
	wlr_allocator_init(&allocator->base, &allocator_impl, WLR_BUFFER_CAP_DMABUF);
	return &allocator->base;
}
