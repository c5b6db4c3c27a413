// SPDX-License-Identifier: MIT
#include "view.h"

#include <err.h>
#include <errno.h>
#include <gid/timeline.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define STATS_INTERVAL_US 1000000

/* --- from the stream -------------------------------------------------------------------------- */

void view_drop_pending(struct view *view) {
	if (view->has_pending) {
		gid_consumer_release(view->consumer, &view->pending);
		view->has_pending = false;
		view->damage_everything = true;
	}
}

static void add_damage(struct view *view, const struct gid_frame *frame) {
	const struct gid_box *more = &frame->damage;
	struct gid_box *damage = &view->damage;
	if (frame->sequence != view->last_sequence + 1 || more->width <= 0 || more->height <= 0) {
		view->damage_everything = true;
	} else if (damage->width == 0) {
		*damage = *more;
	} else {
		int32_t right = damage->x + damage->width, bottom = damage->y + damage->height;
		int32_t more_right = more->x + more->width, more_bottom = more->y + more->height;
		damage->x = more->x < damage->x ? more->x : damage->x;
		damage->y = more->y < damage->y ? more->y : damage->y;
		damage->width = (more_right > right ? more_right : right) - damage->x;
		damage->height = (more_bottom > bottom ? more_bottom : bottom) - damage->y;
	}
	view->last_sequence = frame->sequence;
}

static void take_frame(struct view *view, const struct gid_frame *frame) {
	view->stats.received++;
	add_damage(view, frame);
	if (view->has_pending) {
		gid_consumer_release(view->consumer, &view->pending);
		view->stats.superseded++;
	}
	view->pending = *frame;
	view->has_pending = true;
}

/* Entries without a picture tell what to do about those before. */
static void obey(struct view *view, const struct gid_frame *frame) {
	if (frame->flags & GID_FRAME_FLUSH) {
		view_drop_pending(view);
	}
	if (frame->flags & GID_FRAME_HIDDEN) {
		view_drop_pending(view);
		view_hide(view);
		view->damage_everything = true;
	}
	if ((frame->flags & GID_FRAME_EOS) && view->options->once) {
		view->ended = true;
	}
	gid_consumer_release(view->consumer, frame);
}

static void handle_frame(struct view *view, const struct gid_frame *frame) {
	if (frame->gid == GID_NONE) {
		obey(view, frame);
	} else if ((frame->flags & GID_FRAME_HEARTBEAT) &&
		frame->sequence == view->last_sequence + 1) {
		view->last_sequence = frame->sequence; // what we have is still right
		gid_consumer_release(view->consumer, frame);
	} else {
		take_frame(view, frame);
	}
}

static void receive_frames(struct view *view) {
	struct gid_frame frame;
	int result;
	while ((result = gid_consumer_receive(view->consumer, &frame)) > 0) {
		handle_frame(view, &frame);
	}
	if (result == -EPROTO) {
		warnx("%s: %s", view->options->stream, gid_domain_error(view->domain));
		sd_event_exit(view->event, EXIT_FAILURE);
		return;
	}
	view_show(view);
	if (view->ended && !view->has_pending) {
		sd_event_exit(view->event, EXIT_SUCCESS);
	}
}

static void tell_state(struct view *view, enum gid_consumer_state state, int reason) {
	static const char *const words[] = {
		[GID_CONSUMER_WAITING] = "waiting for",
		[GID_CONSUMER_LIVE] = "showing",
		[GID_CONSUMER_ENDED] = "the end of",
	};
	if (state != view->told_state) {
		warnx("%s %s%s%s", words[state], view->options->stream, reason != 0 ? ": " : "",
			reason != 0 ? gid_strerror(reason) : "");
		view->told_state = state;
	}
}

/* Frames of a subscription that is over are not given back: their producer is gone. */
static void consumer_state(void *data, enum gid_consumer_state state, int reason) {
	struct view *view = data;
	tell_state(view, state, reason);
	if (state != GID_CONSUMER_LIVE) {
		view->has_pending = false;
		view->damage_everything = true;
		buffers_forget_frames(&view->buffers);
	}
	if (state == GID_CONSUMER_ENDED) {
		sd_event_exit(view->event, reason == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
}

/* --- event sources ---------------------------------------------------------------------------- */

static int handle_domain(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct view *view = data;
	int result = gid_domain_dispatch(view->domain);
	if (result < 0) {
		warnx("%s", gid_domain_error(view->domain));
		return sd_event_exit(view->event, EXIT_FAILURE);
	}
	receive_frames(view); // a stream that has just come to life has no doorbell armed yet
	return 0;
}

static int handle_consumer(sd_event_source *source, int fd, uint32_t events, void *data) {
	receive_frames(data);
	return 0;
}

static void write_stats(const struct view *view) {
	const struct options *options = view->options;
	const char *owner = options->owner != NULL ? options->owner : gid_domain_name(view->domain);
	int result = stats_write(
		&view->stats, view->consumer, owner, options->stream, options->stats_path);
	if (result < 0) {
		warnx("%s: %s", options->stats_path, strerror(-result));
	}
}

static int handle_stats_timer(sd_event_source *source, uint64_t time, void *data) {
	write_stats(data);
	sd_event_source_set_time(source, time + STATS_INTERVAL_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int add_sources(struct view *view) {
	int result = sd_event_add_io(
		view->event, NULL, gid_domain_get_fd(view->domain), EPOLLIN, handle_domain, view);
	if (result >= 0) {
		result = sd_event_add_io(view->event, NULL, gid_consumer_get_fd(view->consumer),
			EPOLLIN, handle_consumer, view);
	}
	if (result >= 0 && view->options->stats_path != NULL) {
		result = sd_event_add_time_relative(view->event, NULL, CLOCK_MONOTONIC,
			STATS_INTERVAL_US, 0, handle_stats_timer, view);
	}
	if (result < 0) {
		warnx("event loop: %s", strerror(-result));
	}
	return result < 0 ? -1 : 0;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static void window_ready(void *data) {
	view_show(data);
}

static void window_closed(void *data) {
	struct view *view = data;
	sd_event_exit(view->event, EXIT_SUCCESS);
}

static void buffers_changed(void *data) {
	view_show(data);
}

static void buffers_released(void *data, const struct gid_frame *frame) {
	struct view *view = data;
	gid_consumer_release(view->consumer, frame);
}

static void init_window(struct view *view) {
	window_init(&view->window, &view->wayland, &view->options->window);
	view->window.ready = window_ready;
	view->window.closed = window_closed;
	view->window.data = view;
}

static void init_buffers(struct view *view) {
	buffers_init(&view->buffers, &view->wayland, view->domain);
	view->buffers.changed = buffers_changed;
	view->buffers.released = buffers_released;
	view->buffers.data = view;
}

static int connect_domain(struct view *view) {
	int result = gid_domain_connect(view->options->reader, &view->domain);
	if (result < 0) {
		warnx("%s", gid_connect_error());
	}
	return result < 0 ? -1 : 0;
}

static int subscribe(struct view *view) {
	const struct options *options = view->options;
	const struct gid_consumer_options consumer = {
		.size = sizeof(consumer),
		.credit = options->credit,
		.drop_old = true,
		.reconnect = !options->once,
		.state = consumer_state,
		.data = view,
		.timeline = view->timeline,
	};
	int result = gid_consumer_create(
		view->domain, options->owner, options->stream, &consumer, &view->consumer);
	if (result < 0) {
		warnx("%s: %s", options->stream, gid_domain_error(view->domain));
		return -1;
	}
	tell_state(view, gid_consumer_get_state(view->consumer), 0);
	return 0;
}

static void open_timeline(struct view *view) {
	int result = gid_timeline_open(NULL, "gid-view", &view->timeline);
	if (result < 0) {
		warnx("no timeline: GID_TIMELINE=%s: %s", getenv("GID_TIMELINE"),
			strerror(-result));
	}
}

int view_init(struct view *view, sd_event *event, const struct options *options) {
	*view = (struct view){.event = event, .options = options, .damage_everything = true};
	wl_list_init(&view->feedbacks);
	open_timeline(view);
	if (wayland_init(&view->wayland, event) < 0 || connect_domain(view) < 0) {
		return -1;
	}
	init_window(view);
	init_buffers(view);
	if (options->role != NULL &&
		role_init(&view->role, &view->wayland, view->window.picture, options->role) < 0) {
		return -1;
	}
	return subscribe(view) < 0 || add_sources(view) < 0 ? -1 : 0;
}

void view_finish(struct view *view) {
	if (view->consumer != NULL && view->options->stats_path != NULL) {
		write_stats(view);
	}
	view_drop_feedbacks(view);
	if (view->frame_callback != NULL) {
		wl_callback_destroy(view->frame_callback);
	}
	if (view->buffers.wayland != NULL) {
		view_drop_pending(view);
		buffers_finish(&view->buffers);
	}
	gid_consumer_destroy(view->consumer);
	gid_domain_destroy(view->domain);
	role_finish(&view->role);
	gid_timeline_unref(view->timeline);
	window_finish(&view->window);
	wayland_finish(&view->wayland);
}
