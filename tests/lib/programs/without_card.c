// SPDX-License-Identifier: MIT
/*
 * A compositor on the wlroots library on a machine without a graphics card: WLR_RENDERER=gles2
 * draws with Mesa's llvmpipe into memory of /dev/udmabuf. Says of each buffer how it is shown.
 */
#include <stdlib.h>
#include <string.h>
#include <wlr/util/log.h>

#include "cluster/screen/software_gl.h"

struct wlr_renderer *__real_wlr_renderer_autocreate(struct wlr_backend *backend);
struct wlr_renderer *__wrap_wlr_renderer_autocreate(struct wlr_backend *backend);
struct wlr_allocator *__real_wlr_allocator_autocreate(
		struct wlr_backend *backend, struct wlr_renderer *renderer);
struct wlr_allocator *__wrap_wlr_allocator_autocreate(
		struct wlr_backend *backend, struct wlr_renderer *renderer);

static bool is_gl(void) {
	const char *wanted = getenv("WLR_RENDERER");
	return wanted != NULL && strcmp(wanted, "gles2") == 0;
}

struct wlr_renderer *__wrap_wlr_renderer_autocreate(struct wlr_backend *backend) {
	wlr_log_init(WLR_DEBUG, NULL);
	return is_gl() ? software_gl_create() : __real_wlr_renderer_autocreate(backend);
}

struct wlr_allocator *__wrap_wlr_allocator_autocreate(
		struct wlr_backend *backend, struct wlr_renderer *renderer) {
	return is_gl() ? software_gl_allocator_create()
		       : __real_wlr_allocator_autocreate(backend, renderer);
}
