// SPDX-License-Identifier: MIT
#include "watch.h"

#include "clock.h"
#include "display.h"
#include <errno.h>
#include <gid/timeline.h>
#include <wlr/util/log.h>

static uint64_t watch_expected(const struct watch *watch) {
	return watch->shown != NULL ? watch->shown->hashes.colour : picture_colour(watch->fallback);
}

/* Shows the frame, or the fallback for NULL. The renderer may not keep what it has uploaded: we do.
 */
static void watch_set_shown(struct watch *watch, struct received *received) {
	struct received *old = watch->shown;
	struct wlr_buffer *buffer =
		received != NULL ? &received->view.base : picture_buffer(watch->fallback);
	if (received != NULL) {
		wlr_buffer_lock(buffer);
	}
	watch->shown = received;
	wlr_scene_buffer_set_buffer(watch->node, buffer);
	if (old != NULL) {
		wlr_buffer_unlock(&old->view.base);
	}
	wlr_scene_buffer_set_dest_size(
		watch->node, watch->config->box.width, watch->config->box.height);
	wlr_scene_buffer_set_transform(watch->node,
		received != NULL ? (enum wl_output_transform)received->frame.transform
				 : WL_OUTPUT_TRANSFORM_NORMAL);
	watch->awaited_commit = display_next_commit(watch->display);
}

static void watch_write_point(
	const struct watch *watch, enum gid_timeline_event event, uint64_t time) {
	const struct gid_frame *frame = &watch->shown->frame;
	gid_timeline_write(watch->timeline,
		&(struct gid_timeline_point){
			.event = event,
			.time = time,
			.gid = frame->gid,
			.stream = watch->config->stream,
			.sequence = frame->sequence,
			.domain = watch->domain,
		});
}

/* --- the fallback ------------------------------------------------------------------------------
 */

/* What the output showed last was checked when it was composed, and is ours: nobody else writes it.
 */
static void watch_keep_last(struct watch *watch) {
	struct picture *last = display_capture(watch->display, &watch->config->box);
	if (last != NULL && picture_colour(last) == watch_expected(watch)) {
		picture_destroy(watch->fallback);
		watch->fallback = last;
	} else {
		picture_destroy(last);
	}
}

static void handle_changed(struct role *role, enum role_state from, void *data) {
	struct watch *watch = data;
	history_transition(&watch->history,
		&(struct transition){
			.from = from,
			.to = role->state,
			.reason = role->reason,
			.decided = role->since,
			.last_frame = role->last_frame,
		});
	wlr_log(role_is_live(role) ? WLR_INFO : WLR_ERROR, "role %s: %s -> %s: %s",
		watch->config->name, role_state_name(from), role_state_name(role->state),
		role_reason_text(role->reason));
	if (from == ROLE_LIVE) {
		if (watch->config->fallback == FALLBACK_LAST && watch->awaited_commit == 0) {
			watch_keep_last(watch);
		}
		watch_set_shown(watch, NULL);
	} else if (!role_is_live(role) && watch->awaited_commit == 0) {
		history_shown(&watch->history, role->since); /* the fallback is there already */
	}
}

/* --- frames ------------------------------------------------------------------------------------
 */

/* The same memory with the same pixels, sent again: nothing to draw, the newer frame is held. */
static bool watch_repeats(const struct watch *watch, struct gid_consumer *consumer,
	const struct gid_frame *frame, const struct pixels *pixels,
	const struct pixel_hashes *hashes) {
	return watch->shown != NULL && watch->shown->consumer == consumer &&
		watch->shown->frame.gid == frame->gid &&
		watch->shown->frame.transform == frame->transform &&
		watch->shown->view.data == pixels->data &&
		watch->shown->hashes.content == hashes->content;
}

static enum role_reason watch_examine(struct watch *watch, const struct gid_frame *frame,
	const struct gid_slab *slab, struct pixels *pixels, struct pixel_hashes *hashes) {
	if (slab == NULL) {
		return ROLE_REASON_MEMORY;
	}
	return received_examine(frame, slab, (uint32_t)watch->config->box.width,
		(uint32_t)watch->config->box.height, pixels, hashes);
}

void watch_frame(struct watch *watch, struct gid_consumer *consumer, const struct gid_frame *frame,
	struct gid_slab *slab, uint64_t now) {
	struct pixels pixels;
	struct pixel_hashes hashes;
	watch->history.frames++;
	enum role_reason reason = watch_examine(watch, frame, slab, &pixels, &hashes);
	bool good = false;
	if (reason != ROLE_REASON_NONE) {
		role_refuse(&watch->role, reason, now);
	} else {
		good = role_frame(&watch->role,
			&(struct role_frame){
				.sequence = frame->sequence,
				.submit_time = frame->submit_time,
				.stated_hash = frame->content_hash,
				.pixel_hash = hashes.content,
				.has_hash = frame->flags & GID_FRAME_HASH,
				.heartbeat = frame->flags & GID_FRAME_HEARTBEAT,
			},
			now);
	}
	watch->history.refused_frames += !good;
	if (good && watch_repeats(watch, consumer, frame, &pixels, &hashes)) {
		struct gid_frame old = watch->shown->frame;
		watch->shown->frame = *frame;
		gid_consumer_release(consumer, &old);
		gid_slab_unref(slab);
		return;
	}
	struct received *received = NULL;
	if (good) {
		received = received_create(&watch->held, consumer, frame, slab, &pixels, &hashes,
			watch->display->renderer);
	}
	if (received != NULL) {
		watch->history.shown_frames++;
		watch->history.sampled_frames += received->view.sampled;
		watch_set_shown(watch, received);
		if (watch->timeline != NULL) {
			watch_write_point(watch, GID_TIMELINE_COMMIT, clock_now());
		}
		wlr_buffer_drop(&received->view.base);
	} else {
		gid_consumer_release(consumer, frame);
		gid_slab_unref(slab);
	}
}

void watch_lost(struct watch *watch, enum role_reason reason, uint64_t now) {
	received_forget_consumer(&watch->held);
	role_lost(&watch->role, reason, now);
}

void watch_tick(struct watch *watch, uint64_t now) {
	role_tick(&watch->role, now);
	if (watch->shown != NULL &&
		!gid_slab_is_current(watch->shown->slab, watch->shown->frame.gid)) {
		role_refuse(&watch->role, ROLE_REASON_TAKEN_BACK, now);
	}
}

/* --- the display -------------------------------------------------------------------------------
 */

bool watch_check(struct watch *watch, const struct pixels *composed, uint64_t now) {
	const struct gid_box *box = &watch->config->box;
	enum role_reason reason = ROLE_REASON_DISPLAY;
	if ((uint32_t)(box->x + box->width) > composed->width ||
		(uint32_t)(box->y + box->height) > composed->height) {
		reason = ROLE_REASON_OFF_OUTPUT;
	} else {
		struct pixels region = pixels_part(composed, (uint32_t)box->x, (uint32_t)box->y,
			(uint32_t)box->width, (uint32_t)box->height);
		struct pixel_hashes hashes;
		if (pixels_hash(&region, &hashes) == 0 && hashes.colour == watch_expected(watch)) {
			return true;
		}
	}
	bool showed_frame = watch->shown != NULL;
	role_refuse(&watch->role, reason, now);
	return !showed_frame; /* there is nothing better than the fallback */
}

void watch_presented(struct watch *watch, uint32_t commit, uint64_t when) {
	if (watch->awaited_commit == 0 || (int32_t)(commit - watch->awaited_commit) < 0) {
		return;
	}
	watch->awaited_commit = 0;
	history_shown(&watch->history, when);
	if (watch->shown != NULL) {
		uint64_t submitted = watch->shown->frame.submit_time;
		samples_add(&watch->history.latency, when > submitted ? when - submitted : 0);
		if (watch->timeline != NULL) {
			watch_write_point(watch, GID_TIMELINE_SHOWN, when);
		}
	}
}

int watch_init(struct watch *watch, const struct role_config *config, struct display *display,
	struct wlr_scene_tree *tree, uint64_t now) {
	*watch = (struct watch){.config = config, .display = display};
	wl_list_init(&watch->held);
	int ret = role_init(&watch->role, &config->limits, now);
	if (ret < 0) {
		return ret;
	}
	watch->role.changed = handle_changed;
	watch->role.data = watch;
	ret = picture_create(&watch->fallback, config);
	if (ret < 0) {
		goto error_role;
	}
	watch->node = wlr_scene_buffer_create(tree, NULL);
	if (watch->node == NULL) {
		ret = -ENOMEM;
		goto error_picture;
	}
	wlr_scene_node_set_position(&watch->node->node, config->box.x, config->box.y);
	watch_set_shown(watch, NULL);
	return 0;

error_picture:
	picture_destroy(watch->fallback);
error_role:
	role_finish(&watch->role);
	return ret;
}

void watch_finish(struct watch *watch) {
	received_forget_consumer(&watch->held);
	watch_set_shown(watch, NULL);
	wlr_scene_node_destroy(&watch->node->node);
	picture_destroy(watch->fallback);
	role_finish(&watch->role);
}
