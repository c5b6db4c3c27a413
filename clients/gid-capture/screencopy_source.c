// SPDX-License-Identifier: MIT
/*
 * Captures an output by wlr-screencopy-unstable-v1, as compositors of wlroots up to 0.18 have it.
 *
 * Each picture is an object of its own, which first announces the form. So the next one is made as
 * soon as the last one is done, and then waits for a buffer.
 */
#include <drm_fourcc.h>
#include <stdlib.h>
#include <string.h>

#include "box_join.h"
#include "shm_format.h"
#include "source.h"
#include "wlr-screencopy-unstable-v1-client-protocol.h"

struct screencopy_source {
	struct source base;
	struct zwlr_screencopy_manager_v1 *manager; // the screens'
	struct wl_output *output;
	bool cursor;
	struct zwlr_screencopy_frame_v1 *frame; // the next or present picture's; NULL: it sleeps
	bool ready;				// the frame has told all of its form
	struct source_form form, told;
	struct source_picture picture; // as far as it is known
	struct wl_buffer *buffer;      // asked for; NULL: none
	bool waits;		       // for a change
};

static void source_next(struct screencopy_source *source);

static void frame_buffer(void *data, struct zwlr_screencopy_frame_v1 *frame, uint32_t format,
		uint32_t width, uint32_t height, uint32_t stride) {
	struct screencopy_source *source = data;
	source->form = (struct source_form){
			.fourcc = shm_format_to_fourcc(format),
			.width = width,
			.height = height,
			.stride = stride,
			.opaque = true,
	};
}

static void frame_linux_dmabuf(void *data, struct zwlr_screencopy_frame_v1 *frame, uint32_t format,
		uint32_t width, uint32_t height) {
}

static void source_copy(struct screencopy_source *source) {
	if (source->waits) {
		zwlr_screencopy_frame_v1_copy_with_damage(source->frame, source->buffer);
	} else {
		zwlr_screencopy_frame_v1_copy(source->frame, source->buffer);
	}
}

static void frame_buffer_done(void *data, struct zwlr_screencopy_frame_v1 *frame) {
	struct screencopy_source *source = data;
	source->ready = true;
	if (memcmp(&source->form, &source->told, sizeof(source->form)) != 0) {
		bool asked = source->buffer != NULL;
		source->told = source->form;
		source->buffer = NULL;
		source->base.events->form(source->base.data, &source->form);
		if (asked) {
			source->base.events->retry(source->base.data);
		}
	} else if (source->buffer != NULL) {
		source_copy(source);
	}
}

static void frame_flags(void *data, struct zwlr_screencopy_frame_v1 *frame, uint32_t flags) {
	struct screencopy_source *source = data;
	if (flags & ZWLR_SCREENCOPY_FRAME_V1_FLAGS_Y_INVERT) {
		source->picture.transform = WL_OUTPUT_TRANSFORM_FLIPPED_180;
	}
}

static void frame_damage(void *data, struct zwlr_screencopy_frame_v1 *frame, uint32_t x, uint32_t y,
		uint32_t width, uint32_t height) {
	struct screencopy_source *source = data;
	if (x <= GID_SIZE_MAX && y <= GID_SIZE_MAX && width <= GID_SIZE_MAX &&
			height <= GID_SIZE_MAX) {
		source->picture.damage = box_join(source->picture.damage,
				(struct gid_box){(int32_t)x, (int32_t)y, (int32_t)width,
						(int32_t)height});
	}
}

static void frame_ready(void *data, struct zwlr_screencopy_frame_v1 *frame, uint32_t sec_hi,
		uint32_t sec_lo, uint32_t nsec) {
	struct screencopy_source *source = data;
	source->picture.time = (((uint64_t)sec_hi << 32) + sec_lo) * 1000000000 + nsec;
	const struct source_picture picture = source->picture;
	source->waits = true;
	source_next(source);
	source->base.events->captured(source->base.data, &picture);
}

static void source_end_frame(struct screencopy_source *source) {
	if (source->frame != NULL) {
		zwlr_screencopy_frame_v1_destroy(source->frame);
	}
	source->frame = NULL;
	source->ready = false;
	source->buffer = NULL;
}

/*
 * The output changed, sleeps, or is gone. If it changed, the next frame announces the new form. If
 * it sleeps, not even a form was announced. That it is gone is a global_remove event.
 */
static void frame_failed(void *data, struct zwlr_screencopy_frame_v1 *frame) {
	struct screencopy_source *source = data;
	bool asked = source->buffer != NULL;
	if (!source->ready) {
		source_end_frame(source);
		source->base.events->asleep(source->base.data);
		return;
	}
	source_next(source);
	if (asked) {
		source->base.events->retry(source->base.data);
	}
}

static const struct zwlr_screencopy_frame_v1_listener listener = {
		.buffer = frame_buffer,
		.flags = frame_flags,
		.ready = frame_ready,
		.failed = frame_failed,
		.damage = frame_damage,
		.linux_dmabuf = frame_linux_dmabuf,
		.buffer_done = frame_buffer_done,
};

static void source_next(struct screencopy_source *source) {
	source_end_frame(source);
	source->picture = (struct source_picture){0};
	source->frame = zwlr_screencopy_manager_v1_capture_output(
			source->manager, source->cursor, source->output);
	zwlr_screencopy_frame_v1_add_listener(source->frame, &listener, source);
}

static void screencopy_source_capture(
		struct source *base, struct wl_buffer *buffer, struct gid_box stale) {
	struct screencopy_source *source = (struct screencopy_source *)base;
	source->buffer = buffer;
	if (source->ready) {
		source_copy(source);
	}
}

/* A request that waits for a change is sent again without waiting. */
static void screencopy_source_refresh(struct source *base) {
	struct screencopy_source *source = (struct screencopy_source *)base;
	struct wl_buffer *buffer = source->buffer;
	source->waits = false;
	if (buffer != NULL || source->frame == NULL) {
		source_next(source);
		source->buffer = buffer;
	}
}

static void screencopy_source_destroy(struct source *base) {
	struct screencopy_source *source = (struct screencopy_source *)base;
	source_end_frame(source);
	free(source);
}

static const struct source_interface interface = {
		.capture = screencopy_source_capture,
		.refresh = screencopy_source_refresh,
		.destroy = screencopy_source_destroy,
};

struct source *screencopy_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data) {
	struct screencopy_source *source = NULL;
	if (screens->screencopy != NULL && subject->window == NULL) {
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
			.without_cursor = !subject->cursor,
	};
	source->manager = screens->screencopy;
	source->output = subject->output->output;
	source->cursor = subject->cursor;
	source_next(source);
	return &source->base;
}
