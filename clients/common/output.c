// SPDX-License-Identifier: MIT
#include "output.h"

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "display_connection.h"

/* Outputs beyond so many are not looked at. */
#define OUTPUTS_MAX 32

struct output_search {
	const char *name;
	struct output *outputs[OUTPUTS_MAX], *found;
	size_t count;
	char others[256]; /* the names of the rest */
};

static void output_name(void *data, struct wl_output *base, const char *name) {
	struct output *output = data;
	if (output->named != NULL) {
		output->named(output, name);
	}
}

static void output_geometry(void *data, struct wl_output *base, int32_t x, int32_t y, int32_t width,
		int32_t height, int32_t subpixel, const char *make, const char *model,
		int32_t transform) {
	struct output *output = data;
	output->transform = (uint32_t)transform & 7;
}

static void output_mode(void *data, struct wl_output *output, uint32_t flags, int32_t width,
		int32_t height, int32_t refresh) {
}

static void output_done(void *data, struct wl_output *output) {
}

static void output_scale(void *data, struct wl_output *output, int32_t factor) {
}

static void output_description(void *data, struct wl_output *output, const char *text) {
}

static const struct wl_output_listener output_listener = {
		.geometry = output_geometry,
		.mode = output_mode,
		.done = output_done,
		.scale = output_scale,
		.name = output_name,
		.description = output_description,
};

/* Binds a global if it is an output that can tell its name; else NULL. */
static struct output *output_bind(struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version,
		void (*named)(struct output *output, const char *name), void *data) {
	if (strcmp(interface, wl_output_interface.name) != 0 ||
			version < WL_OUTPUT_NAME_SINCE_VERSION) {
		return NULL;
	}
	struct output *output = calloc(1, sizeof(*output));
	if (output != NULL) {
		output->global = name;
		output->named = named;
		output->data = data;
		wl_list_init(&output->link);
		output->base = wl_registry_bind(
				registry, name, &wl_output_interface, WL_OUTPUT_NAME_SINCE_VERSION);
		wl_output_add_listener(output->base, &output_listener, output);
	}
	return output;
}

void output_release(struct output *output) {
	if (output != NULL) {
		wl_list_remove(&output->link);
		wl_output_release(output->base);
		free(output);
	}
}

/* --- the search ------------------------------------------------------------------------------- */

static void search_named(struct output *output, const char *name) {
	struct output_search *search = output->data;
	size_t used = strlen(search->others);
	if (strcmp(name, search->name) == 0) {
		search->found = output;
	} else {
		snprintf(search->others + used, sizeof(search->others) - used, " %s", name);
	}
}

static void search_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct output_search *search = data;
	if (search->count == OUTPUTS_MAX) {
		return;
	}
	struct output *output =
			output_bind(registry, name, interface, version, search_named, search);
	if (output != NULL) {
		search->outputs[search->count++] = output;
	}
}

static void search_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
}

static const struct wl_registry_listener search_listener = {
		.global = search_global,
		.global_remove = search_global_remove,
};

/* A registry on an event queue of its own, as are all objects made from it. */
static struct wl_registry *get_registry(struct wl_display *display, struct wl_event_queue *queue) {
	struct wl_display *wrapper = wl_proxy_create_wrapper(display);
	wl_proxy_set_queue((struct wl_proxy *)wrapper, queue);
	struct wl_registry *registry = wl_display_get_registry(wrapper);
	wl_proxy_wrapper_destroy(wrapper);
	return registry;
}

/* One round trip for the outputs, one for their names. */
static void search_outputs(struct output_search *search, struct wl_display *display,
		struct wl_event_queue *queue) {
	if (display_roundtrip(display, queue) == 0 && display_roundtrip(display, queue) == 0 &&
			search->found == NULL) {
		warnx("the compositor has no output %s; there is:%s", search->name,
				search->others[0] != '\0' ? search->others : " none with a name");
	}
}

struct output *output_find(struct wl_display *display, const char *name) {
	struct output_search search = {.name = name};
	struct wl_event_queue *queue = wl_display_create_queue(display);
	struct wl_registry *registry = get_registry(display, queue);
	wl_registry_add_listener(registry, &search_listener, &search);
	search_outputs(&search, display, queue);
	for (size_t i = 0; i < search.count; i++) {
		if (search.outputs[i] != search.found) {
			output_release(search.outputs[i]);
		}
	}
	if (search.found != NULL) {
		search.found->named = NULL;
		wl_proxy_set_queue((struct wl_proxy *)search.found->base, NULL);
	}
	wl_registry_destroy(registry);
	wl_event_queue_destroy(queue);
	return search.found;
}

/* --- the watch -------------------------------------------------------------------------------- */

static void watch_named(struct output *output, const char *name) {
	struct output_watch *watch = output->data;
	output->named = NULL;
	if (watch->output == NULL && strcmp(name, watch->name) == 0) {
		wl_list_remove(&output->link);
		wl_list_init(&output->link);
		watch->output = output;
		watch->changed(watch->data);
	} else {
		output_release(output);
	}
}

static void watch_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct output_watch *watch = data;
	if (watch->output != NULL && watch->output->global == name) {
		return;
	}
	struct output *output = output_bind(registry, name, interface, version, watch_named, watch);
	if (output != NULL) {
		wl_list_insert(&watch->asked, &output->link);
	}
}

static void watch_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
	struct output_watch *watch = data;
	struct output *output, *next;
	wl_list_for_each_safe(output, next, &watch->asked, link) {
		if (output->global == name) {
			output_release(output);
		}
	}
	if (watch->output != NULL && watch->output->global == name) {
		output_release(watch->output);
		watch->output = NULL;
		watch->changed(watch->data);
	}
}

static const struct wl_registry_listener watch_listener = {
		.global = watch_global,
		.global_remove = watch_global_remove,
};

void output_watch_init(struct output_watch *watch, struct wl_display *display, const char *name,
		struct output *output, void (*changed)(void *data), void *data) {
	*watch = (struct output_watch){
			.name = name, .output = output, .changed = changed, .data = data};
	wl_list_init(&watch->asked);
	watch->registry = wl_display_get_registry(display);
	wl_registry_add_listener(watch->registry, &watch_listener, watch);
}

void output_watch_finish(struct output_watch *watch) {
	struct output *output, *next;
	if (watch->registry == NULL) {
		return;
	}
	wl_list_for_each_safe(output, next, &watch->asked, link) {
		output_release(output);
	}
	output_release(watch->output);
	wl_registry_destroy(watch->registry);
	*watch = (struct output_watch){0};
}
