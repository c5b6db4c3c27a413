// SPDX-License-Identifier: MIT
#include "role_view.h"

#include <errno.h>
#include <gid/timeline.h>
#include <inttypes.h>
#include <wlr/util/log.h>

#include "screen.h"

/* Shows the frame's picture, or the fallback for NULL. Takes `lent`. */
static void role_view_set_shown(struct role_view *view, const struct gid_frame *frame,
		struct own_picture *picture, struct lent_frame *lent) {
	struct own_picture *old = view->shown;
	lent_frame_drop(view->lent);
	view->lent = lent;
	view->shows_frame = frame != NULL;
	if (frame != NULL) {
		view->frame = *frame;
	}
	view->shown = own_picture_ref(frame != NULL ? picture : view->fallback);
	wlr_scene_buffer_set_buffer(view->node, &view->shown->view.base);
	wlr_scene_buffer_set_dest_size(
			view->node, view->config->box.width, view->config->box.height);
	own_picture_unref(old);
	view->awaited_commit = screen_next_commit(view->screen);
	if (role_plane_is_on(&view->plane)) {
		view->plane.stale = true;
		screen_ask(view->screen);
	}
}

/* The output is about to have what is to be shown. */
static void role_view_set_displayed(struct role_view *view) {
	struct own_picture *last = view->shows_frame ? own_picture_ref(view->shown) : NULL;
	own_picture_unref(view->last);
	view->last = last;
	view->displayed = view->shown->colour;
}

static void role_view_write_point(
		const struct role_view *view, enum gid_timeline_event event, uint64_t time) {
	const struct gid_frame *frame = &view->frame;
	gid_timeline_write(view->timeline,
			&(struct gid_timeline_point){
					.event = event,
					.time = time,
					.gid = frame->gid,
					.stream = view->config->stream,
					.sequence = frame->sequence,
					.domain = view->reader.own_domain,
			});
}

/* --- the fallback ----------------------------------------------------------------------------- */

/* What the output showed last was checked. A frame after it may not have been composed yet. */
static void role_view_keep_last(struct role_view *view) {
	if (view->last != NULL) {
		own_picture_unref(view->fallback);
		view->fallback = own_picture_ref(view->last);
	}
}

bool role_view_is_hidden(const struct role_view *view) {
	const struct role *role = &view->role;
	/* A role that has waited since its start waits still: it has lost nothing. */
	return role->reason == ROLE_REASON_HIDDEN ||
			(role->reason == ROLE_REASON_STARTING && role->last_frame == 0 &&
					view->hidden != GID_HIDDEN_UNSAID);
}

/* What the frames of a producer say. */
static const struct {
	const char *name, *text;
} hidden_reasons[] = {
		[GID_HIDDEN_UNSAID] = {"", "the producer hides the surface"},
		[GID_HIDDEN_EMPTY] = {"empty", "the surface has no picture, or is gone"},
		[GID_HIDDEN_SIZE] = {"size", "the picture has another size than the role"},
		[GID_HIDDEN_CROP] = {"crop", "the part that the surface shows cannot be sent"},
		[GID_HIDDEN_SUBSURFACE] = {"subsurface",
				"subsurfaces are too many, or reach beyond the surface"},
		[GID_HIDDEN_FORMAT] = {"format",
				"the picture's format can be neither lent nor copied"},
		[GID_HIDDEN_DMABUF] = {"dmabuf",
				"the picture lies in dma-bufs that cannot be lent"},
		[GID_HIDDEN_COPY] = {"copy",
				"the picture could only be copied, which is forbidden"},
		[GID_HIDDEN_MEMORY] = {"memory",
				"there is no memory for a copy, or the picture's may not be lent"},
		[GID_HIDDEN_GONE] = {"gone", "the picture's memory was taken back"},
};

const char *role_view_hidden_name(const struct role_view *view) {
	return role_view_is_hidden(view) ? hidden_reasons[view->hidden].name : "";
}

const char *role_view_checked_by(const struct role_view *view) {
	if (screen_is_read_back(view->screen)) {
		return "writeback";
	}
	return role_plane_is_on(&view->plane) ? "copy" : "composition";
}

const char *role_view_text(const struct role_view *view) {
	return role_view_is_hidden(view) ? hidden_reasons[view->hidden].text
					 : role_reason_text(view->role.reason);
}

/* Producers change a role's state as often as they like. */
static void role_view_tell(struct role_view *view, enum role_state from) {
	const struct role *role = &view->role;
	struct log_budget *budget = &view->log_budget;
	if (!log_budget_take(budget, LOG_SELDOM, role->since)) {
		return;
	}
	if (budget->left_out > 0) {
		wlr_log(WLR_ERROR, "role %s: %" PRIu64 " changes were too many to be logged",
				view->config->name, budget->left_out);
		budget->left_out = 0;
	}
	wlr_log(role_is_live(role) ? WLR_INFO : WLR_ERROR, "role %s: %s -> %s: %s",
			view->config->name, role_state_name(from), role_state_name(role->state),
			role_view_text(view));
}

static void handle_changed(struct role *role, enum role_state from, void *data) {
	struct role_view *view = data;
	bool late = role->reason == ROLE_REASON_DEADLINE && from == ROLE_LIVE;
	history_transition(&view->history,
			&(struct transition){
					.from = from,
					.to = role->state,
					.reason = role->reason,
					.due = late ? role->last_frame + role->limits.deadline_ns
						    : role->since,
					.decided = role->since,
					.last_frame = role->last_frame,
			});
	role_view_tell(view, from);
	if (from == ROLE_LIVE) {
		if (view->config->fallback == FALLBACK_LAST) {
			role_view_keep_last(view);
		}
		role_view_set_shown(view, NULL, NULL, NULL);
	} else if (!role_is_live(role) && view->awaited_commit == 0) {
		history_shown(&view->history, role->since); /* the fallback is there already */
	}
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The same slot with the same pixels, sent again: nothing to draw. */
static bool role_view_repeats(const struct role_view *view, const struct examination *of) {
	return view->shows_frame && view->frame.gid == of->frame.gid &&
			view->shown->colour == of->picture->colour;
}

/* Returns whether the picture may be shown. */
static bool role_view_judge(struct role_view *view, struct stream_reader *reader,
		const struct examination *of, uint64_t now) {
	const struct gid_frame *frame = &of->frame;
	view->history.frames++;
	bool good = false;
	if (of->reason != ROLE_REASON_NONE) {
		role_refuse(&view->role, of->reason, now);
	} else {
		struct gid_consumer_stats stats;
		gid_consumer_get_stats(reader->consumer, &stats);
		good = role_frame(&view->role,
				&(struct role_frame){
						.sequence = frame->sequence,
						.submit_time = frame->submit_time,
						.stated_hash = frame->content_hash,
						.clock_error = stats.clock_error_ns,
						.pixel_hash = of->content,
						.colour = of->picture->colour,
						.has_hash = frame->flags & GID_FRAME_HASH,
						.allowed = of->allowed,
						.heartbeat = frame->flags & GID_FRAME_HEARTBEAT,
				},
				now);
	}
	view->history.refused_frames += !good;
	return good;
}

/* The frame itself, if it may be on a plane. */
static struct lent_frame *role_view_hold(struct role_view *view, struct stream_reader *reader,
		const struct examination *of, struct gid_slab *slab) {
	if (view->screen->config->planes != PLANES_DIRECT ||
			!lent_frame_is_possible(&of->frame, slab)) {
		return NULL;
	}
	return lent_frame_create(&view->lents, reader->consumer, &of->frame, slab,
			of->picture->width, of->picture->height);
}

static bool handle_examined(void *data, struct stream_reader *reader, const struct examination *of,
		struct gid_slab *slab, uint64_t now) {
	struct role_view *view = data;
	if (!role_view_judge(view, reader, of, now)) {
		return false;
	}
	if (role_view_repeats(view, of)) {
		view->frame = of->frame;
		return false;
	}
	view->history.shown_frames++;
	view->history.converted_frames += of->converted;
	struct lent_frame *lent = role_view_hold(view, reader, of, slab);
	role_view_set_shown(view, &of->frame, of->picture, lent);
	if (view->timeline != NULL) {
		role_view_write_point(view, GID_TIMELINE_COMMIT, gid_clock_now());
	}
	return lent != NULL;
}

static void handle_noted(void *data, const struct gid_frame *frame, uint64_t now) {
	struct role_view *view = data;
	if (frame->flags & GID_FRAME_EOS) {
		role_lost(&view->role, ROLE_REASON_ENDED, now);
	} else {
		view->hidden = (enum gid_hidden)(frame->flags >> GID_FRAME_HIDDEN_SHIFT);
		role_lost(&view->role, ROLE_REASON_HIDDEN, now);
	}
}

static enum role_reason reason_of_loss(int reason) {
	switch (reason) {
	case 0:
		return ROLE_REASON_ENDED;
	case -EPROTO:
		return ROLE_REASON_PROTOCOL;
	default:
		return ROLE_REASON_DIED;
	}
}

static void handle_lost(void *data, int reason, uint64_t now) {
	struct role_view *view = data;
	lent_frame_forget_consumer(&view->lents);
	view->hidden = GID_HIDDEN_UNSAID;
	role_lost(&view->role, reason_of_loss(reason), now);
}

static const struct stream_reader_hooks reader_hooks = {
		.examined = handle_examined,
		.noted = handle_noted,
		.lost = handle_lost,
};

void role_view_tick(struct role_view *view, uint64_t now) {
	role_tick(&view->role, now);
	if (view->lent != NULL && !gid_slab_is_current(view->lent->slab, view->lent->frame.gid)) {
		role_refuse(&view->role, ROLE_REASON_TAKEN_BACK, now);
	}
}

/* --- the display ------------------------------------------------------------------------------ */

void role_view_settle(struct role_view *view) {
	bool on = role_plane_is_on(&view->plane);
	wlr_scene_node_set_enabled(&view->node->node, !on);
	if (on) {
		view->plane.stale = true;
	}
}

/* A picture that others can still write is on the plane only where that would be noticed. */
static bool role_view_may_lend(const struct role_view *view) {
	return view->lent != NULL && screen_is_read_back(view->screen);
}

/* As role_plane_copy(). */
static int role_view_put(struct role_view *view) {
	if (role_view_may_lend(view)) {
		int ret = role_plane_lend(&view->plane, &view->lent->view, view->shown->colour);
		if (ret == 0 || ret == -EAGAIN || ret == -EACCES || ret == -EILSEQ) {
			return ret;
		}
	}
	return role_plane_copy(&view->plane, view->shown);
}

void role_view_fill(struct role_view *view, uint64_t now) {
	struct role_plane *plane = &view->plane;
	if (role_plane_is_lent(plane) && !screen_is_read_back(view->screen)) {
		plane->stale = true;
	}
	if (role_plane_is_on(plane) && plane->stale &&
			role_plane_shows(plane, view->shown->colour)) {
		/* The same picture in other memory, which needs no copy. */
		role_view_set_displayed(view);
		view->awaited_commit = 0;
		history_shown(&view->history, now);
		plane->stale = false;
		return;
	}
	/* The second time for the fallback. */
	for (int round = 0; round < 2 && role_plane_is_on(plane) && plane->stale; round++) {
		int ret = role_view_put(view);
		if (ret == 0) {
			role_view_set_displayed(view);
			return;
		}
		if (ret == -EAGAIN) {
			return;
		}
		role_refuse(&view->role, ROLE_REASON_DISPLAY, now);
	}
	if (role_plane_is_on(plane) && plane->stale) {
		/* Not even the fallback could be copied: what is on the plane must go. */
		role_plane_leave(plane, ROLE_PLACE_MEMORY);
		role_view_settle(view);
	}
}

bool role_view_check(struct role_view *view, const struct pixels *composed, uint64_t now) {
	const struct gid_box *box = &view->config->box;
	if (role_plane_is_on(&view->plane)) {
		return true; /* it was checked as it was copied there */
	}
	enum role_reason reason = ROLE_REASON_DISPLAY;
	if ((uint32_t)(box->x + box->width) > composed->width ||
			(uint32_t)(box->y + box->height) > composed->height) {
		reason = ROLE_REASON_OFF_OUTPUT;
	} else {
		struct pixels region = pixels_part(composed, (uint32_t)box->x, (uint32_t)box->y,
				(uint32_t)box->width, (uint32_t)box->height);
		struct pixel_hashes hashes;
		if (pixels_hash(&region, &hashes, NULL) == 0 &&
				hashes.colour == view->shown->colour) {
			role_view_set_displayed(view);
			return true;
		}
	}
	bool showed_frame = view->shows_frame;
	view->displayed = 0;
	role_refuse(&view->role, reason, now);
	return !showed_frame; /* there is nothing better than the fallback */
}

void role_view_await(struct role_view *view) {
	view->awaited = view->displayed;
}

void role_view_read_back(struct role_view *view, const struct pixels *shown, uint64_t now) {
	const struct gid_box *box = &view->config->box;
	struct pixel_hashes hashes;
	if (view->awaited == 0 || (uint32_t)(box->x + box->width) > shown->width ||
			(uint32_t)(box->y + box->height) > shown->height) {
		return;
	}
	struct pixels region = pixels_part(shown, (uint32_t)box->x, (uint32_t)box->y,
			(uint32_t)box->width, (uint32_t)box->height);
	if (pixels_hash(&region, &hashes, NULL) != 0) {
		return;
	}
	view->history.read_back++;
	if (hashes.colour == view->awaited) {
		return;
	}
	view->history.differed++;
	role_refuse(&view->role, ROLE_REASON_DISPLAY, now);
	if (role_plane_is_on(&view->plane)) {
		/* What the plane shows cannot be trusted, the fallback least of all. */
		role_plane_leave(&view->plane, ROLE_PLACE_DIFFERED);
		role_view_settle(view);
	}
}

void role_view_appeared(struct role_view *view) {
	if (view->awaited_commit != 0) {
		view->awaited_commit = screen_next_commit(view->screen);
	}
}

void role_view_presented(struct role_view *view, uint32_t commit, uint64_t when) {
	if (view->awaited_commit == 0 || (int32_t)(commit - view->awaited_commit) < 0) {
		return;
	}
	view->awaited_commit = 0;
	history_shown(&view->history, when);
	if (view->shows_frame) {
		uint64_t submitted = view->frame.submit_time, captured = view->frame.capture_time;
		samples_add(&view->history.latency, when > submitted ? when - submitted : 0);
		if (captured != GID_TIME_NONE) {
			samples_add(&view->history.capture_latency,
					when > captured ? when - captured : 0);
		}
		if (view->timeline != NULL) {
			role_view_write_point(view, GID_TIMELINE_SHOWN, when);
		}
	}
}

static int role_view_init_reader(struct role_view *view, struct wl_event_loop *loop) {
	const struct role_config *config = view->config;
	return stream_reader_init(&view->reader,
			&(struct stream_reader_config){
					.kind = "role",
					.name = config->name,
					.domain = config->domain,
					.stream = config->stream,
					.undrawn_ns = config->limits.deadline_ns,
					.width = (uint32_t)config->box.width,
					.height = (uint32_t)config->box.height,
					.rules = {.fit = FIT_EXACT,
							.accepted = &config->accepted},
					.timeline = view->timeline,
			},
			&reader_hooks, view, loop);
}

int role_view_init(struct role_view *view, const struct role_config *config, struct screen *screen,
		struct wl_event_loop *loop, struct gid_timeline *timeline) {
	*view = (struct role_view){.config = config, .screen = screen, .timeline = timeline};
	wl_list_init(&view->lents);
	int ret = role_init(&view->role, &config->limits, gid_clock_now());
	if (ret < 0) {
		return ret;
	}
	view->role.changed = handle_changed;
	view->role.data = view;
	ret = role_view_init_reader(view, loop);
	if (ret < 0) {
		goto error_reader;
	}
	ret = own_picture_create_fallback(&view->fallback, config->fallback, config->picture,
			(uint32_t)config->box.width, (uint32_t)config->box.height);
	if (ret < 0) {
		goto error_reader;
	}
	view->plane.place = ROLE_PLACE_OFF;
	view->node = wlr_scene_buffer_create(screen->safety, NULL);
	if (view->node == NULL) {
		ret = -ENOMEM;
		goto error_picture;
	}
	wlr_scene_node_set_position(&view->node->node, config->box.x, config->box.y);
	role_view_set_shown(view, NULL, NULL, NULL);
	return 0;

error_picture:
	own_picture_unref(view->fallback);
error_reader:
	stream_reader_finish(&view->reader);
	role_finish(&view->role);
	return ret;
}

void role_view_resume(struct role_view *view, const struct saved_role *saved, uint64_t now) {
	if (saved->known) {
		history_resume(&view->history, saved->transitions);
		role_resume(&view->role, &saved->past, now);
	}
}

struct saved_role role_view_save(const struct role_view *view, uint64_t now) {
	return (struct saved_role){
			.name = view->config->name,
			.known = true,
			.transitions = view->history.transition_count,
			.past = role_past(&view->role, now),
	};
}

void role_view_finish(struct role_view *view) {
	lent_frame_forget_consumer(&view->lents);
	role_plane_finish(&view->plane);
	lent_frame_drop(view->lent);
	wlr_scene_node_destroy(&view->node->node);
	own_picture_unref(view->shown);
	own_picture_unref(view->last);
	own_picture_unref(view->fallback);
	stream_reader_finish(&view->reader);
	role_finish(&view->role);
}
