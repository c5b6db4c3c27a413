// SPDX-License-Identifier: MIT
#include <gid/timeline.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "presentation-time-client-protocol.h"
#include "view.h"
#include "viewporter-client-protocol.h"

static void write_point(const struct view *view, enum gid_timeline_event event,
	const struct gid_frame *frame, uint64_t time) {
	gid_timeline_write(view->timeline,
		&(struct gid_timeline_point){
			.event = event,
			.time = time,
			.gid = frame->gid,
			.stream = view->options->stream,
			.sequence = frame->sequence,
			.domain = gid_domain_number(view->domain),
		});
}

/* --- when a frame was shown ------------------------------------------------------------------- */

struct feedback {
	struct wl_list link; // view.feedbacks
	struct view *view;
	struct wp_presentation_feedback *object;
	struct gid_frame frame;
};

static void feedback_destroy(struct feedback *feedback) {
	wl_list_remove(&feedback->link);
	wp_presentation_feedback_destroy(feedback->object);
	free(feedback);
}

static void count_shown(struct view *view) {
	view->stats.shown++;
	if (view->options->frames > 0 && view->stats.shown >= view->options->frames) {
		sd_event_exit(view->event, EXIT_SUCCESS);
	}
}

static void feedback_sync_output(
	void *data, struct wp_presentation_feedback *object, struct wl_output *output) {
}

static void feedback_presented(void *data, struct wp_presentation_feedback *object, uint32_t sec_hi,
	uint32_t sec_lo, uint32_t nsec, uint32_t refresh, uint32_t seq_hi, uint32_t seq_lo,
	uint32_t flags) {
	struct feedback *feedback = data;
	struct view *view = feedback->view;
	uint64_t shown = wayland_presented_time(&view->wayland, sec_hi, sec_lo, nsec);
	uint64_t submitted = feedback->frame.submit_time;
	uint64_t latency = shown > submitted ? shown - submitted : 0;
	histogram_add(&view->stats.latency, latency / 1000);
	count_shown(view);
	if (view->timeline != NULL) {
		write_point(view, GID_TIMELINE_SHOWN, &feedback->frame, shown);
	}
	feedback_destroy(feedback);
}

static void feedback_discarded(void *data, struct wp_presentation_feedback *object) {
	struct feedback *feedback = data;
	feedback->view->stats.discarded++;
	feedback_destroy(feedback);
}

static const struct wp_presentation_feedback_listener feedback_listener = {
	.sync_output = feedback_sync_output,
	.presented = feedback_presented,
	.discarded = feedback_discarded,
};

/* Asking costs the compositor a quarter of all that a frame costs it, drawing aside. */
static bool wants_to_know_when_shown(const struct view *view) {
	const struct options *options = view->options;
	return view->wayland.presentation != NULL &&
		(options->stats_path != NULL || options->frames > 0 || view->timeline != NULL);
}

static void ask_when_shown(struct view *view, const struct gid_frame *frame) {
	struct feedback *feedback =
		wants_to_know_when_shown(view) ? calloc(1, sizeof(*feedback)) : NULL;
	if (feedback == NULL) {
		count_shown(view);
		return;
	}
	feedback->view = view;
	feedback->frame = *frame;
	feedback->object =
		wp_presentation_feedback(view->wayland.presentation, view->window.picture);
	wp_presentation_feedback_add_listener(feedback->object, &feedback_listener, feedback);
	wl_list_insert(&view->feedbacks, &feedback->link);
}

void view_drop_feedbacks(struct view *view) {
	struct feedback *feedback, *next;
	wl_list_for_each_safe(feedback, next, &view->feedbacks, link) {
		feedback_destroy(feedback);
	}
}

/* --- the commit ------------------------------------------------------------------------------- */

static void frame_done(void *data, struct wl_callback *callback, uint32_t time) {
	struct view *view = data;
	wl_callback_destroy(view->frame_callback);
	view->frame_callback = NULL;
	view_show(view);
}

static const struct wl_callback_listener frame_listener = {.done = frame_done};

/* What is shown of the picture, in its own pixels. */
static struct gid_box visible_box(const struct gid_layout *layout, const struct gid_frame *frame) {
	if (frame->crop.width > 0 && frame->crop.height > 0) {
		return frame->crop;
	}
	return (struct gid_box){0, 0, (int32_t)layout->width, (int32_t)layout->height};
}

static bool format_is_opaque(uint32_t fourcc) {
	// The formats of DRM that have alpha say so by an A among their letters: AR24, RA24, AB4H,
	// …
	for (int shift = 0; shift < 16; shift += 8) {
		if ((fourcc >> shift & 0xff) == 'A') {
			return false;
		}
	}
	return true;
}

static void set_opaque(struct view *view, bool opaque) {
	struct wl_region *region = wl_compositor_create_region(view->wayland.compositor);
	if (opaque) {
		wl_region_add(region, 0, 0, INT32_MAX, INT32_MAX);
	}
	wl_surface_set_opaque_region(view->window.picture, region);
	wl_region_destroy(region);
}

static void damage_picture(struct view *view) {
	const struct gid_box *damage = &view->damage;
	if (view->damage_everything) {
		wl_surface_damage_buffer(view->window.picture, 0, 0, INT32_MAX, INT32_MAX);
	} else {
		wl_surface_damage_buffer(
			view->window.picture, damage->x, damage->y, damage->width, damage->height);
	}
	view->damage_everything = false;
	view->damage = (struct gid_box){0};
}

/* Each of these costs the compositor as much as all that a plain frame says. */
static void tell_how(
	struct view *view, const struct buffer *buffer, uint32_t transform, struct gid_box source) {
	const struct told new = {
		.valid = true,
		.source = source,
		.transform = transform,
		.opaque = format_is_opaque(buffer->layout.fourcc),
	};
	struct told *old = &view->told;
	if (!old->valid || new.transform != old->transform) {
		wl_surface_set_buffer_transform(view->window.picture, (int32_t)transform);
	}
	if (!old->valid || memcmp(&new.source, &old->source, sizeof(new.source)) != 0) {
		wp_viewport_set_source(view->window.picture_viewport, wl_fixed_from_int(source.x),
			wl_fixed_from_int(source.y), wl_fixed_from_int(source.width),
			wl_fixed_from_int(source.height));
	}
	if (!old->valid || new.opaque != old->opaque) {
		set_opaque(view, new.opaque);
	}
	*old = new;
}

static void commit_picture(struct view *view, struct buffer *buffer, const struct gid_frame *frame,
	struct gid_box shown) {
	struct wl_surface *surface = view->window.picture;
	wl_surface_attach(surface, buffer->wl_buffer, 0, 0);
	tell_how(view, buffer, frame->transform, shown);
	damage_picture(view);
	view->frame_callback = wl_surface_frame(surface);
	wl_callback_add_listener(view->frame_callback, &frame_listener, view);
	ask_when_shown(view, frame);
	wl_surface_commit(surface);
	if (view->timeline != NULL) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		write_point(view, GID_TIMELINE_COMMIT, frame,
			(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	}
	buffer_take(buffer, frame);
}

void view_show(struct view *view) {
	if (!view->has_pending || view->frame_callback != NULL) {
		return;
	}
	const struct gid_frame *frame = &view->pending;
	struct buffer *buffer = buffers_get(&view->buffers, frame->gid);
	if (buffer == NULL || buffer->state == BUFFER_FAILED) {
		view->stats.failed++;
		view_drop_pending(view);
		return;
	}
	if (buffer->state == BUFFER_UNFIT) {
		sd_event_exit(view->event, EXIT_FAILURE);
		return;
	}
	if (buffer->slab == NULL) {
		return;
	}
	struct gid_box shown = gid_box_turn(visible_box(&buffer->layout, frame),
		buffer->layout.width, buffer->layout.height, frame->transform);
	window_set_picture_size(&view->window, shown.width, shown.height);
	if (buffer->state != BUFFER_READY || !view->window.mapped) {
		return;
	}
	commit_picture(view, buffer, frame, shown);
	view->has_pending = false;
}

void view_hide(struct view *view) {
	wl_surface_attach(view->window.picture, NULL, 0, 0);
	wp_viewport_set_source(view->window.picture_viewport, wl_fixed_from_int(-1),
		wl_fixed_from_int(-1), wl_fixed_from_int(-1), wl_fixed_from_int(-1));
	view->told.valid = false;
	wl_surface_commit(view->window.picture);
	if (view->frame_callback != NULL) {
		wl_callback_destroy(view->frame_callback);
		view->frame_callback = NULL;
	}
}
