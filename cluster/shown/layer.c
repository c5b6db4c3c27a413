// SPDX-License-Identifier: MIT
#include "layer.h"

#include <errno.h>
#include <wlr/util/log.h>

#include "screen.h"
#include "work_bound.h"

/* How long a picture may wait for the device that draws it. */
#define UNDRAWN_NS UINT64_C(1000000000)

const char *layer_state_name(enum layer_state state) {
	static const char *const names[] = {
			[LAYER_WAITING] = "waiting",
			[LAYER_LIVE] = "live",
			[LAYER_STALE] = "stale",
			[LAYER_HIDDEN] = "hidden",
	};
	return names[state];
}

/* --- state ------------------------------------------------------------------------------------ */

static void layer_mark(struct layer *layer, bool old) {
	if (old) {
		shown_picture_set_fallback(&layer->shown);
	}
	part_veil(layer->shown.part, old && layer->config->fallback == FALLBACK_GREY);
}

static void layer_log(struct layer *layer, enum layer_state from) {
	if (seldom_log_may(&layer->log_budget, WLR_INFO, "layer", layer->config->name,
			    layer->since)) {
		wlr_log(WLR_INFO, "layer %s: %s -> %s: %s", layer->config->name,
				layer_state_name(from), layer_state_name(layer->state),
				layer->reason);
	}
}

static void layer_enter(
		struct layer *layer, enum layer_state state, const char *reason, uint64_t now) {
	enum layer_state from = layer->state;
	layer->reason = reason;
	if (state == from) {
		return;
	}
	layer->state = state;
	layer->since = now;
	layer_mark(layer, state == LAYER_STALE);
	if (state == LAYER_HIDDEN) {
		part_show(layer->shown.part, false); /* until there is another picture */
	}
	layer_log(layer, from);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The place of the frame's visible part within the layer's box. */
static struct gid_box layer_find_place(
		const struct layer_config *config, const struct examination *of) {
	const struct gid_layout *layout = &of->slab.layout;
	struct gid_box seen;
	/* The examiner has checked the crop. */
	(void)gid_box_get_seen(of->frame.crop, layout->width, layout->height, &seen);
	seen = gid_box_turn(seen, layout->width, layout->height, of->frame.transform);
	return fit_place(config->fit, (uint32_t)seen.width, (uint32_t)seen.height,
			(uint32_t)config->box.width, (uint32_t)config->box.height);
}

static bool handle_examined(
		void *data, const struct examination *of, struct gid_slab *slab, uint64_t now) {
	struct layer *layer = data;
	layer->frames++;
	if (of->reason != ROLE_REASON_NONE) {
		layer->refused_frames++;
		layer->refused = role_reason_name(of->reason);
		return false;
	}
	layer->shown_frames++;
	layer->last_frame = now;
	layer->over = NULL;
	layer->place = layer_find_place(layer->config, of);
	layer_enter(layer, LAYER_LIVE, "none", now);
	return shown_picture_set_frame(&layer->shown, of, NULL);
}

static void handle_absent(void *data, const struct gid_frame *frame, uint64_t now) {
	struct layer *layer = data;
	if (frame->flags & GID_FRAME_EOS) {
		layer->over = "ended";
	} else if (layer->state != LAYER_WAITING) {
		layer_enter(layer, LAYER_HIDDEN, "hidden", now);
	}
}

static void handle_disconnected(void *data, int reason, uint64_t now) {
	struct layer *layer = data;
	layer->over = reason == 0 ? "ended" : reason == -EPROTO ? "protocol" : "died";
}

static const struct stream_reader_hooks reader_hooks = {
		.examined = handle_examined,
		.absent = handle_absent,
		.disconnected = handle_disconnected,
};

void layer_tick(struct layer *layer, uint64_t now) {
	uint64_t limit = layer->config->deadline_ns, age = now - layer->last_frame;
	if (layer->state != LAYER_LIVE || age <= limit) {
		return;
	}
	if (layer->over != NULL) {
		layer_enter(layer, LAYER_STALE, layer->over, now);
	} else if (limit > 0) {
		layer_enter(layer, LAYER_STALE, "deadline", now);
	}
}

void layer_presented(struct layer *layer, uint32_t commit, uint64_t when) {
	const struct given_picture *given = shown_picture_presented(&layer->shown, commit, when);
	if (given == NULL || !given->is_frame) {
		return;
	}
	struct gid_consumer *consumer = layer->reader.consumer;
	if (consumer != NULL && layer->over == NULL && gid_consumer_wants_shown(consumer)) {
		gid_consumer_tell_shown(consumer,
				&(struct gid_shown){
						.sequence = given->frame.sequence,
						.time = when,
						.refresh_ns = screen_refresh_ns(layer->screen),
						.window_ns = screen_window_ns(layer->screen),
				});
	}
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int layer_init_reader(
		struct layer *layer, struct wl_event_loop *loop, struct gid_timeline *timeline) {
	const struct layer_config *config = layer->config;
	return stream_reader_init(&layer->reader,
			&(struct stream_reader_config){
					.kind = "layer",
					.name = config->name,
					.domain = config->domain,
					.stream = config->stream,
					.undrawn_ns = UNDRAWN_NS,
					.asks_again = true,
					.width = (uint32_t)config->box.width,
					.height = (uint32_t)config->box.height,
					.rules = work_rules_of_layer(config),
					.timeline = timeline,
			},
			&reader_hooks, layer, loop);
}

static bool has_picture(enum fallback fallback) {
	return fallback != FALLBACK_GREY && fallback != FALLBACK_LAST;
}

/* The new layer is above those created before it. Returns as layer_init() does. */
static int layer_init_picture(struct layer *layer) {
	const struct layer_config *config = layer->config;
	const struct gid_box *box = &config->box;
	struct own_picture *fallback = NULL;
	if (has_picture(config->fallback)) {
		int error = own_picture_create_fallback(&fallback, config->fallback,
				config->picture, (uint32_t)box->width, (uint32_t)box->height);
		if (error < 0) {
			return error;
		}
	}
	int error = shown_picture_init(&layer->shown, layer->screen, COMPOSITION_LAYERS, box,
			&layer->reader, fallback);
	if (error < 0) {
		return error;
	}
	layer_mark(layer, fallback != NULL);
	return 0;
}

int layer_init(struct layer *layer, const struct layer_config *config, struct screen *screen,
		struct wl_event_loop *loop, struct gid_timeline *timeline) {
	*layer = (struct layer){
			.config = config,
			.screen = screen,
			.reason = "starting",
			.refused = "",
			.since = gid_clock_now(),
	};
	int ret = layer_init_reader(layer, loop, timeline);
	if (ret == 0) {
		ret = layer_init_picture(layer);
	}
	if (ret < 0) {
		layer_finish(layer);
	}
	return ret;
}

void layer_finish(struct layer *layer) {
	shown_picture_finish(&layer->shown);
	stream_reader_finish(&layer->reader);
}
