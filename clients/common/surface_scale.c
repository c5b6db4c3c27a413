// SPDX-License-Identifier: MIT
#include "surface_scale.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fractional-scale-v1-client-protocol.h"

#define SCALE_MAX (16 * SURFACE_SCALE_ONE)
#define OUTPUT_VERSION_MIN 2u /* has a scale */
#define OUTPUT_VERSION_MAX 3u /* can be released */

struct scale_output {
	struct wl_list link; // surface_scale.outputs
	struct surface_scale *scale;
	struct wl_output *base;
	uint32_t global;
	int32_t factor;
	bool entered; // by the surface
};

static void scale_set(struct surface_scale *scale, int32_t value) {
	if (value > 0 && value <= SCALE_MAX && value != scale->value) {
		scale->value = value;
		scale->changed(scale->data);
	}
}

/* Takes the largest scale of the outputs that the surface is on. On none it keeps the last one. */
static void scale_look(struct surface_scale *scale) {
	const struct scale_output *output;
	int32_t most = 0;
	wl_list_for_each(output, &scale->outputs, link) {
		most = output->entered && output->factor > most ? output->factor : most;
	}
	if (scale->preferred == NULL && most <= SCALE_MAX / SURFACE_SCALE_ONE) {
		scale_set(scale, most * SURFACE_SCALE_ONE);
	}
}

/* --- outputs ---------------------------------------------------------------------------------- */

static void output_geometry(void *data, struct wl_output *base, int32_t x, int32_t y, int32_t width,
		int32_t height, int32_t subpixel, const char *make, const char *model,
		int32_t transform) {
}

static void output_mode(void *data, struct wl_output *base, uint32_t flags, int32_t width,
		int32_t height, int32_t refresh) {
}

static void output_done(void *data, struct wl_output *base) {
	struct scale_output *output = data;
	scale_look(output->scale);
}

static void output_scale(void *data, struct wl_output *base, int32_t factor) {
	struct scale_output *output = data;
	output->factor = factor;
}

static const struct wl_output_listener output_listener = {
		.geometry = output_geometry,
		.mode = output_mode,
		.done = output_done,
		.scale = output_scale,
};

static void output_add(struct surface_scale *scale, uint32_t name, struct wl_registry *registry,
		uint32_t version) {
	struct scale_output *output = calloc(1, sizeof(*output));
	if (output == NULL) {
		return;
	}
	output->scale = scale;
	output->global = name;
	output->factor = 1;
	output->base = wl_registry_bind(registry, name, &wl_output_interface,
			version < OUTPUT_VERSION_MAX ? version : OUTPUT_VERSION_MAX);
	wl_output_add_listener(output->base, &output_listener, output);
	wl_list_insert(&scale->outputs, &output->link);
}

static void output_remove(struct scale_output *output) {
	wl_list_remove(&output->link);
	if (wl_output_get_version(output->base) >= WL_OUTPUT_RELEASE_SINCE_VERSION) {
		wl_output_release(output->base);
	} else {
		wl_output_destroy(output->base);
	}
	free(output);
}

/* --- the surface ------------------------------------------------------------------------------ */

static void surface_is_on(struct surface_scale *scale, const struct wl_output *base, bool entered) {
	struct scale_output *output;
	wl_list_for_each(output, &scale->outputs, link) {
		output->entered = output->base == base ? entered : output->entered;
	}
	scale_look(scale);
}

static void surface_enter(void *data, struct wl_surface *surface, struct wl_output *output) {
	surface_is_on(data, output, true);
}

static void surface_leave(void *data, struct wl_surface *surface, struct wl_output *output) {
	surface_is_on(data, output, false);
}

static const struct wl_surface_listener surface_listener = {
		.enter = surface_enter,
		.leave = surface_leave,
};

static void preferred_scale(void *data, struct wp_fractional_scale_v1 *preferred, uint32_t value) {
	scale_set(data, value <= SCALE_MAX ? (int32_t)value : 0);
}

static const struct wp_fractional_scale_v1_listener preferred_listener = {
		.preferred_scale = preferred_scale,
};

/* --- globals ---------------------------------------------------------------------------------- */

static void scale_use_manager(struct surface_scale *scale) {
	scale->preferred = wp_fractional_scale_manager_v1_get_fractional_scale(
			scale->manager, scale->surface);
	wp_fractional_scale_v1_add_listener(scale->preferred, &preferred_listener, scale);
}

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct surface_scale *scale = data;
	if (strcmp(interface, wl_output_interface.name) == 0 && version >= OUTPUT_VERSION_MIN) {
		output_add(scale, name, registry, version);
	}
	if (strcmp(interface, wp_fractional_scale_manager_v1_interface.name) == 0 &&
			scale->manager == NULL) {
		scale->manager = wl_registry_bind(
				registry, name, &wp_fractional_scale_manager_v1_interface, 1);
		scale_use_manager(scale);
	}
}

static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
	struct surface_scale *scale = data;
	struct scale_output *output, *next;
	wl_list_for_each_safe(output, next, &scale->outputs, link) {
		if (output->global == name) {
			output_remove(output);
			scale_look(scale);
		}
	}
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

/* --- life ------------------------------------------------------------------------------------- */

void surface_scale_init(struct surface_scale *scale, struct wl_display *display,
		struct wl_surface *surface, void (*changed)(void *data), void *data) {
	*scale = (struct surface_scale){.value = SURFACE_SCALE_ONE,
			.surface = surface,
			.changed = changed,
			.data = data};
	wl_list_init(&scale->outputs);
	wl_surface_add_listener(surface, &surface_listener, scale);
	scale->registry = wl_display_get_registry(display);
	wl_registry_add_listener(scale->registry, &registry_listener, scale);
}

void surface_scale_finish(struct surface_scale *scale) {
	struct scale_output *output, *next;
	if (scale->registry == NULL) {
		return;
	}
	wl_list_for_each_safe(output, next, &scale->outputs, link) {
		output_remove(output);
	}
	if (scale->preferred != NULL) {
		wp_fractional_scale_v1_destroy(scale->preferred);
	}
	if (scale->manager != NULL) {
		wp_fractional_scale_manager_v1_destroy(scale->manager);
	}
	wl_registry_destroy(scale->registry);
	*scale = (struct surface_scale){0};
}

static int32_t scaled(int32_t length, int32_t by, int32_t of) {
	return (int32_t)(((int64_t)length * by + of / 2) / of);
}

int32_t surface_scale_to_pixels(const struct surface_scale *scale, int32_t length) {
	return scale->value > 0 ? scaled(length, scale->value, SURFACE_SCALE_ONE) : length;
}

int32_t surface_scale_from_pixels(const struct surface_scale *scale, int32_t pixels) {
	return scale->value > 0 ? scaled(pixels, SURFACE_SCALE_ONE, scale->value) : pixels;
}
