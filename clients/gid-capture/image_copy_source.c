// SPDX-License-Identifier: MIT
/* An output or a window by ext-image-copy-capture-v1, as compositors of wlroots from 0.19 have it.
 */
#include <drm_fourcc.h>
#include <stdlib.h>

#include "box_join.h"
#include "ext-foreign-toplevel-list-v1-client-protocol.h"
#include "ext-image-capture-source-v1-client-protocol.h"
#include "ext-image-copy-capture-v1-client-protocol.h"
#include "shm_format.h"
#include "source.h"

struct image_copy_source {
	struct source base;
	struct ext_image_copy_capture_manager_v1 *manager; // the screens'
	struct ext_image_capture_source_v1 *subject;
	struct ext_image_copy_capture_session_v1 *session;
	struct ext_image_copy_capture_frame_v1 *frame; // asked for; NULL: none
	bool cursor, is_window;
	struct source_form form; // as far as it is known
	struct source_picture picture;
	bool again; // to be asked for again when the session has told its form
};

/* --- a picture -------------------------------------------------------------------------------- */

static void source_end_frame(struct image_copy_source *source) {
	if (source->frame != NULL) {
		ext_image_copy_capture_frame_v1_destroy(source->frame);
		source->frame = NULL;
	}
}

static void frame_transform(
		void *data, struct ext_image_copy_capture_frame_v1 *frame, uint32_t transform) {
	struct image_copy_source *source = data;
	source->picture.transform = transform & 7;
}

static void frame_damage(void *data, struct ext_image_copy_capture_frame_v1 *frame, int32_t x,
		int32_t y, int32_t width, int32_t height) {
	struct image_copy_source *source = data;
	source->picture.damage =
			box_join(source->picture.damage, (struct gid_box){x, y, width, height});
}

static void frame_presentation_time(void *data, struct ext_image_copy_capture_frame_v1 *frame,
		uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec) {
	struct image_copy_source *source = data;
	source->picture.time = (((uint64_t)sec_hi << 32) + sec_lo) * 1000000000 + nsec;
}

static void frame_ready(void *data, struct ext_image_copy_capture_frame_v1 *frame) {
	struct image_copy_source *source = data;
	source_end_frame(source);
	if (source->picture.time == 0) {
		source->picture.time = gid_clock_now();
	}
	source->base.events->captured(source->base.data, &source->picture);
}

/* A session that has ended sends `stopped`; a new form of buffers was announced before. */
static void frame_failed(
		void *data, struct ext_image_copy_capture_frame_v1 *frame, uint32_t reason) {
	struct image_copy_source *source = data;
	source_end_frame(source);
	if (reason != EXT_IMAGE_COPY_CAPTURE_FRAME_V1_FAILURE_REASON_STOPPED) {
		source->base.events->retry(source->base.data);
	}
}

static const struct ext_image_copy_capture_frame_v1_listener frame_listener = {
		.transform = frame_transform,
		.damage = frame_damage,
		.presentation_time = frame_presentation_time,
		.ready = frame_ready,
		.failed = frame_failed,
};

/* --- the session ------------------------------------------------------------------------------ */

static void session_buffer_size(void *data, struct ext_image_copy_capture_session_v1 *session,
		uint32_t width, uint32_t height) {
	struct image_copy_source *source = data;
	source->form.width = width;
	source->form.height = height;
}

/* Of several formats takes the one that every viewer can show. */
static void session_shm_format(
		void *data, struct ext_image_copy_capture_session_v1 *session, uint32_t format) {
	struct image_copy_source *source = data;
	uint32_t fourcc = shm_format_to_fourcc(format);
	uint32_t best = source->is_window ? DRM_FORMAT_ARGB8888 : DRM_FORMAT_XRGB8888;
	if (gid_format_find(fourcc) != NULL && (source->form.fourcc == 0 || fourcc == best)) {
		source->form.fourcc = fourcc;
	}
}

static void session_dmabuf_device(void *data, struct ext_image_copy_capture_session_v1 *session,
		struct wl_array *device) {
}

static void session_dmabuf_format(void *data, struct ext_image_copy_capture_session_v1 *session,
		uint32_t format, struct wl_array *modifiers) {
}

static void session_done(void *data, struct ext_image_copy_capture_session_v1 *session) {
	struct image_copy_source *source = data;
	struct source_form form = source->form;
	source->form.fourcc = 0; // the formats are told anew
	if (form.fourcc == 0) {
		source->base.events->ended(source->base.data,
				"the compositor gives no picture in a format that gidway knows");
		return;
	}
	form.stride = (gid_format_row_bytes(form.fourcc, 0, form.width) + 3) & ~3u;
	form.opaque = !source->is_window;
	source->base.events->form(source->base.data, &form);
	if (source->again) {
		source->again = false;
		source->base.events->retry(source->base.data);
	}
}

static void session_stopped(void *data, struct ext_image_copy_capture_session_v1 *session) {
	struct image_copy_source *source = data;
	source_end_frame(source);
	source->base.events->ended(source->base.data,
			source->is_window ? "the window is gone"
					  : "the compositor ended the capture");
}

static const struct ext_image_copy_capture_session_v1_listener session_listener = {
		.buffer_size = session_buffer_size,
		.shm_format = session_shm_format,
		.dmabuf_device = session_dmabuf_device,
		.dmabuf_format = session_dmabuf_format,
		.done = session_done,
		.stopped = session_stopped,
};

static void source_begin(struct image_copy_source *source) {
	source->session = ext_image_copy_capture_manager_v1_create_session(source->manager,
			source->subject,
			source->cursor ? EXT_IMAGE_COPY_CAPTURE_MANAGER_V1_OPTIONS_PAINT_CURSORS
				       : 0);
	ext_image_copy_capture_session_v1_add_listener(source->session, &session_listener, source);
}

/* --- the source ------------------------------------------------------------------------------- */

static void image_copy_source_capture(
		struct source *base, struct wl_buffer *buffer, struct gid_box stale) {
	struct image_copy_source *source = (struct image_copy_source *)base;
	source->picture = (struct source_picture){0};
	source->frame = ext_image_copy_capture_session_v1_create_frame(source->session);
	ext_image_copy_capture_frame_v1_add_listener(source->frame, &frame_listener, source);
	ext_image_copy_capture_frame_v1_attach_buffer(source->frame, buffer);
	if (stale.width <= 0 || stale.height <= 0) {
		stale = (struct gid_box){.width = (int32_t)source->form.width,
				.height = (int32_t)source->form.height};
	}
	ext_image_copy_capture_frame_v1_damage_buffer(
			source->frame, stale.x, stale.y, stale.width, stale.height);
	ext_image_copy_capture_frame_v1_capture(source->frame);
}

/* Begins a new session: its first picture comes at once, even if nothing has changed. */
static void image_copy_source_refresh(struct source *base) {
	struct image_copy_source *source = (struct image_copy_source *)base;
	bool asked = source->frame != NULL;
	source_end_frame(source);
	ext_image_copy_capture_session_v1_destroy(source->session);
	source_begin(source);
	source->again = asked;
}

static void image_copy_source_destroy(struct source *base) {
	struct image_copy_source *source = (struct image_copy_source *)base;
	source_end_frame(source);
	ext_image_copy_capture_session_v1_destroy(source->session);
	ext_image_capture_source_v1_destroy(source->subject);
	free(source);
}

static const struct source_interface interface = {
		.capture = image_copy_source_capture,
		.refresh = image_copy_source_refresh,
		.destroy = image_copy_source_destroy,
};

static struct ext_image_capture_source_v1 *create_subject(
		const struct screens *screens, const struct source_subject *subject) {
	if (subject->window != NULL) {
		return screens->window_sources == NULL
				? NULL
				: ext_foreign_toplevel_image_capture_source_manager_v1_create_source(
						  screens->window_sources, subject->window->handle);
	}
	return screens->output_sources == NULL
			? NULL
			: ext_output_image_capture_source_manager_v1_create_source(
					  screens->output_sources, subject->output->output);
}

struct source *image_copy_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data) {
	struct image_copy_source *source = NULL;
	if (screens->image_copy != NULL) {
		source = calloc(1, sizeof(*source));
	}
	if (source == NULL) {
		return NULL;
	}
	source->base = (struct source){
			.interface = &interface,
			.events = events,
			.data = data,
			.knows_damage = true,
			.knows_transform = true,
			.without_cursor = !subject->cursor,
	};
	source->manager = screens->image_copy;
	source->cursor = subject->cursor;
	source->is_window = subject->window != NULL;
	source->subject = create_subject(screens, subject);
	if (source->subject == NULL) {
		free(source);
		return NULL;
	}
	source_begin(source);
	return &source->base;
}
