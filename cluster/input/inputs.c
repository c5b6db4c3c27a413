// SPDX-License-Identifier: MIT
#include "inputs.h"

#include <errno.h>

/* --- targets: roles before layers, the topmost of each first ---------------------------------- */

static size_t index_of_role(const struct inputs_shown *shown, size_t role) {
	return shown->role_count - 1 - role;
}

static size_t index_of_layer(const struct inputs_shown *shown, size_t layer) {
	return shown->role_count + shown->layer_count - 1 - layer;
}

static struct input_target target_of_role(const struct role_view *view) {
	return (struct input_target){
			.takes = view->config->takes,
			.screen = view->screen,
			.box = view->config->box,
			.covers = true,
			.is_live = role_is_live(&view->role) && view->shown.is_frame,
			.picture = view->config->box,
	};
}

static struct input_target target_of_layer(const struct layer *layer) {
	const struct gid_box *box = &layer->config->box, *place = &layer->place;
	bool stands_in = layer->state == LAYER_WAITING && layer->shown.fallback != NULL;
	return (struct input_target){
			.takes = layer->config->takes,
			.screen = layer->screen,
			.box = *box,
			.covers = layer->state == LAYER_LIVE || layer->state == LAYER_STALE ||
					stands_in,
			.is_live = layer->state == LAYER_LIVE && layer->shown.is_frame,
			.picture = {box->x + place->x, box->y + place->y, place->width,
					place->height},
	};
}

static void describe(void *data, size_t index, struct input_target *target) {
	const struct inputs *inputs = data;
	const struct inputs_shown *shown = &inputs->shown;
	if (index < shown->role_count) {
		*target = target_of_role(&shown->roles[shown->role_count - 1 - index]);
	} else {
		size_t above = index - shown->role_count;
		*target = target_of_layer(&shown->layers[shown->layer_count - 1 - above]);
	}
}

static void post(void *data, size_t index, const struct input_record *event) {
	const struct inputs *inputs = data;
	input_outlet_post(inputs->outlet, index, event);
}

static void release(void *data, size_t index) {
	const struct inputs *inputs = data;
	input_outlet_release(inputs->outlet, index);
}

static const struct input_router_hooks router_hooks = {
		.describe = describe, .post = post, .release = release};

/* --- all -------------------------------------------------------------------------------------- */

void inputs_tick(struct inputs *inputs) {
	if (inputs->outlet != NULL) {
		input_router_tick(&inputs->router);
		input_outlet_alive(inputs->outlet);
	}
}

static struct input_outlet_stats stats_of(const struct inputs *inputs, size_t index) {
	return inputs->outlet != NULL ? input_outlet_get_stats(inputs->outlet, index)
				      : (struct input_outlet_stats){0};
}

struct input_outlet_stats inputs_of_role(const struct inputs *inputs, size_t role) {
	return stats_of(inputs, index_of_role(&inputs->shown, role));
}

struct input_outlet_stats inputs_of_layer(const struct inputs *inputs, size_t layer) {
	return stats_of(inputs, index_of_layer(&inputs->shown, layer));
}

static struct input_outlet *create_outlet(const struct inputs_shown *shown, const char *domain) {
	struct input_outlet_stream streams[INPUT_TARGETS_MAX];
	for (size_t i = 0; i < shown->role_count; i++) {
		const struct role_config *role = shown->roles[i].config;
		streams[index_of_role(shown, i)] =
				(struct input_outlet_stream){role->stream, role->takes};
	}
	for (size_t i = 0; i < shown->layer_count; i++) {
		const struct layer_config *layer = shown->layers[i].config;
		streams[index_of_layer(shown, i)] =
				(struct input_outlet_stream){layer->stream, layer->takes};
	}
	return input_outlet_create(domain, streams, shown->role_count + shown->layer_count);
}

int inputs_init(struct inputs *inputs, const struct inputs_shown *shown, struct display *display,
		const char *domain) {
	*inputs = (struct inputs){.shown = *shown};
	uint32_t takes = cluster_config_takes(display->config);
	if (takes == 0) {
		return 0;
	}
	inputs->outlet = create_outlet(shown, domain);
	if (inputs->outlet == NULL) {
		return -ENOMEM;
	}
	input_router_init(&inputs->router, shown->role_count + shown->layer_count, &router_hooks,
			inputs);
	panels_init(&inputs->panels, display, &inputs->router, takes);
	return 0;
}

void inputs_finish(struct inputs *inputs) {
	panels_finish(&inputs->panels);
	input_outlet_destroy(inputs->outlet);
	*inputs = (struct inputs){0};
}
