// SPDX-License-Identifier: MIT
#include "role_view.h"

#include "hidden.h"
#include "screen.h"
#include <errno.h>
#include <gid/timeline.h>
#include <inttypes.h>
#include <wlr/util/log.h>

/* After judging a new picture took longer than this, so many times as long passes before the next.
 */
#define LONG_NS UINT64_C(2000000)
#define PAUSES 4

static uint64_t role_view_expected(const struct role_view *view) {
	return view->shown != NULL ? view->shown->hashes.colour
				   : own_picture_colour(view->fallback);
}

/* Shows the frame, or the fallback for NULL. The renderer may not keep what it has uploaded: we do.
 */
static void role_view_set_shown(struct role_view *view, struct held_frame *held) {
	struct held_frame *old = view->shown;
	struct wlr_buffer *buffer =
			held != NULL ? &held->view.base : own_picture_buffer(view->fallback);
	if (held != NULL) {
		wlr_buffer_lock(buffer);
	}
	view->shown = held;
	wlr_scene_buffer_set_buffer(view->node, buffer);
	if (old != NULL) {
		wlr_buffer_unlock(&old->view.base);
	}
	wlr_scene_buffer_set_dest_size(
			view->node, view->config->box.width, view->config->box.height);
	wlr_scene_buffer_set_transform(view->node,
			held != NULL ? (enum wl_output_transform)held->frame.transform
				     : WL_OUTPUT_TRANSFORM_NORMAL);
	view->awaited_commit = screen_next_commit(view->screen);
	if (role_plane_is_on(&view->plane)) {
		view->plane.stale = true;
		screen_ask(view->screen);
	}
}

static void role_view_write_point(
		const struct role_view *view, enum gid_timeline_event event, uint64_t time) {
	const struct gid_frame *frame = &view->shown->frame;
	gid_timeline_write(view->timeline,
			&(struct gid_timeline_point){
					.event = event,
					.time = time,
					.gid = frame->gid,
					.stream = view->config->stream,
					.sequence = frame->sequence,
					.domain = view->domain,
			});
}

/* --- the fallback ----------------------------------------------------------------------------- */

/*
 * What the output showed last was checked when it was composed, and is ours: nobody else writes it.
 * It may be of a frame before the one that is to be shown, which was not composed yet.
 */
static void role_view_keep_last(struct role_view *view) {
	struct own_picture *last = NULL;
	if (view->composed != 0 && role_plane_is_lent(&view->plane)) {
		last = own_picture_copy_buffer(&view->shown->view.base);
	} else if (view->composed != 0) {
		last = role_plane_is_on(&view->plane)
				? role_plane_capture(&view->plane)
				: screen_capture(view->screen, &view->config->box);
	}
	if (last != NULL && own_picture_colour(last) == view->composed) {
		own_picture_destroy(view->fallback);
		view->fallback = last;
	} else {
		own_picture_destroy(last);
	}
}

bool role_view_is_hidden(const struct role_view *view) {
	const struct role *role = &view->role;
	/* A role that has waited since its start waits still: it has lost nothing. */
	return role->reason == ROLE_REASON_HIDDEN ||
			(role->reason == ROLE_REASON_STARTING && role->last_frame == 0 &&
					view->hidden != GID_HIDDEN_UNSAID);
}

const char *role_view_checked_by(const struct role_view *view) {
	if (screen_is_read_back(view->screen)) {
		return "writeback";
	}
	return role_plane_is_on(&view->plane) ? "copy" : "composition";
}

const char *role_view_text(const struct role_view *view) {
	return role_view_is_hidden(view) ? hidden_text(view->hidden)
					 : role_reason_text(view->role.reason);
}

/* Producers change a role's state as often as they like. */
static void role_view_tell(struct role_view *view, enum role_state from) {
	const struct role *role = &view->role;
	struct log_budget *budget = &view->log_budget;
	if (!log_budget_take(budget, role->since)) {
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
	history_transition(&view->history,
			&(struct transition){
					.from = from,
					.to = role->state,
					.reason = role->reason,
					.decided = role->since,
					.last_frame = role->last_frame,
			});
	role_view_tell(view, from);
	if (from == ROLE_LIVE) {
		if (view->config->fallback == FALLBACK_LAST) {
			role_view_keep_last(view);
		}
		role_view_set_shown(view, NULL);
	} else if (!role_is_live(role) && view->awaited_commit == 0) {
		history_shown(&view->history, role->since); /* the fallback is there already */
	}
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The same memory with the same pixels, sent again: nothing to draw, the newer frame is held. */
static bool role_view_repeats(const struct role_view *view, struct gid_consumer *consumer,
		const struct gid_frame *frame, const struct looked_at *looked) {
	bool lies_there = looked->converted != NULL
			? view->shown != NULL && view->shown->copy != NULL
			: view->shown != NULL && view->shown->view.data == looked->pixels.data;
	return view->shown != NULL && view->shown->consumer == consumer &&
			view->shown->frame.gid == frame->gid &&
			view->shown->frame.transform == frame->transform && lies_there &&
			view->shown->hashes.content == looked->hashes.content &&
			view->shown->hashes.colour == looked->hashes.colour;
}

static enum role_reason role_view_examine(struct role_view *view, const struct gid_frame *frame,
		const struct gid_slab *slab, struct looked_at *looked) {
	*looked = (struct looked_at){0};
	if (slab == NULL) {
		return ROLE_REASON_MEMORY;
	}
	return held_frame_examine(frame, slab, (uint32_t)view->config->box.width,
			(uint32_t)view->config->box.height, looked, NULL);
}

/*
 * Whether the picture is one of those that may be shown. What that takes is long: it is done once
 * for each picture that is new, which `colour` tells. A producer that sends new ones without end
 * gets few of them looked at; then `*later`, and the picture that is shown stays, until it is late.
 * The memory may have changed meanwhile: `looked` is what was judged.
 */
static bool role_view_allows(struct role_view *view, const struct gid_frame *frame,
		const struct gid_slab *slab, struct looked_at *looked, bool *later) {
	*later = false;
	if (view->config->allowed.count == 0) {
		return true;
	}
	uint64_t colour = looked->hashes.colour;
	struct verdict *verdict = &view->verdicts[colour % ROLE_VIEW_VERDICTS];
	if (verdict->known && verdict->colour == colour) {
		return verdict->allowed;
	}
	uint64_t begin = gid_clock_now();
	*later = begin < view->judge_again;
	struct digest digest;
	if (*later) {
		return false;
	}
	looked_at_finish(looked);
	if (held_frame_examine(frame, slab, (uint32_t)view->config->box.width,
			    (uint32_t)view->config->box.height, looked,
			    &digest) != ROLE_REASON_NONE) {
		return false;
	}
	uint64_t end = gid_clock_now();
	view->judge_again = end - begin > LONG_NS ? end + PAUSES * (end - begin) : 0;
	colour = looked->hashes.colour;
	verdict = &view->verdicts[colour % ROLE_VIEW_VERDICTS];
	*verdict = (struct verdict){
			.known = true,
			.colour = colour,
			.allowed = hashes_have(&view->config->allowed, &digest),
	};
	return verdict->allowed;
}

static void give_back(struct gid_consumer *consumer, const struct gid_frame *frame,
		struct gid_slab *slab) {
	gid_consumer_release(consumer, frame);
	gid_slab_unref(slab);
}

void role_view_frame(struct role_view *view, struct gid_consumer *consumer,
		const struct gid_frame *frame, struct gid_slab *slab, uint64_t now) {
	struct looked_at looked;
	view->history.frames++;
	enum role_reason reason = role_view_examine(view, frame, slab, &looked);
	bool later = false;
	bool allowed = reason == ROLE_REASON_NONE &&
			role_view_allows(view, frame, slab, &looked, &later);
	if (later) {
		give_back(consumer, frame, slab);
		goto done;
	}
	bool good = false;
	if (reason != ROLE_REASON_NONE) {
		role_refuse(&view->role, reason, now);
	} else {
		struct gid_consumer_stats stats;
		gid_consumer_get_stats(consumer, &stats);
		good = role_frame(&view->role,
				&(struct role_frame){
						.sequence = frame->sequence,
						.submit_time = frame->submit_time,
						.stated_hash = frame->content_hash,
						.clock_error = stats.clock_error_ns,
						.pixel_hash = looked.hashes.content,
						.colour = looked.hashes.colour,
						.has_hash = frame->flags & GID_FRAME_HASH,
						.allowed = allowed,
						.heartbeat = frame->flags & GID_FRAME_HEARTBEAT,
				},
				now);
	}
	view->history.refused_frames += !good;
	if (good && role_view_repeats(view, consumer, frame, &looked)) {
		struct gid_frame old = view->shown->frame;
		view->shown->frame = *frame;
		give_back(consumer, &old, slab);
		goto done;
	}
	struct held_frame *held = NULL;
	if (good) {
		held = held_frame_create(&view->held, consumer, frame, slab, &looked,
				view->screen->device->renderer);
	}
	if (held != NULL) {
		view->history.shown_frames++;
		view->history.sampled_frames += held->view.sampled;
		view->history.converted_frames += held->copy != NULL;
		role_view_set_shown(view, held);
		if (view->timeline != NULL) {
			role_view_write_point(view, GID_TIMELINE_COMMIT, gid_clock_now());
		}
		wlr_buffer_drop(&held->view.base);
	} else {
		give_back(consumer, frame, slab);
	}

done:
	looked_at_finish(&looked);
}

void role_view_lost(struct role_view *view, enum role_reason reason, uint64_t now) {
	held_frame_forget_consumer(&view->held);
	view->hidden = GID_HIDDEN_UNSAID;
	role_lost(&view->role, reason, now);
}

void role_view_tick(struct role_view *view, uint64_t now) {
	role_tick(&view->role, now);
	if (view->shown != NULL &&
			!gid_slab_is_current(view->shown->slab, view->shown->frame.gid)) {
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

/*
 * A picture that others can still write is on the plane only where that would be noticed. And only
 * from the first byte of its memory on: vkms of Linux 6.12 counts the offset twice, and reads
 * behind the end.
 */
static bool role_view_may_lend(const struct role_view *view) {
	const struct held_frame *held = view->shown;
	return view->screen->config->direct && screen_is_read_back(view->screen) && held != NULL &&
			held->copy == NULL && held->view.dmabuf.n_planes == 1 &&
			held->view.dmabuf.offset[0] == 0 &&
			held->frame.transform == WL_OUTPUT_TRANSFORM_NORMAL;
}

/* As role_plane_copy(). */
static int role_view_put(struct role_view *view) {
	struct held_frame *held = view->shown;
	uint64_t colour = role_view_expected(view);
	if (role_view_may_lend(view)) {
		int ret = role_plane_lend(&view->plane, &held->view, colour);
		if (ret == 0 || ret == -EAGAIN || ret == -EACCES || ret == -EILSEQ) {
			return ret;
		}
	}
	struct wlr_buffer *picture =
			held != NULL ? &held->view.base : own_picture_buffer(view->fallback);
	return role_plane_copy(
			&view->plane, picture, held != NULL ? held->frame.transform : 0, colour);
}

void role_view_fill(struct role_view *view, uint64_t now) {
	struct role_plane *plane = &view->plane;
	if (role_plane_is_lent(plane) && !screen_is_read_back(view->screen)) {
		plane->stale = true;
	}
	if (role_plane_is_on(plane) && plane->stale &&
			role_plane_shows(plane, role_view_expected(view))) {
		/* The same picture in other memory, which needs no copy. */
		view->composed = view->shown != NULL ? view->shown->hashes.colour : 0;
		view->displayed = role_view_expected(view);
		view->awaited_commit = 0;
		history_shown(&view->history, now);
		plane->stale = false;
		return;
	}
	/* The second time for the fallback. */
	for (int round = 0; round < 2 && role_plane_is_on(plane) && plane->stale; round++) {
		const struct held_frame *held = view->shown;
		int ret = role_view_put(view);
		if (ret == 0) {
			view->composed = held != NULL ? held->hashes.colour : 0;
			view->displayed = role_view_expected(view);
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
				hashes.colour == role_view_expected(view)) {
			view->composed = view->shown != NULL ? hashes.colour : 0;
			view->displayed = hashes.colour;
			return true;
		}
	}
	bool showed_frame = view->shown != NULL;
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
	if (view->shown != NULL) {
		uint64_t submitted = view->shown->frame.submit_time;
		samples_add(&view->history.latency, when > submitted ? when - submitted : 0);
		if (view->timeline != NULL) {
			role_view_write_point(view, GID_TIMELINE_SHOWN, when);
		}
	}
}

int role_view_init(struct role_view *view, const struct role_config *config, struct screen *screen,
		uint64_t now) {
	*view = (struct role_view){.config = config, .screen = screen};
	wl_list_init(&view->held);
	int ret = role_init(&view->role, &config->limits, now);
	if (ret < 0) {
		return ret;
	}
	view->role.changed = handle_changed;
	view->role.data = view;
	ret = own_picture_create(&view->fallback, config);
	if (ret < 0) {
		goto error_role;
	}
	view->plane.place = ROLE_PLACE_OFF;
	view->node = wlr_scene_buffer_create(screen->safety, NULL);
	if (view->node == NULL) {
		ret = -ENOMEM;
		goto error_picture;
	}
	wlr_scene_node_set_position(&view->node->node, config->box.x, config->box.y);
	role_view_set_shown(view, NULL);
	return 0;

error_picture:
	own_picture_destroy(view->fallback);
error_role:
	role_finish(&view->role);
	return ret;
}

void role_view_resume(struct role_view *view, const struct kept_role *kept, uint64_t now) {
	if (kept->known) {
		history_resume(&view->history, kept->transitions);
		role_resume(&view->role, &kept->past, now);
	}
}

struct kept_role role_view_keep(const struct role_view *view, uint64_t now) {
	return (struct kept_role){
			.name = view->config->name,
			.known = true,
			.transitions = view->history.transition_count,
			.past = role_past(&view->role, now),
	};
}

void role_view_finish(struct role_view *view) {
	held_frame_forget_consumer(&view->held);
	role_plane_finish(&view->plane);
	role_view_set_shown(view, NULL);
	wlr_scene_node_destroy(&view->node->node);
	own_picture_destroy(view->fallback);
	role_finish(&view->role);
}
