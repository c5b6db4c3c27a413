// SPDX-License-Identifier: MIT
#include "canvases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "requester.h"

void canvases_init(struct canvases *canvases, const char *domain) {
	*canvases = (struct canvases){.domain = domain};
}

static bool is_same(const struct canvas_config *one, const struct canvas_config *other) {
	return strcmp(one->name, other->name) == 0 && strcmp(one->domain, other->domain) == 0 &&
			one->memory == other->memory && one->slots == other->slots &&
			one->pixels_per_second == other->pixels_per_second &&
			one->list_ns == other->list_ns && one->lease_ns == other->lease_ns &&
			one->realtime == other->realtime && one->back_end == other->back_end;
}

/* Moves the threads of unchanged canvases to the new configuration. */
static void reuse(struct canvases *canvases, const struct engine_config *config,
		struct requester **requesters) {
	const struct engine_config *old = &canvases->config;
	if (old->spin_us != config->spin_us || old->helpers != config->helpers) {
		return;
	}
	for (size_t i = 0; i < config->canvas_count; i++) {
		for (size_t k = 0; k < old->canvas_count; k++) {
			if (canvases->requesters[k] != NULL &&
					is_same(&old->canvases[k], &config->canvases[i])) {
				requesters[i] = canvases->requesters[k];
				canvases->requesters[k] = NULL;
			}
		}
	}
}

/* Ends the others, all at the same time. */
static void end_all(struct canvases *canvases) {
	for (size_t i = 0; i < canvases->config.canvas_count; i++) {
		if (canvases->requesters[i] != NULL) {
			requester_end(canvases->requesters[i]);
		}
	}
	for (size_t i = 0; i < canvases->config.canvas_count; i++) {
		if (canvases->requesters[i] != NULL) {
			requester_join(canvases->requesters[i]);
		}
	}
}

int canvases_apply(struct canvases *canvases, struct engine_config *config) {
	struct requester **requesters = calloc(config->canvas_count, sizeof(*requesters));
	if (requesters == NULL) {
		return -ENOMEM;
	}
	reuse(canvases, config, requesters);
	end_all(canvases);
	int started = 0, ret = 0;
	if (canvases->config.helpers != config->helpers) { /* no thread uses them any more */
		helpers_destroy(canvases->helpers);
		ret = helpers_create(&canvases->helpers, config->helpers);
	}
	engine_config_finish(&canvases->config);
	free(canvases->requesters);
	canvases->requesters = requesters;
	canvases->config = *config;
	*config = (struct engine_config){0};
	for (size_t i = 0; i < canvases->config.canvas_count; i++) {
		if (requesters[i] != NULL) {
			continue;
		}
		int error = requester_start(&requesters[i], &canvases->config.canvases[i],
				canvases->domain, canvases->config.spin_us, canvases->helpers);
		ret = error < 0 ? error : ret;
		started += error == 0;
	}
	return ret < 0 ? ret : started;
}

void canvases_finish(struct canvases *canvases) {
	end_all(canvases);
	helpers_destroy(canvases->helpers);
	free(canvases->requesters);
	engine_config_finish(&canvases->config);
}
