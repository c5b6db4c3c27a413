// SPDX-License-Identifier: MIT
#include "role_view.h"

#include <errno.h>
#include <wlr/util/log.h>

#include "screen.h"
#include "work_bound.h"

/* --- history ---------------------------------------------------------------------------------- */

/* Transitions before this process count, but nothing else is known of them. */
static void history_resume(struct history *history, uint64_t transition_count) {
	history->transition_count = history->forgotten = transition_count;
}

static void history_transition(struct history *history, const struct transition *transition) {
	history->transitions[history->transition_count++ % HISTORY_TRANSITIONS] = *transition;
}

struct transition *history_get(struct history *history, uint64_t index) {
	if (index < history->forgotten || index >= history->transition_count ||
			history->transition_count - index > HISTORY_TRANSITIONS) {
		return NULL;
	}
	return &history->transitions[index % HISTORY_TRANSITIONS];
}

/* The output presents this commit: it shows what all transitions up to it demand. */
static void history_shown(struct history *history, uint32_t commit, uint64_t when) {
	bool is_fallback = true;
	for (uint64_t i = history->transition_count; i > 0; i--) {
		struct transition *transition = history_get(history, i - 1);
		if (transition == NULL || transition->shown != 0) {
			return;
		}
		if ((int32_t)(commit - transition->commit) < 0) {
			continue; /* it came while that commit was pending */
		}
		transition->shown = when;
		is_fallback = is_fallback && transition->to != ROLE_LIVE;
		uint64_t passed = when > transition->due ? when - transition->due : 0;
		if (is_fallback && transition->from == ROLE_LIVE &&
				passed > history->fallback_max_ns) {
			history->fallback_max_ns = passed;
		}
	}
}

/* A new output counts its commits from the beginning. */
static void history_attach_output(struct history *history, uint32_t next) {
	for (uint64_t i = history->transition_count; i > 0; i--) {
		struct transition *transition = history_get(history, i - 1);
		if (transition == NULL || transition->shown != 0) {
			return;
		}
		transition->commit = next;
	}
}

/* --- texts ------------------------------------------------------------------------------------ */

bool role_view_is_hidden(const struct role_view *view) {
	const struct role *role = &view->role;
	/* A role that has waited since its start stays waiting: it has lost nothing. */
	return role->reason == ROLE_REASON_HIDDEN ||
			(role->reason == ROLE_REASON_STARTING && role->last_frame == 0 &&
					view->hidden != GID_HIDDEN_UNSAID);
}

/* The reasons that frames of a producer can give. */
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

const char *role_view_text(const struct role_view *view) {
	return role_view_is_hidden(view) ? hidden_reasons[view->hidden].text
					 : role_reason_text(view->role.reason);
}

/* Producers can change a role's state as often as they like, so it is logged seldom. */
static void role_view_log(struct role_view *view, enum role_state from) {
	const struct role *role = &view->role;
	const char *name = view->config->name, *text = role_view_text(view);
	enum wlr_log_importance importance = role_is_live(role) ? WLR_INFO : WLR_ERROR;
	if (seldom_log_may(&view->log_budget, importance, "role", name, role->since)) {
		wlr_log(importance, "role %s: %s -> %s: %s", name, role_state_name(from),
				role_state_name(role->state), text);
	}
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The only place where the fallback picture replaces frames. */
static void handle_changed(struct role *role, enum role_state from, void *data) {
	struct role_view *view = data;
	bool late = role->reason == ROLE_REASON_DEADLINE && from == ROLE_LIVE;
	bool stays = from != ROLE_LIVE && role->state != ROLE_LIVE; /* the fallback stays */
	uint32_t next = screen_next_commit(view->screen), pending = view->shown.pending_commit;
	history_transition(&view->history,
			&(struct transition){
					.from = from,
					.to = role->state,
					.reason = role->reason,
					.due = late ? role->last_frame + role->limits.deadline_ns
						    : role->since,
					.decided = role->since,
					.last_frame = role->last_frame,
					.commit = stays && pending != 0 ? pending : next,
			});
	if (stays && pending == 0) {
		history_shown(&view->history, next, role->since); /* it is visible already */
	}
	role_view_log(view, from);
	if (from == ROLE_LIVE) {
		shown_picture_set_fallback(&view->shown);
	}
}

static bool role_view_is_on_output(const struct role_view *view) {
	return screen_has_place(view->screen, &view->config->box);
}

/*
 * Detects replayed frames of a protected stream. A producer that restarts counts its frames from
 * the beginning, and an attacker can feign a restart. But its clock continues: a frame sent before
 * the newest one received is a replay. A clock that restarted with its machine shows less time than
 * has passed here since, so it is no replay. Late frames are left to the deadline, which has its
 * own reason.
 */
static bool role_view_is_replayed(
		struct role_view *view, const struct examination *of, uint64_t now) {
	uint64_t sent = examination_sent_time(of), submitted = of->frame.submit_time;
	bool is_late = now > submitted && now - submitted > view->config->limits.deadline_ns;
	bool is_past = sent < view->newest_sent && sent > now - view->newest_came;
	if (!is_past) {
		view->newest_sent = sent;
		view->newest_came = now;
	}
	return is_past && !is_late;
}

/* The reason to refuse the picture before its role judges it. */
static enum role_reason role_view_refuse(
		struct role_view *view, const struct examination *of, uint64_t now) {
	if (of->reason != ROLE_REASON_NONE) {
		return of->reason;
	}
	if (of->is_protected && role_view_is_replayed(view, of, now)) {
		return ROLE_REASON_SEQUENCE;
	}
	return role_view_is_on_output(view) ? ROLE_REASON_NONE : ROLE_REASON_OFF_OUTPUT;
}

/* Returns whether the picture may be shown. */
static bool role_view_judge(struct role_view *view, const struct examination *of, uint64_t now) {
	const struct gid_frame *frame = &of->frame;
	struct gid_consumer_stats stats;
	gid_consumer_get_stats(view->reader.consumer, &stats);
	bool good = role_frame(&view->role,
			&(struct role_frame){
					.refused = role_view_refuse(view, of, now),
					.sequence = frame->sequence,
					.submit_time = frame->submit_time,
					.stated_hash = examination_stated_hash(of),
					.clock_error = stats.clock_error_ns,
					.pixel_hash = of->content,
					.colour = of->picture->colour,
					.has_hash = examination_has_hash(of),
					.allowed = of->allowed,
					.heartbeat = frame->flags & GID_FRAME_HEARTBEAT,
			},
			now);
	view->history.frames++;
	view->history.refused_frames += !good;
	return good;
}

static bool handle_examined(
		void *data, const struct examination *of, struct gid_slab *slab, uint64_t now) {
	struct role_view *view = data;
	if (!role_view_judge(view, of, now) || shown_picture_repeats(&view->shown, of)) {
		return false;
	}
	view->history.shown_frames++;
	view->history.converted_frames += of->converted;
	/* The check covered our copy: the producer's own memory must not be shown instead. */
	return shown_picture_set_frame(&view->shown, of, of->is_protected ? NULL : slab);
}

static void handle_absent(void *data, const struct gid_frame *frame, uint64_t now) {
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

static void handle_disconnected(void *data, int reason, uint64_t now) {
	struct role_view *view = data;
	shown_picture_detach_consumer(&view->shown);
	view->hidden = GID_HIDDEN_UNSAID;
	role_lost(&view->role, reason_of_loss(reason), now);
}

static const struct stream_reader_hooks reader_hooks = {
		.examined = handle_examined,
		.absent = handle_absent,
		.disconnected = handle_disconnected,
};

void role_view_tick(struct role_view *view, uint64_t now) {
	role_tick(&view->role, now);
	/* Parts off the output are not composed, so the check would not see them. */
	if (role_is_live(&view->role) && !role_view_is_on_output(view)) {
		role_refuse(&view->role, ROLE_REASON_OFF_OUTPUT, now);
	}
	if (shown_picture_is_reclaimed(&view->shown)) {
		role_refuse(&view->role, ROLE_REASON_TAKEN_BACK, now);
	}
}

/* --- the display ------------------------------------------------------------------------------ */

void role_view_attach_output(struct role_view *view) {
	shown_picture_attach_output(&view->shown);
	history_attach_output(&view->history, screen_next_commit(view->screen));
}

void role_view_update_plane(struct role_view *view, uint64_t now) {
	/* The second round shows the fallback. */
	for (int round = 0; round < 2; round++) {
		int ret = shown_picture_update_plane(&view->shown);
		if (ret == 1) {
			history_shown(&view->history, screen_next_commit(view->screen), now);
		}
		if (ret >= 0 || ret == -EAGAIN) {
			return;
		}
		role_refuse(&view->role, ROLE_REASON_DISPLAY, now);
	}
	/* Not even the fallback could be copied: the plane must be released. */
	shown_picture_release_plane(&view->shown, SHOWN_PLACE_MEMORY);
}

bool role_view_check(struct role_view *view, const struct pixels *composed, uint64_t now) {
	bool is_frame = view->shown.is_frame;
	if (shown_picture_check(&view->shown, composed)) {
		return true;
	}
	role_refuse(&view->role,
			role_view_is_on_output(view) ? ROLE_REASON_DISPLAY : ROLE_REASON_OFF_OUTPUT,
			now);
	return !is_frame; /* there is nothing better than the fallback */
}

void role_view_read_back(struct role_view *view, const struct pixels *device, uint64_t now) {
	int ret = shown_picture_read_back(&view->shown, device);
	view->history.read_back += ret != 0;
	if (ret >= 0) {
		return;
	}
	view->history.differed++;
	role_refuse(&view->role, ROLE_REASON_DISPLAY, now);
	/* A plane that shows wrong pixels cannot be trusted, least of all with the fallback. */
	shown_picture_release_plane(&view->shown, SHOWN_PLACE_DIFFERED);
}

void role_view_presented(struct role_view *view, uint32_t commit, uint64_t when) {
	if (shown_picture_presented(&view->shown, commit, when) != NULL) {
		history_shown(&view->history, commit, when);
	}
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int role_view_init_reader(
		struct role_view *view, struct wl_event_loop *loop, struct gid_timeline *timeline) {
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
					.rules = work_rules_of_role(config),
					.timeline = timeline,
			},
			&reader_hooks, view, loop);
}

int role_view_init(struct role_view *view, const struct role_config *config, struct screen *screen,
		struct wl_event_loop *loop, struct gid_timeline *timeline) {
	*view = (struct role_view){.config = config, .screen = screen};
	int ret = role_init(&view->role, &config->limits, gid_clock_now());
	if (ret < 0) {
		return ret;
	}
	view->role.changed = handle_changed;
	view->role.data = view;
	struct own_picture *fallback = NULL;
	ret = role_view_init_reader(view, loop, timeline);
	if (ret == 0) {
		ret = own_picture_create_fallback(&fallback, config->fallback, config->picture,
				(uint32_t)config->box.width, (uint32_t)config->box.height);
	}
	if (ret == 0) {
		ret = shown_picture_init(&view->shown, screen, COMPOSITION_SAFETY, &config->box,
				&view->reader, fallback);
	}
	if (ret < 0) {
		role_view_finish(view);
		return ret;
	}
	view->shown.falls_to_last = config->fallback == FALLBACK_LAST;
	shown_picture_set_fallback(&view->shown);
	return 0;
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
	shown_picture_finish(&view->shown);
	stream_reader_finish(&view->reader);
	role_finish(&view->role);
}
