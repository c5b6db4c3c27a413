// SPDX-License-Identifier: MIT
#include "virtual_output.h"

#include <libweston/backend-headless.h>
#include <libweston/windowed-output-api.h>
#include <stdlib.h>
#include <string.h>

#define REFRESH_DEFAULT_MHZ 60000

static bool is_headless(struct weston_backend *backend) {
	return backend != NULL && weston_get_backend_type(backend) == WESTON_BACKEND_HEADLESS;
}

/*
 * Returns the backend that Weston was started with; NULL: it has none, or none that can be found.
 */
static struct weston_backend *find_backend(struct weston_compositor *compositor) {
	if (is_headless(compositor->primary_backend)) {
		return compositor->primary_backend;
	}
	struct weston_head *head = NULL;
	while ((head = weston_compositor_iterate_heads(compositor, head)) != NULL) {
		if (is_headless(head->backend)) {
			return head->backend;
		}
	}
	return NULL;
}

/* It uses the renderer that Weston already has. */
static struct weston_backend *load_backend(struct weston_compositor *compositor) {
	struct weston_headless_backend_config config = {
			.base.struct_version = WESTON_HEADLESS_BACKEND_CONFIG_VERSION,
			.base.struct_size = sizeof(config),
			.renderer = WESTON_RENDERER_AUTO,
			.refresh = REFRESH_DEFAULT_MHZ,
	};
	return weston_compositor_load_backend(compositor, WESTON_BACKEND_HEADLESS, &config.base);
}

static struct weston_head *find_head(struct weston_compositor *compositor, const char *name) {
	struct weston_head *head = NULL;
	while ((head = weston_compositor_iterate_heads(compositor, head)) != NULL) {
		if (strcmp(weston_head_get_name(head), name) == 0) {
			break;
		}
	}
	return head;
}

/* The right end of the row of outputs. */
static struct weston_coord_global find_place(struct weston_compositor *compositor) {
	struct weston_coord_global place = {.c = weston_coord(0, 0)};
	const struct weston_output *output;
	wl_list_for_each(output, &compositor->output_list, link) {
		if (output->pos.c.x + output->width > place.c.x) {
			place.c.x = output->pos.c.x + output->width;
		}
	}
	return place;
}

/* --- resizing --------------------------------------------------------------------------------- */

/*
 * The headless backend creates its timer, and the memory that it draws into, for the size that the
 * output has when it is enabled. This can be repeated, and windows do not notice.
 */
static bool backend_make_again(struct weston_output *output, int32_t width, int32_t height) {
	output->disable(output);
	output->current_mode->width = width;
	output->current_mode->height = height;
	return output->enable(output) == 0;
}

static int handle_switch_mode(struct weston_output *output, struct weston_mode *mode) {
	int32_t width = output->current_mode->width, height = output->current_mode->height;
	bool done = backend_make_again(output, mode->width, mode->height);
	if (!done) {
		weston_log("gid: output %s: no memory for %dx%d\n", output->name, mode->width,
				mode->height);
		if (!backend_make_again(output, width, height)) {
			weston_log("gid: output %s: nor for what it was\n", output->name);
			weston_compositor_exit_with_code(output->compositor, EXIT_FAILURE);
			return -1;
		}
	}
	if (output->repaint_status == REPAINT_AWAITING_COMPLETION) {
		output->start_repaint_loop(
				output); /* the timer that would have ended the frame is gone */
	}
	return done ? 0 : -1;
}

void virtual_output_resize(struct weston_output *output, struct weston_mode *mode, int32_t scale) {
	weston_output_mode_set_native(output, mode, scale);
}

/* --- creation --------------------------------------------------------------------------------- */

static bool output_configure(struct weston_output *output,
		const struct weston_windowed_output_api *api, const struct output_config *config) {
	weston_output_set_scale(output, config->scale);
	weston_output_set_transform(output, WL_OUTPUT_TRANSFORM_NORMAL);
	if (api->output_set_size(output, config->width / config->scale,
			    config->height / config->scale) < 0) {
		return false;
	}
	/* Weston's --refresh-rate= is for its own headless outputs. */
	output->current_mode->refresh =
			(config->refresh_mhz != 0 ? config->refresh_mhz : REFRESH_DEFAULT_MHZ);
	output->repaint_only_on_capture = false;
	output->switch_mode = handle_switch_mode;
	output->pos = find_place(output->compositor);
	return weston_output_enable(output) == 0;
}

struct weston_output *virtual_output_create(
		struct weston_compositor *compositor, const struct output_config *config) {
	if (find_head(compositor, config->name) != NULL) {
		config_mistake(&config->place, "name",
				"name=%s: Weston has an output of that name: choose another one, "
				"or write mirror=%s",
				config->name, config->name);
		return NULL;
	}
	struct weston_backend *backend = find_backend(compositor);
	if (backend == NULL) {
		backend = load_backend(compositor);
	}
	const struct weston_windowed_output_api *api =
			weston_windowed_output_get_api(compositor, WESTON_WINDOWED_OUTPUT_HEADLESS);
	if (backend == NULL || api == NULL || api->create_head(backend, config->name) < 0) {
		weston_log("gid: output %s: Weston's headless backend, which makes it, cannot be "
			   "loaded\n",
				config->name);
		return NULL;
	}
	/* Immediately: later Weston enables outputs itself, as [output] says. */
	struct weston_head *head = find_head(compositor, config->name);
	struct weston_output *output =
			weston_compositor_create_output(compositor, head, config->name);
	if (output == NULL || !output_configure(output, api, config)) {
		weston_log("gid: output %s: Weston cannot make it\n", config->name);
		if (output != NULL) {
			weston_output_destroy(output);
		}
		return NULL;
	}
	weston_head_reset_device_changed(head);
	return output;
}
