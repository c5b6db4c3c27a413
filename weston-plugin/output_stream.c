// SPDX-License-Identifier: MIT
#include "output_stream.h"

#include <errno.h>
#include <stdlib.h>

#include "capture_targets.h"
#include "libweston_exports.h"
#include "output_clock.h"
#include "output_drawing.h"
#include "output_lending.h"
#include "picture_box.h"

#define AGAIN_MS 1000
/* The delay after a repaint without a free slot, if no consumer releases one earlier. */
#define MISSED_MS 20
/* A consumer shows one frame, has one on the way, and the others are spare. */
#define CREDIT 4

struct output_stream {
	const struct output_config *config;
	struct hidden_client *hidden;
	struct weston_output *output;
	struct wl_listener frame;
	void (*prepare_repaint)(struct weston_output *output);	 /* Weston's own, or NULL */
	int (*repaint)(struct weston_output *output);		 /* the same; NULL: a mirror */
	int (*start_repaint_loop)(struct weston_output *output); /* the same */
	uint32_t refresh_mhz; /* of current_mode, while Weston repaints */
	struct weston_log_pacer pacer;

	struct output_capture *capture; /* NULL: the timer creates it */
	bool is_lost;			/* the capture has ended; the timer destroys it */
	uint32_t fourcc;		/* of its pictures; 0: not known yet */
	int32_t width, height;
	struct wl_list targets; /* struct capture_targets; the first may be current */
	bool is_formed;		/* the first of `targets` has the current format and size */
	struct capture_targets *forming; /* waiting for memory from gidd; NULL: none */
	struct output_drawing drawing;	 /* redirects an output of our own into `targets` */
	struct output_lending lending;	 /* or lends a client's buffer instead */

	struct gid_domain *domain;     /* NULL: none */
	struct gid_producer *producer; /* NULL: the timer creates it */
	bool published;
	int publish_error; /* as last logged */
	struct wl_event_source *source, *timer;

	struct capture_target *asked;	/* target of the current repaint */
	bool draws;			/* it is drawn into directly, without a capture */
	bool lends;			/* the current repaint draws nothing */
	struct capture_target *drawn;	/* target of the last repaint; NULL: it was handled */
	bool is_there;			/* `drawn` has the picture */
	struct wl_event_source *ending; /* the idle source that handles `drawn`, or NULL */
	struct capture_target *pending; /* waits for a grant */
	struct gid_box damage;		/* since the last frame */
	bool whole;   /* full damage, and the next repaint sends a frame even without damage */
	bool current; /* the last frame shows what the output shows */
	bool missed;  /* of those that are formed no slot was free: the timer repaints */
};

/* --- releases --------------------------------------------------------------------------------- */

static bool stream_has_old_targets(const struct output_stream *stream) {
	return wl_list_length(&stream->targets) > (stream->is_formed ? 1 : 0);
}

/*
 * The next frame finds released slots anyway. But memory that is not needed any more, and buffers
 * of clients, are released as soon as no consumer holds them.
 */
static void stream_await_old(struct output_stream *stream) {
	if (stream->producer != NULL && stream_has_old_targets(stream)) {
		gid_producer_want_release(stream->producer);
	}
	output_lending_collect(&stream->lending);
}

#define stream_log(stream, ...) weston_log_paced(&(stream)->pacer, 30, 60000, __VA_ARGS__)

/* --- damage ----------------------------------------------------------------------------------- */

/* From global coordinates, as Weston has it, to the output's pixels. */
static struct gid_box box_of_damage(const struct output_stream *stream, pixman_region32_t *damage) {
	pixman_region32_t own;
	pixman_region32_init(&own);
	weston_region_global_to_output(&own, stream->output, damage);
	pixman_region32_intersect_rect(&own, &own, 0, 0, (unsigned int)stream->width,
			(unsigned int)stream->height);
	const pixman_box32_t *extents = pixman_region32_extents(&own);
	struct gid_box box = {extents->x1, extents->y1, extents->x2 - extents->x1,
			extents->y2 - extents->y1};
	pixman_region32_fini(&own);
	return box;
}

/* --- pictures --------------------------------------------------------------------------------- */

/* The next repaint sends a frame with full damage. */
static void stream_want_whole(struct output_stream *stream) {
	stream->whole = true;
	weston_output_schedule_repaint(stream->output);
}

/* What was not sent is damage of the next frame. */
static void stream_drop(struct output_stream *stream, struct capture_target *target) {
	stream->whole = stream->whole || target->whole;
	stream->damage = box_join(stream->damage, target->frame.damage);
	capture_target_give(target);
}

static void stream_drop_pending(struct output_stream *stream) {
	if (stream->pending != NULL) {
		stream_drop(stream, stream->pending);
		stream->pending = NULL;
	}
}

/* A newer picture is sent instead: what changed in either is its damage. */
static void stream_replace_pending(struct output_stream *stream, struct capture_target *target) {
	struct capture_target *pending = stream->pending;
	if (pending == NULL) {
		return;
	}
	target->whole = target->whole || pending->whole;
	target->frame.damage = target->whole
			? (struct gid_box){0}
			: box_join(target->frame.damage, pending->frame.damage);
	stream->pending = NULL;
	capture_target_give(pending);
}

static void stream_send(struct output_stream *stream, struct capture_target *target) {
	int ret = gid_producer_send(stream->producer, &target->frame);
	if (ret == -EINPROGRESS) {
		stream->pending = target;
		return;
	}
	if (ret < 0) {
		stream_log(stream, "gid: output %s: a picture is lost: %s\n", stream->config->name,
				gid_strerror(ret));
		stream_drop(stream, target);
		return;
	}
	target->state = CAPTURE_TARGET_SENT;
	stream->current = true;
	capture_targets_update(target->targets);
	output_lending_outdate(&stream->lending);
}

/* If it cannot be lent after all, the output is drawn. */
static void stream_send_lent(struct output_stream *stream) {
	int ret = output_lending_send(&stream->lending);
	if (ret < 0) {
		stream_want_whole(stream);
	} else if (ret > 0) {
		stream->current = true;
	}
}

/* Targets of an earlier format or size stay until no consumer holds them. */
static void stream_sweep(struct output_stream *stream) {
	struct capture_targets *targets, *next;
	bool first = stream->is_formed;
	wl_list_for_each_safe(targets, next, &stream->targets, link) {
		capture_targets_update(targets);
		if (!first && targets->taken == 0) {
			capture_targets_destroy(targets);
		}
		first = false;
	}
}

static void handle_answered(void *data, struct capture_target *target, bool taken) {
	struct output_stream *stream = data;
	bool is_current = stream->is_formed && target->targets->link.prev == &stream->targets;
	if (stream->producer == NULL || !is_current) {
		capture_target_give(target);
	} else if (!taken) {
		stream_drop(stream, target);
		weston_output_schedule_repaint(stream->output);
	} else if (!target->whole && box_is_empty(target->frame.damage)) {
		capture_target_give(target); /* it was drawn for another client's screenshot */
	} else {
		stream_replace_pending(stream, target);
		uint64_t copied = capture_target_finish(target);
		if (copied > 0) {
			target->frame.flags |= GID_FRAME_COPIED;
			gid_producer_count_copy_for(
					stream->producer, GID_COPY_UPSTREAM_MEMORY, copied);
		}
		stream_send(stream, target);
	}
	stream_sweep(stream);
}

/* --- repaints --------------------------------------------------------------------------------- */

static struct capture_target *stream_take_drawn(struct output_stream *stream) {
	struct capture_target *target = stream->drawn;
	if (stream->ending != NULL) {
		wl_event_source_remove(stream->ending);
		stream->ending = NULL;
	}
	stream->drawn = NULL;
	return target;
}

static void stream_end_drawn(struct output_stream *stream) {
	struct capture_target *target = stream_take_drawn(stream);
	if (target != NULL) {
		handle_answered(stream, target, stream->is_there);
	} else {
		stream_send_lent(stream);
	}
}

static void handle_ending(void *data) {
	struct output_stream *stream = data;
	stream->ending = NULL;
	stream_end_drawn(stream);
}

/*
 * Within a repaint Weston ignores requests to schedule another one. `target` NULL: the picture is
 * lent.
 */
static void stream_end_later(struct output_stream *stream, struct capture_target *target) {
	struct wl_display *display = stream->output->compositor->wl_display;
	stream->drawn = target;
	stream->ending = wl_event_loop_add_idle(
			wl_display_get_event_loop(display), handle_ending, stream);
}

/* After a repaint that failed: nothing was drawn. What Weston was asked for it answers still. */
static void stream_forget_asked(struct output_stream *stream) {
	if (stream->asked != NULL && stream->draws) {
		capture_target_give(stream->asked);
	}
	stream->asked = NULL;
}

static void stream_ask(struct output_stream *stream) {
	const struct weston_mode *mode = stream->output->current_mode;
	struct capture_targets *targets = wl_container_of(stream->targets.next, targets, link);
	stream->draws = output_drawing_can(&stream->drawing, mode->width, mode->height);
	stream->asked = capture_targets_write(targets, !stream->draws);
	if (stream->asked == NULL) {
		gid_producer_want_release(stream->producer);
		capture_targets_update(targets);
		stream->asked = capture_targets_write(targets, !stream->draws);
	}
	if (stream->asked == NULL) {
		gid_producer_lacks_memory(stream->producer);
	} else {
		stream->asked->frame = (struct gid_frame)GID_FRAME_INIT;
		stream->asked->whole = false; /* until it is known what changed */
		stream->asked->frame.transform = stream->output->transform;
	}
}

static void handle_frame(struct wl_listener *listener, void *data);

static struct output_stream *stream_from_output(struct weston_output *output) {
	struct wl_listener *listener = wl_signal_get(&output->frame_signal, handle_frame);
	struct output_stream *stream = wl_container_of(listener, stream, frame);
	return stream;
}

/* It has no rate of its own: its consumers' displays set it. */
static bool stream_follows(const struct output_stream *stream) {
	return !stream->config->is_mirror && stream->config->refresh_mhz == 0;
}

/* The producer that knows that display; NULL: none. */
static struct gid_producer *stream_leader(const struct output_stream *stream) {
	return stream_follows(stream) && stream->published ? stream->producer : NULL;
}

static bool stream_is_read(const struct output_stream *stream) {
	return stream->published && stream->is_formed &&
			gid_producer_consumers(stream->producer) > 0;
}

/* Weston begins to repaint the output. */
static void handle_prepare_repaint(struct weston_output *output) {
	struct output_stream *stream = stream_from_output(output);
	if (stream->prepare_repaint != NULL) {
		stream->prepare_repaint(output);
	}
	stream->refresh_mhz = output->current_mode->refresh;
	stream_end_drawn(stream);
	stream_forget_asked(stream);
	output_drawing_look(&stream->drawing);
	if (stream_is_read(stream)) {
		if (stream_leader(stream) != NULL) {
			output_clock_follow(output, stream->producer);
			stream->refresh_mhz = output->current_mode->refresh;
		}
		stream_ask(stream);
	}
	if (!stream->config->is_mirror) {
		output_drawing_begin(&stream->drawing, stream->draws ? stream->asked : NULL);
	}
}

/* For an output of our own: something has to be drawn, after a pause. */
static int handle_start_repaint_loop(struct weston_output *output) {
	struct output_stream *stream = stream_from_output(output);
	if (stream_follows(stream)) {
		output_clock_begin_now(output, stream_leader(stream));
		return 0;
	}
	return output_clock_go_on(output) ? 0 : stream->start_repaint_loop(output);
}

/* Why nothing can be lent now; NULL: something can. */
static const char *stream_find_obstacle(const struct output_stream *stream) {
	const struct weston_output *output = stream->output;
	if (!stream_is_read(stream)) {
		return "nobody reads the stream";
	}
	if (!stream->draws || output->current_mode->width != stream->width ||
			output->current_mode->height != stream->height) {
		return "the output has no pictures yet";
	}
	return output->disable_planes > 0 ? "somebody else captures it" : NULL;
}

/* Weston knows what is visible on the output, and is about to draw it. */
static void stream_choose(struct output_stream *stream) {
	const char *obstacle = stream_find_obstacle(stream);
	uint64_t next = output_clock_next(stream->output, stream_leader(stream),
			stream->refresh_mhz, gid_clock_now());
	stream->lends = output_lending_begin(&stream->lending, obstacle, next);
	if (!stream->lends) {
		if (output_drawing_is_lost(&stream->drawing)) {
			weston_output_damage(stream->output);
		}
		return;
	}
	output_drawing_leave_out(&stream->drawing);
	stream_drop_pending(stream);
	if (stream->asked != NULL) {
		capture_target_give(stream->asked);
		stream->asked = NULL;
	}
}

/* For an output of our own. */
static int handle_repaint(struct weston_output *output) {
	struct output_stream *stream = stream_from_output(output);
	stream_choose(stream);
	output_clock_set_read_back(output);
	int result = stream->repaint(output);
	output->current_mode->refresh = stream->refresh_mhz;
	return result;
}

/* A consumer that subscribes later must not get an outdated frame. */
static void stream_outdate(struct output_stream *stream) {
	if (stream->current) {
		stream->current = false;
		output_lending_outdate(&stream->lending);
		gid_producer_reclaim(stream->producer, false);
		stream_sweep(stream);
	}
}

/* The output has damage that was not captured. While no slots exist, handle_made() repaints. */
static void stream_miss(struct output_stream *stream) {
	if (!stream->published) {
		return;
	}
	if (gid_producer_consumers(stream->producer) == 0) {
		stream_outdate(stream);
	} else if (stream->is_formed && !stream->missed) {
		stream->missed = true;
		wl_event_source_timer_update(stream->timer, MISSED_MS);
	}
}

/* No slot has the damage yet, except those that this repaint writes. */
static void stream_draw(struct output_stream *stream, struct gid_box changed) {
	bool wanted = stream->whole || !box_is_empty(box_join(stream->damage, changed));
	stream->is_there = output_drawing_end(&stream->drawing, changed, wanted);
	if (!stream->draws && !stream->config->is_mirror && stream->asked != NULL) {
		output_drawing_learn(&stream->drawing, &stream->asked->part);
	}
	struct capture_targets *targets;
	wl_list_for_each(targets, &stream->targets, link) {
		for (size_t i = 0; i < CAPTURE_TARGETS; i++) {
			struct capture_target *target = &targets->target[i];
			if (target != stream->asked || !stream->is_there) {
				target->stale = box_join(target->stale, changed);
				capture_target_draw(target);
			}
		}
	}
}

/* The damage is in the client's buffer already. */
static void stream_lend(struct output_stream *stream) {
	uint64_t now = gid_clock_now();
	uint64_t next = output_clock_next(
			stream->output, stream_leader(stream), stream->refresh_mhz, now);
	if (output_lending_put(&stream->lending, stream->damage, stream->whole, now, next)) {
		stream_end_later(stream, NULL);
	}
	stream->damage = (struct gid_box){0};
	stream->whole = stream->missed = false;
}

/* The renderer is done; `data` is the damage. */
static void handle_frame(struct wl_listener *listener, void *data) {
	struct output_stream *stream = wl_container_of(listener, stream, frame);
	if (stream->repaint != NULL) {
		output_clock_set_timer(stream->output, stream->refresh_mhz);
	}
	struct gid_box changed = box_of_damage(stream, data);
	stream_draw(stream, changed);
	stream->damage = box_join(stream->damage, changed);
	if (stream->lends) {
		stream_lend(stream);
		return;
	}
	struct capture_target *target = stream->asked;
	stream->asked = NULL;
	if (target == NULL) {
		if (stream->whole || !box_is_empty(stream->damage)) {
			stream_miss(stream);
		}
		return;
	}
	target->frame.capture_time = gid_clock_now();
	target->frame.present_time = output_clock_next(stream->output, stream_leader(stream),
			stream->refresh_mhz, target->frame.capture_time);
	target->frame.damage = stream->whole ? (struct gid_box){0} : stream->damage;
	target->whole = stream->whole;
	stream->damage = (struct gid_box){0};
	stream->whole = false;
	if (stream->draws) {
		stream_end_later(stream, target);
	}
}

/* --- format and size -------------------------------------------------------------------------- */

static void stream_lack_memory(struct output_stream *stream, int error) {
	stream_log(stream, "gid: output %s: no memory for pictures of %dx%d, %.4s: %s\n",
			stream->config->name, stream->width, stream->height,
			(const char *)&stream->fourcc, gid_strerror(error));
	wl_event_source_timer_update(stream->timer, AGAIN_MS);
}

static const struct capture_targets_events targets_events;

/* One set of targets at a time: gidd may take longer than the output keeps its size. */
static void stream_form(struct output_stream *stream) {
	stream->is_formed = stream->missed = false;
	output_drawing_leave(&stream->drawing);
	stream_drop_pending(stream);
	stream_sweep(stream);
	stream_await_old(stream);
	if (!stream->published || stream->fourcc == 0 || stream->forming != NULL) {
		return;
	}
	int error = capture_targets_create(&stream->forming, stream->domain, stream->config->stream,
			stream->hidden, stream->capture, stream->fourcc, stream->width,
			stream->height, &targets_events, stream);
	if (error != 0) {
		stream_lack_memory(stream, error);
	}
}

/* Whether they still have the current format and size. */
static bool stream_wants(
		const struct output_stream *stream, const struct capture_targets *targets) {
	return targets->fourcc == stream->fourcc &&
			targets->layout.width == (uint32_t)stream->width &&
			targets->layout.height == (uint32_t)stream->height;
}

static void handle_made(void *data, struct capture_targets *targets, int error) {
	struct output_stream *stream = data;
	if (targets != stream->forming) { /* frames that consumers hold lost their content */
		stream_want_whole(stream);
		return;
	}
	stream->forming = NULL;
	if (error == 0 && stream_wants(stream, targets)) {
		wl_list_insert(&stream->targets, &targets->link);
		stream->is_formed = true;
		stream_want_whole(stream);
		return;
	}
	bool wanted = stream_wants(stream, targets);
	capture_targets_destroy(targets);
	if (wanted) {
		stream_lack_memory(stream, error);
	} else {
		stream_form(stream);
	}
}

static const struct capture_targets_events targets_events = {
		.answered = handle_answered,
		.made = handle_made,
};

static void handle_form(void *data, uint32_t fourcc, int32_t width, int32_t height) {
	struct output_stream *stream = data;
	if (width < 1 || height < 1 || width > (int32_t)GID_SIZE_MAX ||
			height > (int32_t)GID_SIZE_MAX) {
		return;
	}
	if (stream->fourcc == fourcc && stream->width == width && stream->height == height) {
		return; /* Weston tells all shots, whenever one more is created */
	}
	stream->fourcc = fourcc;
	stream->width = width;
	stream->height = height;
	stream_form(stream);
}

/* Weston does not answer any more: its objects are gone, and so are the buffers. */
static void handle_ended(void *data) {
	struct output_stream *stream = data;
	stream->is_lost = true;
	stream->fourcc = 0;
	wl_event_source_timer_update(stream->timer, AGAIN_MS);
}

static const struct output_capture_events capture_events = {
		.form = handle_form,
		.ended = handle_ended,
};

/*
 * Destroys what can be destroyed. A target that Weston did not answer yet stays for that answer,
 * without a slot.
 */
static void stream_forget_targets(struct output_stream *stream) {
	struct capture_targets *targets;
	struct capture_target *drawn = stream_take_drawn(stream);
	if (drawn != NULL) {
		capture_target_give(drawn);
	}
	stream->is_formed = false;
	stream->pending = stream->asked = NULL;
	output_drawing_leave(&stream->drawing);
	capture_targets_destroy(stream->forming);
	stream->forming = NULL;
	wl_list_for_each(targets, &stream->targets, link) {
		capture_targets_forget(targets);
	}
	stream_sweep(stream);
}

static void stream_destroy_capture(struct output_stream *stream) {
	struct capture_targets *targets, *next;
	stream_forget_targets(stream);
	wl_list_for_each_safe(targets, next, &stream->targets, link) {
		capture_targets_destroy(targets);
	}
	output_capture_destroy(stream->capture);
	stream->capture = NULL;
	stream->is_lost = false;
}

static void stream_create_capture(struct output_stream *stream) {
	struct weston_head *head = weston_output_get_first_head(stream->output);
	if (head != NULL) {
		stream->capture = output_capture_create(stream->output->compositor->wl_display,
				weston_head_get_name(head), &capture_events, stream);
	}
	if (stream->capture == NULL) {
		wl_event_source_timer_update(stream->timer, AGAIN_MS);
	}
}

/* --- the stream ------------------------------------------------------------------------------- */

static void stream_end(struct output_stream *stream) {
	struct gid_producer *producer = stream->producer;
	stream->published = stream->current = stream->missed = stream->lends = false;
	if (stream->source != NULL) {
		wl_event_source_remove(stream->source);
		stream->source = NULL;
	}
	stream->producer = NULL;
	gid_producer_destroy(producer);
	output_lending_set_producer(&stream->lending, NULL, NULL);
	stream_forget_targets(stream);
}

static void handle_published(void *data, int error) {
	struct output_stream *stream = data;
	if (error == 0) {
		stream->published = true;
		stream->publish_error = 0;
		output_lending_set_producer(&stream->lending, stream->domain, stream->producer);
		stream_form(stream);
		return;
	}
	if (error != stream->publish_error) {
		weston_log("gid: output %s: the stream %s cannot be published: %s\n",
				stream->config->name, stream->config->stream, gid_strerror(error));
		stream->publish_error = error;
	}
	stream_end(stream);
	wl_event_source_timer_update(stream->timer, AGAIN_MS);
}

static void handle_granted(void *data, gid_id gid, int error) {
	struct output_stream *stream = data;
	struct capture_target *target = stream->pending;
	output_lending_granted(&stream->lending, gid, error);
	if (target != NULL) {
		stream->pending = NULL;
		stream_send(stream, target);
	}
}

static void handle_released(void *data, gid_id gid) {
	struct output_stream *stream = data;
	stream_sweep(stream);
	output_lending_give_back(&stream->lending);
	if (stream->missed) {
		stream->missed = false;
		weston_output_schedule_repaint(stream->output);
	}
}

static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	struct output_stream *stream = data;
	/* This consumer may not be permitted to read what is lent. */
	if (joined && (!stream->current || stream->lending.shown != NULL)) {
		stream_want_whole(stream);
	}
}

static int handle_readable(int fd, uint32_t mask, void *data) {
	struct output_stream *stream = data;
	gid_producer_dispatch(stream->producer);
	stream_await_old(stream);
	return 0;
}

static void stream_publish(struct output_stream *stream) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.credit_max = CREDIT,
			.released = handle_released,
			.subscriber = handle_subscriber,
			.published = handle_published,
			.granted = handle_granted,
			.keeps_shown = true,
			.quiet = true,
			.data = stream,
	};
	int error = gid_producer_create(
			stream->domain, stream->config->stream, &options, &stream->producer);
	if (error == 0) {
		stream->source = wl_event_loop_add_fd(
				wl_display_get_event_loop(stream->output->compositor->wl_display),
				gid_producer_get_fd(stream->producer), WL_EVENT_READABLE,
				handle_readable, stream);
	} else {
		stream->producer = NULL;
	}
	if (stream->source == NULL) {
		stream_end(stream);
		wl_event_source_timer_update(stream->timer, AGAIN_MS);
	}
}

static int handle_timer(void *data) {
	struct output_stream *stream = data;
	if (stream->is_lost) {
		stream_destroy_capture(stream);
	}
	if (stream->capture == NULL) {
		stream_create_capture(stream);
	}
	if (stream->producer == NULL && stream->domain != NULL) {
		stream_publish(stream);
	} else if (stream->published && !stream->is_formed) {
		stream_form(stream); /* gidd may have memory by now */
	} else if (stream->missed) {
		stream->missed = false;
		weston_output_schedule_repaint(stream->output);
	}
	return 0;
}

/* What consumers hold of it reads as zeroes. */
static void handle_lost(void *data) {
	stream_want_whole(data);
}

/* --- create and destroy ----------------------------------------------------------------------- */

struct output_stream *output_stream_create(struct weston_output *output,
		const struct output_config *config, struct hidden_client *hidden) {
	struct output_stream *stream = calloc(1, sizeof(*stream));
	if (stream == NULL) {
		return NULL;
	}
	stream->config = config;
	stream->hidden = hidden;
	stream->output = output;
	wl_list_init(&stream->targets);
	output_drawing_init(&stream->drawing);
	if (output_lending_init(&stream->lending, &config->lends, output, handle_lost, stream) !=
			0) {
		free(stream);
		return NULL;
	}
	stream->timer = wl_event_loop_add_timer(
			wl_display_get_event_loop(output->compositor->wl_display), handle_timer,
			stream);
	if (stream->timer == NULL) {
		output_lending_finish(&stream->lending);
		free(stream);
		return NULL;
	}
	stream->frame.notify = handle_frame;
	wl_signal_add(&output->frame_signal, &stream->frame);
	stream->prepare_repaint = output->prepare_repaint;
	output->prepare_repaint = handle_prepare_repaint;
	if (!config->is_mirror) {
		stream->repaint = output->repaint;
		output->repaint = handle_repaint;
		stream->start_repaint_loop = output->start_repaint_loop;
		output->start_repaint_loop = handle_start_repaint_loop;
	}
	stream_create_capture(stream);
	return stream;
}

void output_stream_destroy(struct output_stream *stream) {
	if (stream == NULL) {
		return;
	}
	stream_end(stream);
	stream_destroy_capture(stream);
	output_drawing_finish(&stream->drawing);
	output_lending_finish(&stream->lending);
	stream->output->prepare_repaint = stream->prepare_repaint;
	if (stream->repaint != NULL) {
		stream->output->repaint = stream->repaint;
		stream->output->start_repaint_loop = stream->start_repaint_loop;
	}
	wl_list_remove(&stream->frame.link);
	wl_event_source_remove(stream->timer);
	free(stream);
}

struct weston_output *output_stream_get_output(const struct output_stream *stream) {
	return stream->output;
}

void output_stream_set_domain(struct output_stream *stream, struct gid_domain *domain) {
	if (domain == stream->domain) {
		return;
	}
	stream_end(stream);
	stream->domain = domain;
	if (domain != NULL) {
		stream_publish(stream);
	}
}

bool output_stream_is_idle(struct output_stream *stream) {
	stream_sweep(stream);
	return !stream_has_old_targets(stream);
}

bool output_stream_has_client(const struct output_stream *stream, const struct wl_client *client) {
	return stream->capture != NULL && output_capture_get_client(stream->capture) == client;
}
