// SPDX-License-Identifier: MIT
/*
 * Weston signals commits to modules, but not what becomes of them. That is in its timeline, which
 * is read here while points are wanted. A commit with damage stores the buffer's gid with its
 * surface. At the end of an output's repaint the gids of the surfaces on it are in flight. When
 * that repaint is finished, they are shown. Nothing may be written to the timeline while it is
 * read: these lines are written from an idle callback.
 */
#include "points.h"

#include <gid/timeline.h>
#include <libweston/weston-log.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timeline_tap.h"
#include "weston_buffer.h"

#define WRITER "weston"
/* Surfaces with gid buffers in one repaint; there are no points for more. */
#define IN_FLIGHT_MAX 64

struct points {
	struct weston_compositor *compositor;
	const struct gidd_connection *connection;
	bool paced;
	struct gid_timeline *timeline; /* the file of $GID_TIMELINE, or NULL */
	struct timeline_tap *tap;      /* NULL: no points are wanted */
	struct wl_listener create_surface;
	struct wl_list surfaces; /* point_surface::link */
	struct wl_list outputs;	 /* point_output::link; those that the tap has reported */
	struct wl_event_source *idle;
	struct shown {
		gid_id gid;
		int64_t time_ns;
	} shown[IN_FLIGHT_MAX]; /* not written yet */
	uint32_t shown_count;
};

struct point_surface {
	struct wl_list link;
	struct points *points;
	struct weston_surface *surface;
	struct wl_listener commit, destroy;
	gid_id committed; /* not repainted yet, or GID_NONE */
};

struct point_output {
	struct wl_list link;
	struct weston_output *output;
	struct wl_listener destroy;
	uint32_t id; /* in the timeline */
	gid_id in_flight[IN_FLIGHT_MAX];
	uint32_t in_flight_count;
};

/* --- writing ---------------------------------------------------------------------------------- */

/* Whether anyone listens to Weston's timeline except the module itself. */
static bool timeline_is_subscribed(const struct points *points) {
	int ours = (points->paced ? 1 : 0) + (points->tap != NULL ? 1 : 0);
	struct weston_log_subscription *listener = NULL;
	do {
		listener = weston_log_subscription_iterate(points->compositor->timeline, listener);
	} while (listener != NULL && ours-- > 0);
	return listener;
}

static bool points_are_wanted(const struct points *points) {
	return points->timeline != NULL || timeline_is_subscribed(points);
}

static void points_write(const struct points *points, enum gid_timeline_event event, gid_id gid,
		int64_t time_ns) {
	struct gid_domain *domain = gidd_connection_get_domain(points->connection);
	if (domain == NULL) {
		return;
	}
	struct gid_timeline_point point = {
			.event = event,
			.time = (uint64_t)time_ns,
			.gid = gid,
			.domain = gid_domain_number(domain),
	};
	if (timeline_is_subscribed(points)) {
		char line[GID_TIMELINE_LINE_MAX];
		gid_timeline_format(&point, WRITER, line);
		weston_log_scope_printf(points->compositor->timeline, "%s", line);
	} else if (points->timeline != NULL) {
		gid_timeline_write(points->timeline, &point);
	}
}

/* --- outputs ---------------------------------------------------------------------------------- */

static void point_output_destroy(struct point_output *output) {
	wl_list_remove(&output->destroy.link);
	wl_list_remove(&output->link);
	free(output);
}

static void handle_output_destroy(struct wl_listener *listener, void *data) {
	struct point_output *output = wl_container_of(listener, output, destroy);
	point_output_destroy(output);
}

static struct point_output *find_output(struct points *points, uint32_t id) {
	struct point_output *output;
	wl_list_for_each(output, &points->outputs, link) {
		if (output->id == id) {
			return output;
		}
	}
	return NULL;
}

static void declare_output(struct points *points, uint32_t id, const char *name) {
	struct weston_output *named = NULL, *candidate;
	wl_list_for_each(candidate, &points->compositor->output_list, link) {
		if (strcmp(candidate->name, name) == 0) {
			named = candidate;
		}
	}
	struct point_output *output = named != NULL ? calloc(1, sizeof(*output)) : NULL;
	if (output == NULL) {
		return;
	}
	output->id = id;
	output->output = named;
	output->destroy.notify = handle_output_destroy;
	wl_signal_add(&named->destroy_signal, &output->destroy);
	wl_list_insert(&points->outputs, &output->link);
}

/* --- repaints --------------------------------------------------------------------------------- */

static void points_listen(struct points *points);

static void handle_idle(void *data) {
	struct points *points = data;
	points->idle = NULL;
	for (uint32_t i = 0; i < points->shown_count; i++) {
		const struct shown *shown = &points->shown[i];
		points_write(points, GID_TIMELINE_SHOWN, shown->gid, shown->time_ns);
	}
	points->shown_count = 0;
	points_listen(points);
}

/* The repaint of the output ends: it has what the surfaces on it had committed. */
static void take_off(struct points *points, struct point_output *output) {
	struct point_surface *surface;
	wl_list_for_each(surface, &points->surfaces, link) {
		if (surface->committed != GID_NONE && output->in_flight_count < IN_FLIGHT_MAX &&
				(surface->surface->output_mask & 1u << output->output->id)) {
			output->in_flight[output->in_flight_count++] = surface->committed;
			surface->committed = GID_NONE;
		}
	}
}

static void land(struct points *points, struct point_output *output, int64_t time_ns) {
	for (uint32_t i = 0; i < output->in_flight_count; i++) {
		if (time_ns != TIMELINE_NONE && points->shown_count < IN_FLIGHT_MAX) {
			points->shown[points->shown_count++] =
					(struct shown){output->in_flight[i], time_ns};
		}
	}
	output->in_flight_count = 0;
	if (points->shown_count > 0 && points->idle == NULL) {
		points->idle = wl_event_loop_add_idle(
				wl_display_get_event_loop(points->compositor->wl_display),
				handle_idle, points);
	}
}

static void handle_line(void *data, const struct timeline_line *line) {
	struct points *points = data;
	struct point_output *output = find_output(points, line->output);
	if (line->kind == TIMELINE_OUTPUT && output == NULL) {
		declare_output(points, line->output, line->name);
	} else if (line->kind == TIMELINE_POSTED && output != NULL) {
		take_off(points, output);
	} else if (line->kind == TIMELINE_FINISHED && output != NULL) {
		land(points, output, line->stamp_ns);
	}
}

static void points_stop_listening(struct points *points) {
	struct point_output *output, *next;
	wl_list_for_each_safe(output, next, &points->outputs, link) {
		point_output_destroy(output);
	}
	timeline_tap_destroy(points->tap);
	points->tap = NULL;
}

/* Reads the timeline only while points are wanted: reading it has a cost. */
static void points_listen(struct points *points) {
	bool wanted = points_are_wanted(points);
	if (wanted && points->tap == NULL) {
		points->tap = timeline_tap_create(points->compositor, handle_line, points);
	} else if (!wanted && points->tap != NULL) {
		points_stop_listening(points);
	}
}

/* --- surfaces --------------------------------------------------------------------------------- */

static void handle_commit(struct wl_listener *listener, void *data) {
	struct point_surface *surface = wl_container_of(listener, surface, commit);
	struct points *points = surface->points;
	if (points->tap == NULL && !points_are_wanted(points)) {
		return;
	}
	const struct weston_buffer *buffer = surface->surface->buffer_ref.buffer;
	gid_id gid = buffer != NULL && buffer->resource != NULL ? buffer_get_gid(buffer->resource)
								: GID_NONE;
	if (gid == GID_NONE || !pixman_region32_not_empty(&surface->surface->damage)) {
		return;
	}
	points_listen(points);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	points_write(points, GID_TIMELINE_COMMIT, gid,
			(int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_nsec);
	surface->committed = points->tap != NULL ? gid : GID_NONE;
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
	if (surface == NULL) {
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

/* --- create and destroy ----------------------------------------------------------------------- */

struct points *points_create(struct weston_compositor *compositor,
		const struct gidd_connection *connection, bool paced) {
	struct points *points = calloc(1, sizeof(*points));
	if (points == NULL) {
		return NULL;
	}
	points->compositor = compositor;
	points->connection = connection;
	points->paced = paced;
	wl_list_init(&points->surfaces);
	wl_list_init(&points->outputs);
	points->create_surface.notify = handle_create_surface;
	wl_signal_add(&compositor->create_surface_signal, &points->create_surface);
	int error = gid_timeline_open(NULL, WRITER, &points->timeline);
	if (error < 0) {
		weston_log("gid: no timeline: GID_TIMELINE=%s: %s\n", getenv("GID_TIMELINE"),
				strerror(-error));
	}
	return points;
}

void points_destroy(struct points *points) {
	if (points == NULL) {
		return;
	}
	struct point_surface *surface, *next_surface;
	wl_list_for_each_safe(surface, next_surface, &points->surfaces, link) {
		point_surface_destroy(surface);
	}
	points_stop_listening(points);
	if (points->idle != NULL) {
		wl_event_source_remove(points->idle);
	}
	wl_list_remove(&points->create_surface.link);
	gid_timeline_unref(points->timeline);
	free(points);
}
