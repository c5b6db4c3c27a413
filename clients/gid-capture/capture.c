// SPDX-License-Identifier: MIT
#include "capture.h"

#include <cursor_note.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <window_note.h>

#include "box_join.h"
#include "common/display_connection.h"

/* As many as readers hold by default, the stream's picture, and the one that is being written. */
#define BUFFERS 6
/* Slots of the slab for readers on other machines. */
#define WINDOW_SLOTS 6
/*
 * The shortest and the longest pause between pictures, where nothing tells that something is new.
 */
#define PAUSE_FIRST_US 16000
#define PAUSE_MOST_US 100000
#define TIMER_ACCURACY_US 1000
#define SECOND_US 1000000

static void capture_next(struct capture *capture);

static void capture_end(struct capture *capture, const char *what, const char *why) {
	warnx("%s: %s", what, why);
	sd_event_exit(capture->event, EXIT_FAILURE);
}

/* libgid's sentence if it has one, else the meaning of the number. */
static const char *explain(const struct capture *capture, int error) {
	const char *sentence = gid_domain_error(capture->domain);
	return sentence[0] != '\0' ? sentence : gid_strerror(error);
}

/* --- buffers ---------------------------------------------------------------------------------- */

/*
 * The slab was revoked: a reader kept a picture for too long, or lost its right to read. Others get
 * other memory.
 */
static bool buffer_is_revoked(const struct screen_buffer *buffer) {
	struct gid_slab_info info;
	if (buffer->slab == NULL) {
		return false;
	}
	gid_slab_get_info(buffer->slab, &info);
	return info.revoked;
}

static bool buffer_is_free(const struct capture *capture, const struct screen_buffer *buffer) {
	return buffer != capture->current && buffer != capture->asked &&
			(buffer->slab == NULL || gid_slab_holders(buffer->slab, 0) == 0);
}

static struct screen_buffer *find_free(const struct capture *capture) {
	struct screen_buffer *buffer;
	wl_list_for_each(buffer, &capture->buffers, link) {
		if (!buffer->retired && buffer->slab != NULL && buffer_is_free(capture, buffer)) {
			return buffer;
		}
	}
	return NULL;
}

static void handle_sync(void *data, struct wl_callback *callback, uint32_t serial) {
	struct capture *capture = data;
	struct screen_buffer *buffer;
	wl_callback_destroy(callback);
	capture->sync = NULL;
	wl_list_for_each(buffer, &capture->buffers, link) {
		int error = buffer->slab == NULL && !buffer->retired
				? screen_buffer_export(buffer, capture->domain)
				: 0;
		if (error < 0) {
			capture_end(capture, "memory for pictures", explain(capture, error));
			return;
		}
	}
	capture_next(capture);
}

static const struct wl_callback_listener sync_listener = {.done = handle_sync};

/* Makes missing buffers. They can be exported once the compositor has mapped them. */
static void capture_fill(struct capture *capture, int missing) {
	for (; missing > 0; missing--) {
		struct screen_buffer *buffer =
				screen_buffer_create(capture->screens.shm, &capture->form);
		if (buffer == NULL) {
			sd_event_exit(capture->event, EXIT_FAILURE);
			return;
		}
		capture->layout = buffer->layout;
		wl_list_insert(&capture->buffers, &buffer->link);
	}
	if (capture->sync != NULL) {
		wl_callback_destroy(capture->sync);
	}
	capture->sync = wl_display_sync(capture->screens.display);
	wl_callback_add_listener(capture->sync, &sync_listener, capture);
}

/* Destroys buffers that cannot be used any more, and makes others in their place. */
static void capture_sweep(struct capture *capture) {
	struct screen_buffer *buffer, *next;
	int missing = BUFFERS;
	wl_list_for_each_safe(buffer, next, &capture->buffers, link) {
		buffer->retired = buffer->retired || buffer_is_revoked(buffer);
		if (!buffer->retired) {
			missing--;
		} else if (buffer_is_free(capture, buffer)) {
			screen_buffer_destroy(buffer);
		}
	}
	if (missing > 0) {
		capture_fill(capture, missing);
	}
}

/* --- readers on other machines ---------------------------------------------------------------- */

/* Makes sure that there is a slab of the present form that they can see. Returns 0 or -errno. */
static int window_prepare(struct capture *capture) {
	struct gid_slab_info info;
	if (capture->window != NULL) {
		gid_slab_get_info(capture->window, &info);
		if (memcmp(&info.layout, &capture->layout, sizeof(info.layout)) == 0) {
			return gid_slab_renew(capture->window);
		}
		gid_slab_destroy(capture->window, false);
		capture->window = NULL;
	}
	return gid_slab_create_for_stream(capture->domain, capture->options->stream,
			&capture->layout, 0, WINDOW_SLOTS, NULL, &capture->window);
}

/*
 * Copies the picture into that slab. The slot is taken until the picture was sent, and is then held
 * by its readers. Returns 0 or -errno; -EAGAIN: readers hold all slots.
 */
static int window_copy(struct capture *capture, const struct screen_buffer *buffer, gid_id *gid) {
	int ret = window_prepare(capture);
	if (ret < 0) {
		return ret;
	}
	int slot = gid_slab_take(capture->window);
	if (slot < 0) {
		return slot;
	}
	memcpy(gid_slab_data(capture->window, (uint32_t)slot), buffer->data, buffer->size);
	gid_producer_count_copy_for(capture->producer, GID_COPY_UPSTREAM_MEMORY, buffer->size);
	*gid = gid_slab_gid(capture->window, (uint32_t)slot);
	return 0;
}

/* --- pictures --------------------------------------------------------------------------------- */

/* The rows that differ from the last picture. Empty: none. */
static struct gid_box find_changed(
		const struct capture *capture, const struct screen_buffer *buffer) {
	const struct gid_layout *layout = &buffer->layout;
	const struct screen_buffer *last = capture->current;
	struct gid_box all = {0, 0, (int32_t)layout->width, (int32_t)layout->height};
	if (last == NULL || memcmp(&last->layout, layout, sizeof(*layout)) != 0) {
		return all;
	}
	size_t stride = layout->planes[0].stride;
	size_t row = gid_format_row_bytes(layout->fourcc, 0, layout->width);
	uint32_t first = 0, end = layout->height;
	while (first < end &&
			memcmp(buffer->data + first * stride, last->data + first * stride, row) ==
					0) {
		first++;
	}
	while (end > first &&
			memcmp(buffer->data + (end - 1) * stride, last->data + (end - 1) * stride,
					row) == 0) {
		end--;
	}
	all.y = (int32_t)first;
	all.height = (int32_t)(end - first);
	return all;
}

/*
 * Sets the frame's gid: of the buffer itself, or of a copy that all readers can see. Returns 0 or
 * -errno.
 */
static int capture_place(struct capture *capture, const struct screen_buffer *buffer,
		struct gid_frame *frame) {
	if (!gid_producer_needs_window(capture->producer)) {
		frame->gid = gid_slab_gid(buffer->slab, 0);
		return 0;
	}
	frame->flags |= GID_FRAME_COPIED;
	return window_copy(capture, buffer, &frame->gid);
}

/* The statistics of this producer and of those before it, which may be replaced by them. */
static void capture_get_stats(const struct capture *capture, struct gid_producer_stats *stats) {
	const struct gid_producer_stats past = capture->past;
	*stats = (struct gid_producer_stats){0};
	if (capture->producer != NULL) {
		gid_producer_get_stats(capture->producer, stats);
	}
	stats->frames += past.frames;
	stats->delivered += past.delivered;
	stats->dropped += past.dropped;
	stats->leases_expired += past.leases_expired;
	stats->copied_frames += past.copied_frames;
	stats->copied_bytes += past.copied_bytes;
}

/* There is nothing new, or no memory for it: the longer that lasts, the longer is the pause. */
static void capture_slow_down(struct capture *capture) {
	capture->pause_us *= 2;
	if (capture->pause_us < PAUSE_FIRST_US) {
		capture->pause_us = PAUSE_FIRST_US;
	} else if (capture->pause_us > PAUSE_MOST_US) {
		capture->pause_us = PAUSE_MOST_US;
	}
}

/* What readers are told of the next picture: whose window it is, or that it lacks the cursor. */
static uint32_t capture_write_note(struct capture *capture) {
	if (capture->shown != NULL) {
		struct window_note note;
		window_note_set(&note, capture->shown->app_id, capture->shown->title);
		return window_note_write(&note, capture->note);
	}
	return capture->source->without_cursor ? without_cursor_note_write(capture->note) : 0;
}

/* Sends it as the stream's picture. */
static void capture_send(struct capture *capture, struct screen_buffer *buffer,
		const struct source_picture *picture) {
	struct gid_frame frame = GID_FRAME_INIT;
	uint64_t now = gid_clock_now();
	frame.capture_time = picture->time < now ? picture->time : now;
	frame.damage = picture->damage;
	frame.transform = picture->transform;
	frame.note = capture->note;
	frame.note_size = capture_write_note(capture);
	int ret = capture_place(capture, buffer, &frame);
	if (ret == 0) {
		ret = gid_producer_send(capture->producer, &frame);
		if ((frame.flags & GID_FRAME_COPIED) != 0) {
			gid_slab_give(capture->window, gid_slot_of(frame.gid));
		}
	}
	if (ret == -EAGAIN) {
		/* Readers on other machines hold all slots. A lease later they lose them. */
		gid_producer_lacks_memory(capture->producer);
		capture_slow_down(capture);
	}
	if (ret == -EAGAIN || (ret == -EINVAL && buffer_is_revoked(buffer))) {
		capture->source->interface->refresh(capture->source);
		return;
	}
	if (ret < 0) {
		capture_end(capture, capture->options->stream, explain(capture, ret));
		return;
	}
	capture->frame = frame;
	capture->current = buffer;
	capture->renamed = false;
	struct gid_producer_stats stats;
	capture_get_stats(capture, &stats);
	if (capture->options->frames > 0 && stats.frames >= capture->options->frames) {
		sd_event_exit(capture->event, EXIT_SUCCESS);
	}
}

/* The newest picture's damage is out of date in all other buffers. */
static void mark_stale(
		struct capture *capture, struct screen_buffer *newest, struct gid_box damage) {
	struct screen_buffer *buffer;
	if (damage.width <= 0 || damage.height <= 0) {
		damage = (struct gid_box){0, 0, (int32_t)newest->layout.width,
				(int32_t)newest->layout.height};
	}
	wl_list_for_each(buffer, &capture->buffers, link) {
		if (buffer != newest) {
			buffer->stale = box_join(buffer->stale, damage);
		}
	}
	newest->stale = (struct gid_box){0};
	newest->filled = true;
}

static void capture_rest(struct capture *capture, bool changed) {
	if (changed) {
		capture->pause_us = 0;
	} else {
		capture->counts.unchanged++;
		capture_slow_down(capture);
	}
}

static void handle_captured(void *data, const struct source_picture *picture) {
	struct capture *capture = data;
	struct screen_buffer *buffer = capture->asked;
	struct source_picture known = *picture;
	bool changed = true;
	capture->refused = false;
	capture->counts.captured++;
	if (!capture->source->knows_damage) {
		known.damage = find_changed(capture, buffer);
		changed = known.damage.height > 0;
	}
	/*
	 * Rows that are upside down come from old compositors, which turn the picture themselves.
	 */
	if (!capture->source->knows_transform && capture->output != NULL &&
			known.transform == WL_OUTPUT_TRANSFORM_NORMAL) {
		known.transform = capture->output->transform;
	}
	mark_stale(capture, buffer, known.damage);
	capture_rest(capture, changed);
	if (changed && buffer->retired) {
		capture->source->interface->refresh(capture->source); // what changed is not lost
	} else if (changed) {
		capture_send(capture, buffer, &known);
	}
	/* Only now: sending collects releases, and what they ask for must not be drawn into it. */
	capture->asked = NULL;
	capture_sweep(capture);
	capture_next(capture);
}

/* Once is nothing: the form may have changed. Refused again, the next one waits. */
static void handle_retry(void *data) {
	struct capture *capture = data;
	capture->asked = NULL;
	capture->counts.refused++;
	if (capture->refused) {
		capture_slow_down(capture);
	}
	capture->refused = true;
	capture_sweep(capture);
	capture_next(capture);
}

/* The output sleeps. While somebody reads the stream we ask again from time to time. */
static void handle_asleep(void *data) {
	struct capture *capture = data;
	capture->asked = NULL;
	capture->asleep = true;
	capture->asked_time = gid_clock_now();
	capture->pause_us = PAUSE_MOST_US;
	capture_next(capture);
}

static void handle_settled(void *data, struct wl_callback *callback, uint32_t serial) {
	struct capture *capture = data;
	wl_callback_destroy(callback);
	capture->ending = NULL;
	capture_end(capture, capture->options->stream, capture->why);
}

static const struct wl_callback_listener settled_listener = {.done = handle_settled};

/*
 * The event that the output is gone may come after the end of its pictures: one round trip shows
 * which of both it is.
 */
static void handle_ended(void *data, const char *why) {
	struct capture *capture = data;
	capture->asked = NULL;
	if (capture->output == NULL) {
		capture_end(capture, capture->options->stream, why);
	} else if (capture->ending == NULL) {
		snprintf(capture->why, sizeof(capture->why), "%s", why);
		capture->ending = wl_display_sync(capture->screens.display);
		wl_callback_add_listener(capture->ending, &settled_listener, capture);
	}
}

/* A stream has no larger picture: nobody waits in vain for one. */
static bool form_fits(const struct source_form *form) {
	return form->width - 1 < GID_SIZE_MAX && form->height - 1 < GID_SIZE_MAX;
}

static void handle_form(void *data, const struct source_form *form) {
	struct capture *capture = data;
	struct screen_buffer *buffer;
	char why[128];
	if (memcmp(form, &capture->form, sizeof(*form)) == 0) {
		return;
	}
	if (!form_fits(form)) {
		snprintf(why, sizeof(why),
				"its pictures have %ux%u pixels, and those of a stream at most "
				"%ux%u",
				form->width, form->height, GID_SIZE_MAX, GID_SIZE_MAX);
		handle_ended(capture, why);
		return;
	}
	capture->form = *form;
	capture->refused = false;
	wl_list_for_each(buffer, &capture->buffers, link) {
		buffer->retired = true;
	}
	capture_sweep(capture);
}

static const struct source_events source_events = {
		.form = handle_form,
		.captured = handle_captured,
		.retry = handle_retry,
		.asleep = handle_asleep,
		.ended = handle_ended,
};

/* --- when ------------------------------------------------------------------------------------- */

/* How long to wait before the next picture may be asked for, in us. */
static uint64_t capture_wait(const struct capture *capture) {
	uint64_t interval = capture->pause_us, passed;
	if (capture->options->rate > 0 && interval < SECOND_US / capture->options->rate) {
		interval = SECOND_US / capture->options->rate;
	}
	passed = (gid_clock_now() - capture->asked_time) / 1000;
	return passed < interval ? interval - passed : 0;
}

/* Asks for the next picture, if one is wanted and there is memory for it. */
static void capture_next(struct capture *capture) {
	if (capture->asked != NULL || capture->source == NULL || capture->ending != NULL ||
			gid_producer_consumers(capture->producer) == 0) {
		return;
	}
	uint64_t wait = capture_wait(capture);
	if (wait > 0) {
		sd_event_source_set_time_relative(capture->pause, wait);
		sd_event_source_set_enabled(capture->pause, SD_EVENT_ONESHOT);
		return;
	}
	if (capture->asleep) {
		capture->asleep = false;
		capture->source->interface->refresh(capture->source);
	}
	capture->asked = find_free(capture);
	if (capture->asked == NULL) {
		gid_producer_want_release(capture->producer);
		capture->asked = find_free(capture);
	}
	if (capture->asked == NULL) {
		gid_producer_lacks_memory(capture->producer);
	} else {
		capture->asked_time = gid_clock_now();
		capture->source->interface->capture(capture->source, capture->asked->buffer,
				capture->asked->filled ? capture->asked->stale
						       : (struct gid_box){0});
	}
}

static int handle_pause(sd_event_source *source, uint64_t usec, void *data) {
	capture_next(data);
	return 0;
}

static void handle_released(void *data, gid_id gid) {
	struct capture *capture = data;
	capture_sweep(capture);
	capture_next(capture);
}

/* Whether the copy for other machines still exists. */
static bool capture_has_copy(const struct capture *capture) {
	struct gid_slab_info info = {.revoked = true};
	if (capture->window != NULL) {
		gid_slab_get_info(capture->window, &info);
	}
	return !info.revoked;
}

/* Whether a new reader can read the picture that the stream shows. */
static bool capture_can_be_shown(const struct capture *capture) {
	bool here = !gid_producer_needs_window(capture->producer);
	bool copied = (capture->frame.flags & GID_FRAME_COPIED) != 0;
	return !buffer_is_revoked(capture->current) && (copied ? capture_has_copy(capture) : here);
}

/*
 * libgid gives a new reader the picture that the stream shows. If it cannot read that, a new
 * picture is captured, even if nothing has changed.
 */
static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	struct capture *capture = data;
	if (joined && capture->current != NULL && !capture_can_be_shown(capture)) {
		capture->current = NULL;
		capture->source->interface->refresh(capture->source);
	}
	capture_next(capture);
}

/* --- what there is of an output --------------------------------------------------------------- */

static int handle_domain(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct capture *capture = data;
	int ret = gid_domain_dispatch(capture->domain);
	if (ret < 0) {
		capture_end(capture, "gidd", explain(capture, ret));
	}
	return 0;
}

static int handle_producer(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct capture *capture = data;
	gid_producer_dispatch(capture->producer);
	return 0;
}

static int create_source(struct capture *capture, const struct source_subject *subject) {
	struct source *(*const creators[])(const struct screens *, const struct source_subject *,
			const struct source_events *, void *) = {
			image_copy_source_create,
			screencopy_source_create,
			weston_source_create,
	};
	for (size_t i = 0; i < sizeof(creators) / sizeof(creators[0]); i++) {
		capture->source = creators[i](&capture->screens, subject, &source_events, capture);
		if (capture->source != NULL) {
			return 0;
		}
	}
	warnx("the compositor has none of the protocols that give pictures of %s: "
	      "ext-image-copy-capture-v1%s",
			subject->window != NULL ? "a window" : "an output",
			subject->window != NULL ? ""
						: ", wlr-screencopy-unstable-v1 version 3, "
						  "weston-output-capture");
	return -1;
}

static int create_first_source(struct capture *capture) {
	const struct capture_options *options = capture->options;
	struct source_subject subject = {.cursor = !options->no_cursor};
	if (options->window != NULL) {
		subject.window = capture->shown =
				screens_find_window(&capture->screens, options->window);
	} else {
		subject.output = capture->output =
				screens_find_output(&capture->screens, options->output);
	}
	if (subject.window == NULL && subject.output == NULL) {
		return -1;
	}
	if (subject.output != NULL && subject.output->name != NULL) {
		capture->output_name = strdup(subject.output->name);
	}
	return create_source(capture, &subject);
}

static int add_producer(struct capture *capture) {
	int ret = sd_event_add_io(capture->event, &capture->producer_source,
			gid_producer_get_fd(capture->producer), EPOLLIN, handle_producer, capture);
	if (ret < 0) {
		warnx("event loop: %s", strerror(-ret));
	}
	return ret < 0 ? -1 : 0;
}

static int create_producer(struct capture *capture) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.released = handle_released,
			.subscriber = handle_subscriber,
			.data = capture,
			.keeps_shown = true,
	};
	int error = gid_producer_create(
			capture->domain, capture->options->stream, &options, &capture->producer);
	if (error < 0) {
		warnx("%s: %s", capture->options->stream, explain(capture, error));
		return error;
	}
	return add_producer(capture);
}

/* Destroys what the pictures of one output need. */
static void destroy_pictures(struct capture *capture) {
	struct screen_buffer *buffer, *next;
	capture->producer_source = sd_event_source_disable_unref(capture->producer_source);
	gid_producer_destroy(capture->producer);
	capture->producer = NULL;
	if (capture->source != NULL) {
		capture->source->interface->destroy(capture->source);
		capture->source = NULL;
	}
	struct wl_callback **callbacks[] = {&capture->sync, &capture->ending};
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++) {
		if (*callbacks[i] != NULL) {
			wl_callback_destroy(*callbacks[i]);
			*callbacks[i] = NULL;
		}
	}
	capture->asked = capture->current = NULL;
	wl_list_for_each_safe(buffer, next, &capture->buffers, link) {
		screen_buffer_destroy(buffer);
	}
	gid_slab_destroy(capture->window, false);
	capture->window = NULL;
}

/* --- an output that goes ---------------------------------------------------------------------- */

/* Ends the stream: readers must not take the last picture for a present one. */
static void handle_output_gone(void *data, const struct screens_output *output) {
	struct capture *capture = data;
	if (output != capture->output) {
		return;
	}
	capture->output = NULL;
	if (capture->output_name == NULL) {
		capture_end(capture, capture->options->stream, "the output is gone");
		return;
	}
	warnx("%s: the output is gone; waiting for it to come back", capture->options->stream);
	capture_get_stats(capture, &capture->past);
	destroy_pictures(capture);
	capture->form = (struct source_form){0};
	capture->asleep = false;
	capture->pause_us = 0;
}

static void handle_output_there(void *data, struct screens_output *output) {
	struct capture *capture = data;
	if (capture->source != NULL || capture->output_name == NULL || output->name == NULL ||
			strcmp(output->name, capture->output_name) != 0) {
		return;
	}
	capture->output = output;
	warnx("%s: the output is back", capture->options->stream);
	const struct source_subject subject = {
			.output = output, .cursor = !capture->options->no_cursor};
	if (create_source(capture, &subject) < 0 || create_producer(capture) < 0) {
		sd_event_exit(capture->event, EXIT_FAILURE);
	}
}

/*
 * Its name goes along with a picture, and the next one may never come. However often a program
 * renames its window, one more is asked for.
 */
static void handle_window_named(void *data, const struct screens_window *window) {
	struct capture *capture = data;
	if (window == capture->shown && capture->current != NULL && !capture->renamed) {
		capture->renamed = true;
		capture->source->interface->refresh(capture->source);
	}
}

/* The source says so, too, and that is the end. */
static void handle_window_gone(void *data, const struct screens_window *window) {
	struct capture *capture = data;
	if (window == capture->shown) {
		capture->shown = NULL;
	}
}

/* --- life ------------------------------------------------------------------------------------- */

static int connect_domain(struct capture *capture) {
	int error = gid_domain_connect(capture->options->domain, &capture->domain);
	if (error < 0) {
		warnx("%s", gid_domain_connect_error());
	}
	return error;
}

static int add_sources(struct capture *capture) {
	sd_event *event = capture->event;
	int ret = sd_event_add_io(event, &capture->domain_source,
			gid_domain_get_fd(capture->domain), EPOLLIN, handle_domain, capture);
	if (ret >= 0) {
		ret = sd_event_add_time_relative(event, &capture->pause, CLOCK_MONOTONIC, 0,
				TIMER_ACCURACY_US, handle_pause, capture);
	}
	if (ret < 0) {
		warnx("event loop: %s", strerror(-ret));
		return -1;
	}
	sd_event_source_set_enabled(capture->pause, SD_EVENT_OFF);
	return display_add_to_loop(capture->screens.display, event, &capture->connection);
}

static int create_clipboard(struct capture *capture) {
	const struct capture_options *options = capture->options;
	return options->clipboard == NULL
			? 0
			: capture_clipboard_init(&capture->clipboard, capture->event,
					  capture->screens.display, capture->domain,
					  options->stream, options->clipboard);
}

int capture_init(struct capture *capture, const struct capture_options *options, sd_event *event) {
	*capture = (struct capture){.options = options, .event = event};
	wl_list_init(&capture->buffers);
	struct wl_display *display = display_connect();
	if (display == NULL) {
		return -1;
	}
	if (screens_init(&capture->screens, display) < 0) {
		wl_display_disconnect(display);
		return -1;
	}
	capture->screens.output_there = handle_output_there;
	capture->screens.output_gone = handle_output_gone;
	capture->screens.window_gone = handle_window_gone;
	capture->screens.window_named = handle_window_named;
	capture->screens.data = capture;
	if (create_first_source(capture) < 0 || connect_domain(capture) < 0 ||
			create_producer(capture) < 0 || add_sources(capture) < 0 ||
			create_clipboard(capture) < 0) {
		capture_finish(capture);
		return -1;
	}
	return 0;
}

void capture_finish(struct capture *capture) {
	struct wl_display *display = capture->screens.display;
	capture_clipboard_finish(&capture->clipboard);
	destroy_pictures(capture);
	sd_event_source_unref(capture->connection);
	sd_event_source_unref(capture->domain_source);
	sd_event_source_unref(capture->pause);
	gid_domain_destroy(capture->domain);
	free(capture->output_name);
	screens_finish(&capture->screens);
	wl_display_disconnect(display);
}

void capture_report(const struct capture *capture) {
	struct gid_producer_stats stats;
	capture_get_stats(capture, &stats);
	printf("{\"frames\": %" PRIu64 ", \"delivered\": %" PRIu64 ", \"dropped\": %" PRIu64
	       ", \"leases_expired\": %" PRIu64 ", \"copied_frames\": %" PRIu64
	       ", \"copied_bytes\": %" PRIu64 ", \"captured\": %" PRIu64 ", \"unchanged\": %" PRIu64
	       ", \"refused\": %" PRIu64 "}\n",
			stats.frames, stats.delivered, stats.dropped, stats.leases_expired,
			stats.copied_frames, stats.copied_bytes, capture->counts.captured,
			capture->counts.unchanged, capture->counts.refused);
	fflush(stdout);
}
