// SPDX-License-Identifier: MIT
/*
 * Weston tells modules of a commit, but not of what becomes of it. So, while somebody wants points:
 * - a commit with damage leaves the buffer's gid with the surface, and a weston_animation with each
 *   output, which Weston calls at the end of that output's next repaint;
 * - then the gids of the surfaces on this output are in flight;
 * - the repaint is shown when output->frame_time changes, and at that very time. Nobody tells when
 *   it does: a timer looks, and so does the next repaint. Where the repaint loop ends and starts
 *   again, frame_time changes once more without a repaint: that takes a timer of Weston's, which is
 *   never due before the look that follows the first change.
 */
#include "points.h"

#include "buffer.h"
#include <gid/timeline.h>
#include <libweston/weston-log.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WRITER "weston"
#define LOOK_MS 1      /* the least that Weston waits, too */
#define LOOKS_MAX 1000 /* a repaint that is not shown within a second will not be */
/* Surfaces with gid buffers in one repaint; of more the rest is not told of. */
#define IN_FLIGHT_MAX 64

struct points {
	const struct module *module;
	struct gid_timeline *timeline; /* the file of $GID_TIMELINE, or NULL */
	struct wl_listener create_surface;
	struct wl_list surfaces; /* point_surface::link */
	struct wl_list outputs;	 /* point_output::link */
};

struct point_surface {
	struct wl_list link;
	struct points *points;
	struct weston_surface *surface;
	struct wl_listener commit, destroy;
	gid_id committed; /* not repainted yet; GID_NONE: nothing */
};

struct point_output {
	struct wl_list link;
	struct points *points;
	struct weston_output *output;
	struct wl_listener destroy;
	struct weston_animation animation;
	bool awaits_repaint; /* the animation is with the output */
	gid_id in_flight[IN_FLIGHT_MAX];
	uint32_t in_flight_count;
	struct timespec shown_before; /* output->frame_time, when they were repainted */
	struct wl_event_source *timer;
	uint32_t looks;
};

static int64_t nanoseconds(const struct timespec *time) {
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static int64_t clock_now(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return nanoseconds(&now);
}

/*
 * A time of the presentation clock, which the backend chooses, on CLOCK_MONOTONIC: by reading the
 * one clock between two readings of the other, the closest of a few.
 */
static int64_t monotonic_time(clockid_t clock, const struct timespec *time) {
	int64_t offset = 0, least = INT64_MAX;
	for (int i = 0; clock != CLOCK_MONOTONIC && i < 4; i++) {
		int64_t before = clock_now(CLOCK_MONOTONIC), between = clock_now(clock);
		int64_t spent = clock_now(CLOCK_MONOTONIC) - before;
		if (spent < least) {
			least = spent;
			offset = before + spent / 2 - between;
		}
	}
	return nanoseconds(time) + offset;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Whether somebody listens to Weston's timeline, beside our own pacer. */
static bool timeline_is_heard(const struct points *points) {
	struct weston_log_scope *timeline = points->module->compositor->timeline;
	struct weston_log_subscription *listener = weston_log_subscription_iterate(timeline, NULL);
	if (listener && points->module->pacer) {
		listener = weston_log_subscription_iterate(timeline, listener);
	}
	return listener;
}

static bool points_are_wanted(const struct points *points) {
	return points->timeline || timeline_is_heard(points);
}

static void points_write(
	const struct points *points, enum gid_timeline_event event, gid_id gid, int64_t time) {
	struct gid_domain *domain = connection_get_domain(points->module->connection);
	if (!domain) {
		return;
	}
	struct gid_timeline_point point = {
		.event = event,
		.time = (uint64_t)time,
		.gid = gid,
		.domain = gid_domain_number(domain),
	};
	if (timeline_is_heard(points)) {
		char line[GID_TIMELINE_LINE_MAX];
		gid_timeline_format(&point, WRITER, line);
		weston_log_scope_printf(points->module->compositor->timeline, "%s", line);
	} else if (points->timeline) {
		gid_timeline_write(points->timeline, &point);
	}
}

/* --- shown ------------------------------------------------------------------------------------ */

static bool point_output_is_shown(const struct point_output *output) {
	const struct timespec *now = &output->output->frame_time;
	return now->tv_sec != output->shown_before.tv_sec ||
		now->tv_nsec != output->shown_before.tv_nsec;
}

/* What is in flight was shown, or never will be. */
static void point_output_land(struct point_output *output) {
	if (output->in_flight_count > 0 && point_output_is_shown(output)) {
		int64_t shown =
			monotonic_time(output->points->module->compositor->presentation_clock,
				&output->output->frame_time);
		for (uint32_t i = 0; i < output->in_flight_count; i++) {
			points_write(
				output->points, GID_TIMELINE_SHOWN, output->in_flight[i], shown);
		}
	}
	output->in_flight_count = 0;
}

static int handle_look(void *data) {
	struct point_output *output = data;
	if (point_output_is_shown(output) || ++output->looks >= LOOKS_MAX) {
		point_output_land(output);
	} else {
		wl_event_source_timer_update(output->timer, LOOK_MS);
	}
	return 0;
}

static void handle_repaint(struct weston_animation *animation, struct weston_output *weston_output,
	const struct timespec *time) {
	struct point_output *output = wl_container_of(animation, output, animation);
	bool some_left = false;
	point_output_land(output);
	struct point_surface *surface;
	wl_list_for_each(surface, &output->points->surfaces, link) {
		if (surface->committed != GID_NONE &&
			(surface->surface->output_mask & 1u << weston_output->id) &&
			output->in_flight_count < IN_FLIGHT_MAX) {
			output->in_flight[output->in_flight_count++] = surface->committed;
			surface->committed = GID_NONE;
		}
		some_left = some_left || surface->committed != GID_NONE;
	}
	if (!some_left) {
		wl_list_remove(&output->animation.link);
		output->awaits_repaint = false;
	}
	if (output->in_flight_count > 0) {
		output->shown_before = weston_output->frame_time;
		output->looks = 0;
		wl_event_source_timer_update(output->timer, LOOK_MS);
	}
}

/* --- outputs ---------------------------------------------------------------------------------- */

static void point_output_destroy(struct point_output *output) {
	if (output->awaits_repaint) {
		wl_list_remove(&output->animation.link);
	}
	wl_event_source_remove(output->timer);
	wl_list_remove(&output->destroy.link);
	wl_list_remove(&output->link);
	free(output);
}

static void handle_output_destroy(struct wl_listener *listener, void *data) {
	struct point_output *output = wl_container_of(listener, output, destroy);
	point_output_destroy(output);
}

static struct point_output *points_get_output(
	struct points *points, struct weston_output *weston_output) {
	struct point_output *output;
	wl_list_for_each(output, &points->outputs, link) {
		if (output->output == weston_output) {
			return output;
		}
	}
	output = calloc(1, sizeof(*output));
	if (!output) {
		return NULL;
	}
	output->timer = wl_event_loop_add_timer(
		wl_display_get_event_loop(points->module->compositor->wl_display), handle_look,
		output);
	if (!output->timer) {
		free(output);
		return NULL;
	}
	output->points = points;
	output->output = weston_output;
	output->animation.frame = handle_repaint;
	output->destroy.notify = handle_output_destroy;
	wl_signal_add(&weston_output->destroy_signal, &output->destroy);
	wl_list_insert(&points->outputs, &output->link);
	return output;
}

/* --- surfaces --------------------------------------------------------------------------------- */

static void handle_commit(struct wl_listener *listener, void *data) {
	struct point_surface *surface = wl_container_of(listener, surface, commit);
	struct points *points = surface->points;
	if (!points_are_wanted(points)) {
		return;
	}
	const struct weston_buffer *buffer = surface->surface->buffer_ref.buffer;
	gid_id gid = buffer && buffer->resource ? buffer_get_gid(buffer->resource) : GID_NONE;
	if (gid == GID_NONE || !pixman_region32_not_empty(&surface->surface->damage)) {
		return;
	}
	points_write(points, GID_TIMELINE_COMMIT, gid, clock_now(CLOCK_MONOTONIC));
	surface->committed = gid;
	struct weston_output *weston_output;
	wl_list_for_each(weston_output, &points->module->compositor->output_list, link) {
		struct point_output *output = points_get_output(points, weston_output);
		if (output && !output->awaits_repaint) {
			wl_list_insert(&weston_output->animation_list, &output->animation.link);
			output->awaits_repaint = true;
		}
	}
}

static void point_surface_destroy(struct point_surface *surface) {
	wl_list_remove(&surface->commit.link);
	wl_list_remove(&surface->destroy.link);
	wl_list_remove(&surface->link);
	free(surface);
}

static void handle_surface_destroy(struct wl_listener *listener, void *data) {
	struct point_surface *surface = wl_container_of(listener, surface, destroy);
	point_surface_destroy(surface);
}

static void handle_create_surface(struct wl_listener *listener, void *data) {
	struct points *points = wl_container_of(listener, points, create_surface);
	struct point_surface *surface = calloc(1, sizeof(*surface));
	if (!surface) {
		return;
	}
	surface->points = points;
	surface->surface = data;
	surface->commit.notify = handle_commit;
	wl_signal_add(&surface->surface->commit_signal, &surface->commit);
	surface->destroy.notify = handle_surface_destroy;
	wl_signal_add(&surface->surface->destroy_signal, &surface->destroy);
	wl_list_insert(&points->surfaces, &surface->link);
}

/* ---------------------------------------------------------------------------------------------- */

struct points *points_create(const struct module *module) {
	struct points *points = calloc(1, sizeof(*points));
	if (!points) {
		return NULL;
	}
	points->module = module;
	wl_list_init(&points->surfaces);
	wl_list_init(&points->outputs);
	points->create_surface.notify = handle_create_surface;
	wl_signal_add(&module->compositor->create_surface_signal, &points->create_surface);
	int error = gid_timeline_open(NULL, WRITER, &points->timeline);
	if (error < 0) {
		weston_log("gid: no timeline: GID_TIMELINE=%s: %s\n", getenv("GID_TIMELINE"),
			strerror(-error));
	}
	return points;
}

void points_destroy(struct points *points) {
	if (!points) {
		return;
	}
	struct point_surface *surface, *next_surface;
	wl_list_for_each_safe(surface, next_surface, &points->surfaces, link) {
		point_surface_destroy(surface);
	}
	struct point_output *output, *next_output;
	wl_list_for_each_safe(output, next_output, &points->outputs, link) {
		point_output_destroy(output);
	}
	wl_list_remove(&points->create_surface.link);
	gid_timeline_unref(points->timeline);
	free(points);
}
