// SPDX-License-Identifier: MIT
#include "yuv.h"

#include <drm_fourcc.h>
#include <stdlib.h>
#include <wlr/render/drm_format_set.h>
#include <wlr/render/gles2.h>

#include "yuv_shader.h"

struct yuv {
	struct wlr_renderer *renderer; /* NULL: it is gone, and so are all its OpenGL objects */
	struct wlr_allocator *allocator;
	struct yuv_egl egl;
	struct yuv_shader shader;
	struct wl_list pictures; /* yuv_picture::link */
	struct wl_listener renderer_lost, renderer_destroy;
};

struct yuv_picture {
	struct yuv *yuv;
	struct wl_list link;
	struct wlr_dmabuf_attributes planes; /* without descriptors */
	struct gid_colours colours;
	struct yuv_images images;
	struct wlr_buffer *drawn;
};

/* --- the renderer's context ------------------------------------------------------------------- */

struct context {
	EGLDisplay display;
	EGLContext context;
	EGLSurface draw, read;
};

static bool context_enter(const struct yuv *yuv, struct context *before) {
	*before = (struct context){
			.display = eglGetCurrentDisplay(),
			.context = eglGetCurrentContext(),
			.draw = eglGetCurrentSurface(EGL_DRAW),
			.read = eglGetCurrentSurface(EGL_READ),
	};
	return eglMakeCurrent(yuv->egl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, yuv->egl.context);
}

static void context_restore(const struct yuv *yuv, const struct context *before) {
	EGLDisplay display = before->display != EGL_NO_DISPLAY ? before->display : yuv->egl.display;
	eglMakeCurrent(display, before->draw, before->read, before->context);
}

/* --- the renderer is lost or destroyed -------------------------------------------------------- */

static void yuv_forget_renderer(struct yuv *yuv) {
	if (yuv->renderer == NULL) {
		return;
	}
	struct yuv_picture *picture;
	wl_list_for_each(picture, &yuv->pictures, link) {
		yuv_images_finish(&yuv->egl, &picture->images);
	}
	struct context before;
	if (context_enter(yuv, &before)) {
		yuv_shader_finish(&yuv->shader);
		context_restore(yuv, &before);
	}
	wl_list_remove(&yuv->renderer_lost.link);
	wl_list_remove(&yuv->renderer_destroy.link);
	yuv->renderer = NULL;
}

static void handle_renderer_lost(struct wl_listener *listener, void *data) {
	struct yuv *yuv = wl_container_of(listener, yuv, renderer_lost);
	yuv_forget_renderer(yuv);
}

static void handle_renderer_destroy(struct wl_listener *listener, void *data) {
	struct yuv *yuv = wl_container_of(listener, yuv, renderer_destroy);
	yuv_forget_renderer(yuv);
}

/* --- create and destroy ----------------------------------------------------------------------- */

static bool init_shader(struct yuv *yuv) {
	struct context before;
	if (!context_enter(yuv, &before)) {
		return false;
	}
	bool made = yuv_shader_init(&yuv->shader);
	context_restore(yuv, &before);
	return made;
}

struct yuv *yuv_create(struct wlr_renderer *renderer, struct wlr_allocator *allocator) {
	struct yuv *yuv = calloc(1, sizeof(*yuv));
	if (yuv == NULL || allocator == NULL || !yuv_egl_init(&yuv->egl, renderer) ||
			!init_shader(yuv)) {
		free(yuv);
		return NULL;
	}
	yuv->renderer = renderer;
	yuv->allocator = allocator;
	wl_list_init(&yuv->pictures);
	yuv->renderer_lost.notify = handle_renderer_lost;
	wl_signal_add(&renderer->events.lost, &yuv->renderer_lost);
	yuv->renderer_destroy.notify = handle_renderer_destroy;
	wl_signal_add(&renderer->events.destroy, &yuv->renderer_destroy);
	return yuv;
}

void yuv_destroy(struct yuv *yuv) {
	if (yuv != NULL) {
		yuv_forget_renderer(yuv);
		free(yuv);
	}
}

/* --- a picture -------------------------------------------------------------------------------- */

/*
 * In a format that the renderer samples. Whether it can be drawn to, and has dma-bufs, only the
 * first drawing shows.
 */
static struct wlr_buffer *allocate(struct yuv *yuv, int width, int height) {
	const struct wlr_drm_format_set *sampled =
			wlr_renderer_get_texture_formats(yuv->renderer, WLR_BUFFER_CAP_DMABUF);
	const struct wlr_drm_format *format = wlr_drm_format_set_get(sampled, DRM_FORMAT_XRGB8888);
	return format != NULL ? wlr_allocator_create_buffer(yuv->allocator, width, height, format)
			      : NULL;
}

struct yuv_picture *yuv_picture_create(struct yuv *yuv, const struct wlr_dmabuf_attributes *planes,
		const struct gid_colours *colours) {
	if (yuv == NULL || yuv->renderer == NULL) {
		return NULL;
	}
	struct yuv_picture *picture = calloc(1, sizeof(*picture));
	if (picture == NULL) {
		return NULL;
	}
	if (!yuv_images_import(&yuv->egl, planes, &picture->images)) {
		goto error_picture;
	}
	picture->drawn = allocate(yuv, planes->width, planes->height);
	if (picture->drawn == NULL) {
		goto error_images;
	}
	picture->yuv = yuv;
	picture->planes = *planes;
	picture->colours = *colours;
	wl_list_insert(&yuv->pictures, &picture->link);
	return picture;

error_images:
	yuv_images_finish(&yuv->egl, &picture->images);
error_picture:
	free(picture);
	return NULL;
}

void yuv_picture_destroy(struct yuv_picture *picture) {
	if (picture != NULL) {
		wl_list_remove(&picture->link);
		yuv_images_finish(&picture->yuv->egl, &picture->images);
		wlr_buffer_drop(picture->drawn);
		free(picture);
	}
}

bool yuv_picture_get_drawn(const struct yuv_picture *picture, struct wlr_dmabuf_attributes *drawn) {
	return wlr_buffer_get_dmabuf(picture->drawn, drawn);
}

bool yuv_picture_draw(struct yuv_picture *picture, struct wlr_buffer *buffer) {
	const struct yuv *yuv = picture->yuv;
	struct context before;
	if (yuv->renderer == NULL || !context_enter(yuv, &before)) {
		return false;
	}
	GLint framebuffer_before = 0;
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &framebuffer_before);
	GLuint framebuffer = wlr_gles2_renderer_get_buffer_fbo(yuv->renderer, buffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	bool drawn = framebuffer != 0 &&
			yuv_shader_draw(&yuv->shader, &picture->images, &picture->planes,
					&picture->colours);
	glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)framebuffer_before);
	context_restore(yuv, &before);
	return drawn;
}
