// SPDX-License-Identifier: MIT
/*
 * An output of Weston, by its weston-output-capture. Weston draws the output anew for each picture
 * that it is asked for, whether something changed or not, and does not tell what.
 */
#include <stdio.h>
#include <stdlib.h>

#include "source.h"
#include "weston-output-capture-client-protocol.h"

struct weston_source {
	struct source base;
	struct weston_capture_source_v1 *object;
	struct source_form form;
	bool form_changed; // since it was told
};

static void handle_format(
		void *data, struct weston_capture_source_v1 *object, uint32_t drm_format) {
	struct weston_source *source = data;
	source->form_changed |= source->form.fourcc != drm_format;
	source->form.fourcc = drm_format;
}

/* Comes after the format, at the start and with each change. */
static void handle_size(void *data, struct weston_capture_source_v1 *object, int32_t width,
		int32_t height) {
	struct weston_source *source = data;
	struct source_form *form = &source->form;
	if (width < 1 || height < 1 || form->fourcc == 0) {
		return;
	}
	if (source->form_changed || form->width != (uint32_t)width ||
			form->height != (uint32_t)height) {
		form->width = (uint32_t)width;
		form->height = (uint32_t)height;
		form->stride = (gid_format_row_bytes(form->fourcc, 0, form->width) + 3) & ~3u;
		source->form_changed = false;
		source->base.events->form(source->base.data, form);
	}
}

static void handle_complete(void *data, struct weston_capture_source_v1 *object) {
	struct weston_source *source = data;
	const struct source_picture picture = {.time = gid_clock_now()};
	source->base.events->captured(source->base.data, &picture);
}

static void handle_retry(void *data, struct weston_capture_source_v1 *object) {
	struct weston_source *source = data;
	source->base.events->retry(source->base.data);
}

static void handle_failed(
		void *data, struct weston_capture_source_v1 *object, const char *message) {
	struct weston_source *source = data;
	char why[256];
	snprintf(why, sizeof(why),
			"Weston refuses the output's picture: %s (it gives pictures to the programs "
			"that capture-clients= in [gid] of weston.ini names, and with --debug to all)",
			message != NULL ? message : "it does not say why");
	source->base.events->ended(source->base.data, why);
}

static const struct weston_capture_source_v1_listener listener = {
		.format = handle_format,
		.size = handle_size,
		.complete = handle_complete,
		.retry = handle_retry,
		.failed = handle_failed,
};

static void weston_source_capture(
		struct source *base, struct wl_buffer *buffer, struct gid_box stale) {
	struct weston_source *source = (struct weston_source *)base;
	weston_capture_source_v1_capture(source->object, buffer);
}

/* Nothing to do: each capture draws the output. */
static void weston_source_refresh(struct source *base) {
}

static void weston_source_destroy(struct source *base) {
	struct weston_source *source = (struct weston_source *)base;
	weston_capture_source_v1_destroy(source->object);
	free(source);
}

static const struct source_interface interface = {
		.capture = weston_source_capture,
		.refresh = weston_source_refresh,
		.destroy = weston_source_destroy,
};

struct source *weston_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data) {
	struct weston_source *source = NULL;
	if (screens->weston != NULL && subject->window == NULL) {
		source = calloc(1, sizeof(*source));
	}
	if (source == NULL) {
		return NULL;
	}
	source->base = (struct source){.interface = &interface, .events = events, .data = data};
	source->form.opaque = true;
	source->object = weston_capture_v1_create(screens->weston, subject->output->output,
			WESTON_CAPTURE_V1_SOURCE_FRAMEBUFFER);
	weston_capture_source_v1_add_listener(source->object, &listener, source);
	return &source->base;
}
