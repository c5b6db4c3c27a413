// SPDX-License-Identifier: MIT
#include "software_gl.h"

#include <glob.h>
#include <stdlib.h>
#include <wlr/render/egl.h>
#include <wlr/render/gles2.h>
#include <wlr/util/log.h>

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
	/* wlroots would refuse a renderer of software that nobody asked for. */
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
	/* On failure the few bytes of `egl` are lost: wlroots has no public way to free them. */
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
