// SPDX-License-Identifier: MIT
#include "view.h"

#include <cursor_note.h>
#include <err.h>
#include <errno.h>
#include <gid/timeline.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "common/deadline.h"
#include "presentation-time-client-protocol.h"
#include "viewporter-client-protocol.h"

#define STATS_INTERVAL_US 1000000
#define RETRY_NS 2000000
#define ALARM_ACCURACY_US 1 // 0 would be a quarter of a second

/*
 * Entries taken in one call, before other event sources run: some producers send faster than this
 * takes.
 */
#define ENTRIES_MAX GID_CREDIT_MAX
#define TURN_NS 4000000

/* How long before its time a frame is committed if the compositor queues it until then. */
#define EARLY_NS 100000000

/* How long the picture stays unchanged after its producer has gone: it may come back. */
#define GONE_US 1000000

/* A later time is ignored: the frame's lease could expire before it. */
#define FAR_NS 500000000

/*
 * How long after a frame arrives the leases are first renewed: well before the shortest lease
 * expires.
 */
#define RENEWAL_US 100000
#define RENEWAL_MIN_US 10000 // for any lease

/* How long a closed window waits for the shown window to close. */
#define CLOSE_AGAIN_NS 5000000000ull

/* The name of the stream's domain. */
static const char *owner_name(const struct view *view) {
	const char *owner = view->options->owner;
	return owner != NULL ? owner : gid_domain_name(view->domain);
}

/* Releases the frame that has waited longest, without showing it. */
static void view_drop_first(struct view *view) {
	gid_consumer_release(view->consumer, waiting_get(&view->waiting, 0));
	waiting_remove(&view->waiting, false);
}

/* Releases all of them. */
static void view_drop_waiting(struct view *view) {
	while (view->waiting.count > 0) {
		view_drop_first(view);
	}
}

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

/* --- presentation feedback -------------------------------------------------------------------- */

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

static void count_latency(struct histogram *latency, uint64_t begin, uint64_t shown) {
	histogram_add(latency, shown > begin ? (shown - begin) / 1000 : 0);
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
	const struct gid_shown told = {
			.sequence = feedback->frame.sequence, .time = shown, .refresh_ns = refresh};
	if (gid_consumer_wants_shown(view->consumer)) {
		gid_consumer_tell_shown(view->consumer, &told);
	}
	count_latency(&view->stats.latency, feedback->frame.submit_time, shown);
	if (feedback->frame.capture_time != GID_TIME_NONE) {
		count_latency(&view->stats.capture_latency, feedback->frame.capture_time, shown);
	}
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

/*
 * A feedback request costs the compositor a quarter of its whole work for a frame, except drawing.
 */
static bool wants_to_know_when_shown(const struct view *view) {
	const struct options *options = view->options;
	return view->wayland.presentation != NULL &&
			(options->stats_path != NULL || options->frames > 0 ||
					view->timeline != NULL ||
					gid_consumer_wants_shown(view->consumer));
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

/* Drops feedback requests without an answer so far. */
static void view_drop_feedbacks(struct view *view) {
	struct feedback *feedback, *next;
	wl_list_for_each_safe(feedback, next, &view->feedbacks, link) {
		feedback_destroy(feedback);
	}
}

/* --- the commit ------------------------------------------------------------------------------- */

static void receive_frames(struct view *view);
static void view_show(struct view *view);

static void frame_done(void *data, struct wl_callback *callback, uint32_t time) {
	struct view *view = data;
	wl_callback_destroy(view->frame_callback);
	view->frame_callback = NULL;
	view_show(view);
}

static const struct wl_callback_listener frame_listener = {.done = frame_done};

static bool format_is_opaque(uint32_t fourcc) {
	// DRM formats with alpha have an A among their letters: AR24, RA24, AB4H, …
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

static void damage_picture(struct view *view, struct damage damage) {
	const struct gid_box *box = &damage.box;
	if (damage.everything) {
		wl_surface_damage_buffer(view->window.picture, 0, 0, INT32_MAX, INT32_MAX);
	} else {
		wl_surface_damage_buffer(
				view->window.picture, box->x, box->y, box->width, box->height);
	}
}

/*
 * Each of these requests costs the compositor as much as all others of a frame: sends only changes.
 */
static void send_metadata(struct view *view, const struct buffer *buffer, uint32_t transform,
		struct gid_box source) {
	const struct metadata new = {
			.valid = true,
			.source = source,
			.transform = transform,
			.opaque = format_is_opaque(buffer->layout.fourcc),
	};
	struct metadata *old = &view->sent;
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

/* Returns the frame's present_time if it counts and is in the future; else 0. */
static uint64_t time_to_show(const struct view *view, const struct gid_frame *frame) {
	uint64_t now = view->options->timed ? gid_clock_now() : GID_TIME_NONE;
	uint64_t time = frame->present_time;
	return time > now && time - now <= FAR_NS ? time : 0;
}

/* --- a producer that is gone ------------------------------------------------------------------ */

static int handle_gone(sd_event_source *source, uint64_t time, void *data) {
	struct view *view = data;
	window_set_veiled(&view->window, true);
	return 0;
}

/* A picture that stopped without intent must not look current. */
static void watch_gone(struct view *view) {
	if (view->gone == NULL && view->sent.valid) {
		sd_event_add_time_relative(view->event, &view->gone, CLOCK_MONOTONIC, GONE_US, 0,
				handle_gone, view);
	}
}

static void forget_gone(struct view *view) {
	if (view->gone != NULL) {
		view->gone = sd_event_source_disable_unref(view->gone);
		window_set_veiled(&view->window, false);
	}
}

/* Commits the frame, which is the first that waits. */
static void commit_picture(struct view *view, struct buffer *buffer, const struct gid_frame *frame,
		struct gid_box shown, struct wl_buffer *converted) {
	struct wl_surface *surface = view->window.picture;
	wl_surface_attach(surface, converted != NULL ? converted : buffer->wl_buffer, 0, 0);
	send_metadata(view, buffer, frame->transform, shown);
	surface_colours_set(&view->colours,
			converted != NULL ? &view->converter.layout : &buffer->layout);
	damage_picture(view, waiting_damage(&view->waiting));
	if (surface_timing_queues(&view->timing)) {
		surface_timing_set(&view->timing, time_to_show(view, frame));
	} else {
		view->frame_callback = wl_surface_frame(surface);
		wl_callback_add_listener(view->frame_callback, &frame_listener, view);
	}
	ask_when_shown(view, frame);
	wl_surface_commit(surface);
	view->window.blank = false;
	forget_gone(view);
	if (view->timeline != NULL) {
		write_point(view, GID_TIMELINE_COMMIT, frame, gid_clock_now());
	}
	if (converted != NULL) {
		gid_consumer_release(view->consumer, frame);
	} else {
		buffer_take(buffer, frame);
	}
	waiting_remove(&view->waiting, true);
}

static int handle_alarm(sd_event_source *source, uint64_t time, void *data) {
	receive_frames(data);
	return 0;
}

/* Handles waiting and received frames again at this time of CLOCK_MONOTONIC. */
static void set_alarm(struct view *view, uint64_t time) {
	if (view->alarm == NULL) {
		sd_event_add_time(view->event, &view->alarm, CLOCK_MONOTONIC, time / 1000,
				ALARM_ACCURACY_US, handle_alarm, view);
	} else {
		deadline_set(view->alarm, time);
	}
}

/*
 * Shows the picture converted to RGB. Returns false if the frame still waits: until the compositor
 * releases a buffer, or the device has drawn the picture.
 */
static bool commit_converted(struct view *view, struct buffer *buffer,
		const struct gid_frame *frame, struct gid_box shown) {
	struct wl_buffer *converted;
	int error = converter_convert(&view->converter, buffer->slab, frame->gid, &converted);
	if (error == 0) {
		commit_picture(view, buffer, frame, shown, converted);
		return true;
	}
	if (error == -EBUSY) {
		set_alarm(view, gid_clock_now() + RETRY_NS);
		return false;
	}
	if (error == -EAGAIN) {
		return false;
	}
	warnx("a picture cannot be converted: %s", gid_strerror(error));
	view->stats.failed++;
	view_drop_first(view);
	return true;
}

/* Drops frames that are late because earlier ones were not shown in time. */
static void view_supersede(struct view *view) {
	const struct gid_frame *next;
	while (!view->options->fifo && (next = waiting_get(&view->waiting, 1)) != NULL &&
			time_to_show(view, next) == 0) {
		view_drop_first(view);
		view->stats.superseded++;
	}
}

/* Whether it is too early to commit the frame; then sets the alarm. */
static bool waits_for_time(struct view *view, const struct gid_frame *frame) {
	uint64_t time = time_to_show(view, frame);
	uint64_t early = view->timing.timer != NULL ? EARLY_NS : 0;
	if (time <= gid_clock_now() + early) {
		return false;
	}
	set_alarm(view, time - early);
	return true;
}

/* Commits or drops the first waiting frame. Returns whether there may be more to do. */
static bool view_show_first(struct view *view) {
	if (waiting_get(&view->waiting, 0) == NULL) {
		return false;
	}
	struct gid_frame frame = *waiting_get(&view->waiting, 0);
	struct buffer *buffer = buffers_get(&view->buffers, frame.gid);
	if (buffer == NULL || buffer->state == BUFFER_FAILED) {
		view->stats.failed++;
		view_drop_first(view);
		return true;
	}
	if (buffer->state == BUFFER_UNFIT) {
		sd_event_exit(view->event, EXIT_FAILURE);
		return false;
	}
	if (buffer->slab == NULL || (view->options->timed && waits_for_time(view, &frame))) {
		return false;
	}
	/* A source outside the buffer is a protocol error. */
	const struct gid_layout *layout = &buffer->layout;
	struct gid_box seen;
	if (!gid_box_get_seen(frame.crop, layout->width, layout->height, &seen)) {
		view->stats.failed++;
		view_drop_first(view);
		return true;
	}
	struct gid_box shown = gid_box_turn(seen, layout->width, layout->height, frame.transform);
	int32_t width = shown.width, height = shown.height;
	shape_apply(buffer->shape, frame.transform & 1, &width, &height);
	window_set_picture_size(&view->window, width, height);
	if (view->window.mapped && buffer->state == BUFFER_FOREIGN) {
		return commit_converted(view, buffer, &frame, shown);
	}
	if (view->window.mapped && buffer->state == BUFFER_READY) {
		commit_picture(view, buffer, &frame, shown, NULL);
		return true;
	}
	return false;
}

/* Shows the frames that are due, if the compositor is ready for one. */
static void view_show(struct view *view) {
	view_supersede(view);
	while (view->frame_callback == NULL && view_show_first(view)) {
		view_supersede(view);
	}
	if (view->ended && view->waiting.count == 0) {
		sd_event_exit(view->event, EXIT_SUCCESS);
	}
}

static void take_off(struct view *view) {
	wl_surface_attach(view->window.picture, NULL, 0, 0);
	wp_viewport_set_source(view->window.picture_viewport, wl_fixed_from_int(-1),
			wl_fixed_from_int(-1), wl_fixed_from_int(-1), wl_fixed_from_int(-1));
	view->sent.valid = false;
	view->window.blank = true;
	wl_surface_commit(view->window.picture);
}

/* Unmaps the picture. A producer may hide it again and again: the compositor gets one commit. */
static void view_hide(struct view *view) {
	if (view->sent.valid) {
		take_off(view);
	}
	forget_gone(view);
	if (view->frame_callback != NULL) {
		wl_callback_destroy(view->frame_callback);
		view->frame_callback = NULL;
	}
}

/* --- the stream ------------------------------------------------------------------------------- */

static void take_frame(struct view *view, const struct gid_frame *frame) {
	view->stats.received++;
	view->window.without_cursor = frame->note_size > 0 &&
			without_cursor_note_read(frame->note, frame->note_size);
	if (view->waiting.count == GID_CREDIT_MAX) {
		view_drop_first(view); // the producer exceeded its credit
		view->stats.superseded++;
	}
	waiting_add(&view->waiting, frame);
	view_supersede(view);
}

/*
 * The shown window was closed, so ours closes, too: for good if the user asked for it, else until
 * there is a window of that name again.
 */
static void program_closed(struct view *view) {
	bool was_shown = view->window.of_program && view->window.mapped;
	view->window.of_program = false;
	if (view->close_time != 0 || (was_shown && view->options->once)) {
		sd_event_exit(view->event, EXIT_SUCCESS);
	} else if (was_shown) {
		warnx("%s: the window was closed; waiting for the next", view->options->stream);
		window_withdraw(&view->window);
	}
}

/* Handles an entry without a picture, which concerns the frames before it. */
static void obey(struct view *view, const struct gid_frame *frame) {
	if (frame->flags & GID_FRAME_FLUSH) {
		view_drop_waiting(view);
	}
	if (frame->flags & GID_FRAME_HIDDEN) {
		view_drop_waiting(view);
		view_hide(view);
		waiting_damage_everything(&view->waiting);
		if (frame->flags >> GID_FRAME_HIDDEN_SHIFT == GID_HIDDEN_EMPTY) {
			program_closed(view);
		}
	}
	if ((frame->flags & GID_FRAME_EOS) && view->options->once) {
		view->ended = true;
	}
	gid_consumer_release(view->consumer, frame);
}

static void handle_frame(struct view *view, const struct gid_frame *frame) {
	naming_take(&view->naming, frame);
	if (frame->gid == GID_NONE) {
		obey(view, frame);
	} else if (waiting_repeats(&view->waiting, frame)) {
		gid_consumer_release(view->consumer, frame);
	} else {
		take_frame(view, frame);
	}
}

/* Runs three times in each lease, while more than the shown picture is held. */
static int handle_renewal(sd_event_source *source, uint64_t time, void *data) {
	struct view *view = data;
	struct gid_consumer_stats stats;
	gid_consumer_get_stats(view->consumer, &stats);
	if (stats.held < 2 || stats.lease_ns == 0 || gid_consumer_renew(view->consumer) < 0) {
		view->renews = false;
		return 0;
	}
	uint64_t third_us = stats.lease_ns / 3000;
	sd_event_source_set_time(
			source, time + (third_us > RENEWAL_MIN_US ? third_us : RENEWAL_MIN_US));
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* The compositor may hold frames for as long as it does not repaint: their leases are renewed. */
static void view_begin_renewal(struct view *view) {
	uint64_t now;
	if (!view->renews && view->renewal != NULL &&
			sd_event_now(view->event, CLOCK_MONOTONIC, &now) >= 0 &&
			sd_event_source_set_time(view->renewal, now + RENEWAL_US) >= 0) {
		sd_event_source_set_enabled(view->renewal, SD_EVENT_ONESHOT);
		view->renews = true;
	}
}

static void receive_frames(struct view *view) {
	struct gid_frame frame;
	int result = 1;
	for (uint32_t i = 0; i < ENTRIES_MAX && result > 0; i++) {
		result = gid_consumer_receive(view->consumer, &frame);
		if (result > 0) {
			handle_frame(view, &frame);
			view_begin_renewal(view);
		}
	}
	if (result == -EPROTO) {
		warnx("%s: %s", view->options->stream, gid_domain_error(view->domain));
		sd_event_exit(view->event, EXIT_FAILURE);
		return;
	}
	view_show(view);
	if (result > 0) { // the descriptor is only readable after the ring was empty
		set_alarm(view, gid_clock_now() + TURN_NS);
	}
}

static void report_state(struct view *view, enum gid_consumer_state state, int reason) {
	static const char *const words[] = {
			[GID_CONSUMER_WAITING] = "waiting for",
			[GID_CONSUMER_LIVE] = "showing",
			[GID_CONSUMER_ENDED] = "the end of",
	};
	if (state != view->reported_state) {
		warnx("%s %s%s%s", words[state], view->options->stream, reason != 0 ? ": " : "",
				reason != 0 ? gid_strerror(reason) : "");
		view->reported_state = state;
	}
}

/* The producer chooses one of them. */
static void send_formats(struct view *view) {
	struct gid_showable showable[GID_SHOWABLE_MAX];
	const struct formats *formats = &view->buffers.formats;
	if (formats->known && view->consumer != NULL) {
		gid_consumer_tell_showable(
				view->consumer, showable, formats_showable(formats, showable));
	}
}

/* After a subscription has ended its frames are not released: their producer is gone. */
static void consumer_state(void *data, enum gid_consumer_state state, int reason) {
	struct view *view = data;
	report_state(view, state, reason);
	if (state == GID_CONSUMER_LIVE) {
		send_formats(view);
	} else {
		waiting_forget(&view->waiting);
		buffers_forget_frames(&view->buffers);
		watch_gone(view);
	}
	if (state == GID_CONSUMER_ENDED) {
		sd_event_exit(view->event, reason == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
}

/* gidd has answered a subscription, the first one or a later one. */
static void consumer_answered(void *data, int error) {
	struct view *view = data;
	bool may_pass = error == -ENOTCONN || error == -ETIMEDOUT || error == -EAGAIN;
	if (error == 0) {
		view->subscribed = true;
		report_state(view, gid_consumer_get_state(view->consumer), 0);
	} else if (!view->subscribed && (view->options->once || !may_pass)) {
		warnx("%s: %s", view->options->stream, gid_domain_error(view->domain));
		view->reported_state =
				GID_CONSUMER_ENDED; // that state follows, and is reported with this
		sd_event_exit(view->event, EXIT_FAILURE);
	} else if (!view->subscribed) {
		report_state(view, GID_CONSUMER_WAITING, error);
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
	receive_frames(view); // the doorbell of a stream that became live is not armed yet
	view_input_dispatch(&view->input);
	return 0;
}

static int handle_consumer(sd_event_source *source, int fd, uint32_t events, void *data) {
	receive_frames(data);
	return 0;
}

static void write_stats(const struct view *view) {
	const struct options *options = view->options;
	int result = stats_write(&view->stats, view->consumer, &view->converter, owner_name(view),
			options->stream, options->stats_path);
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
	int result = sd_event_add_io(view->event, NULL, gid_domain_get_fd(view->domain), EPOLLIN,
			handle_domain, view);
	if (result >= 0) {
		result = sd_event_add_io(view->event, NULL, gid_consumer_get_fd(view->consumer),
				EPOLLIN, handle_consumer, view);
	}
	if (result >= 0) {
		result = sd_event_add_time_relative(view->event, &view->renewal, CLOCK_MONOTONIC,
				RENEWAL_US, 0, handle_renewal, view);
		view->renews = result >= 0;
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

/* --- create and destroy ----------------------------------------------------------------------- */

static void window_ready(void *data) {
	view_show(data);
}

static void window_resized(void *data) {
	struct view *view = data;
	bool of_program = view->options->input && view->window.of_program;
	if (view->options->desktop != NULL || (of_program && window_has_own_size(&view->window))) {
		int32_t width, height;
		window_get_pixels(&view->window, &width, &height);
		view_input_set_size(&view->input, width, height,
				of_program ? 0 : view->window.scale.value);
	}
}

/*
 * The client of the shown window may ask its user first, or not answer: a second close request
 * exits.
 */
static void window_closed(void *data) {
	struct view *view = data;
	uint64_t now = gid_clock_now();
	bool again = view->close_time != 0 && now - view->close_time < CLOSE_AGAIN_NS;
	if (again || !view->window.of_program || !view_input_close(&view->input)) {
		sd_event_exit(view->event, EXIT_SUCCESS);
	}
	view->close_time = now;
}

static void formats_changed(void *data) {
	struct view *view = data;
	send_formats(view);
	buffers_decide(&view->buffers);
	view_show(view);
}

static void buffers_changed(void *data) {
	view_show(data);
}

static void buffers_released(void *data, const struct gid_frame *frame) {
	struct view *view = data;
	gid_consumer_release(view->consumer, frame);
}

static int init_window(struct view *view) {
	if (window_init(&view->window, &view->wayland, &view->options->window) < 0) {
		return -1;
	}
	view->window.ready = window_ready;
	view->window.resized = window_resized;
	view->window.closed = window_closed;
	view->window.data = view;
	naming_init(&view->naming, &view->window, owner_name(view), view->options->title_follows,
			view->options->app_id_follows);
	return 0;
}

static void init_buffers(struct view *view) {
	buffers_init(&view->buffers, &view->wayland, view->domain);
	view->buffers.changed = buffers_changed;
	view->buffers.released = buffers_released;
	view->buffers.data = view;
	view->buffers.convert = view->options->convert;
	view->buffers.formats.changed = formats_changed;
	view->buffers.formats.data = view;
	converter_init(&view->converter, &view->wayland, view->domain);
	view->converter.freed = buffers_changed;
	view->converter.data = view;
	surface_colours_init(&view->colours, &view->wayland, view->window.picture);
	surface_timing_init(&view->timing, &view->wayland, view->window.picture,
			view->options->fifo, view->options->timed);
}

static int connect_domain(struct view *view) {
	int result = gid_domain_connect(view->options->reader, &view->domain);
	if (result < 0) {
		warnx("%s", gid_domain_connect_error());
	}
	return result < 0 ? -1 : 0;
}

static int subscribe(struct view *view) {
	const struct options *options = view->options;
	const struct gid_consumer_options consumer = {
			.size = sizeof(consumer),
			.credit = options->credit,
			.drop_old = !options->fifo,
			.reconnect = !options->once,
			.state = consumer_state,
			.data = view,
			.timeline = view->timeline,
			.answered = consumer_answered,
	};
	int result = gid_consumer_create(
			view->domain, options->owner, options->stream, &consumer, &view->consumer);
	if (result < 0) {
		warnx("%s: %s", options->stream, gid_domain_error(view->domain));
		return -1;
	}
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
	*view = (struct view){.event = event, .options = options};
	waiting_init(&view->waiting);
	wl_list_init(&view->feedbacks);
	open_timeline(view);
	if (wayland_init(&view->wayland, event) < 0 || connect_domain(view) < 0) {
		return -1;
	}
	if (init_window(view) < 0) {
		return -1;
	}
	init_buffers(view);
	if (options->role != NULL &&
			client_role_init(&view->role, &view->wayland, view->window.picture,
					options->role) < 0) {
		return -1;
	}
	if (options->input &&
			view_input_init(&view->input, event, &view->wayland, &view->window,
					view->domain, owner_name(view), options) < 0) {
		return -1;
	}
	return subscribe(view) < 0 || add_sources(view) < 0 ? -1 : 0;
}

void view_finish(struct view *view) {
	if (view->consumer != NULL && view->options->stats_path != NULL) {
		write_stats(view);
	}
	view_drop_feedbacks(view);
	view_input_finish(&view->input);
	sd_event_source_unref(view->alarm);
	sd_event_source_disable_unref(view->gone);
	sd_event_source_unref(view->renewal);
	if (view->frame_callback != NULL) {
		wl_callback_destroy(view->frame_callback);
	}
	if (view->buffers.wayland != NULL) {
		view_drop_waiting(view);
		buffers_finish(&view->buffers);
		converter_finish(&view->converter);
		surface_colours_finish(&view->colours);
		surface_timing_finish(&view->timing);
	}
	gid_consumer_destroy(view->consumer);
	gid_domain_destroy(view->domain);
	client_role_finish(&view->role);
	gid_timeline_unref(view->timeline);
	window_finish(&view->window);
	wayland_finish(&view->wayland);
}
