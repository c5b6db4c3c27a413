// SPDX-License-Identifier: MIT
#include "output.h"

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "display_connection.h"

#define OTHERS_SIZE 256

/* --- one of them ------------------------------------------------------------------------------ */

static void watch_named(struct output_watch *watch, struct output *output, const char *name);

static void output_name(void *data, struct wl_output *base, const char *name) {
	struct output *output = data;
	if (!output->is_named) {
		output->is_named = true;
		watch_named(output->watch, output, name);
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

static void output_create(struct output_watch *watch, uint32_t name) {
	struct output *output = calloc(1, sizeof(*output));
	if (output != NULL) {
		output->watch = watch;
		output->global = name;
		output->base = wl_registry_bind(watch->registry, name, &wl_output_interface,
				WL_OUTPUT_NAME_SINCE_VERSION);
		wl_output_add_listener(output->base, &output_listener, output);
		wl_list_insert(&watch->asked, &output->link);
	}
}

static void output_release(struct output *output) {
	if (output != NULL) {
		wl_list_remove(&output->link);
		wl_output_release(output->base);
		free(output);
	}
}

/* --- the watch -------------------------------------------------------------------------------- */

static void watch_set(struct output_watch *watch, struct output *output) {
	watch->output = output;
	if (watch->changed != NULL) {
		watch->changed(watch->data);
	}
}

static void watch_named(struct output_watch *watch, struct output *output, const char *name) {
	if (watch->output == NULL && strcmp(name, watch->name) == 0) {
		wl_list_remove(&output->link);
		wl_list_init(&output->link);
		watch_set(watch, output);
		return;
	}
	if (watch->others != NULL) {
		size_t used = strlen(watch->others);
		snprintf(watch->others + used, OTHERS_SIZE - used, " %s", name);
	}
	output_release(output);
}

static void watch_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	if (strcmp(interface, wl_output_interface.name) == 0 &&
			version >= WL_OUTPUT_NAME_SINCE_VERSION) {
		output_create(data, name);
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
		watch_set(watch, NULL);
	}
}

static const struct wl_registry_listener watch_listener = {
		.global = watch_global,
		.global_remove = watch_global_remove,
};

static void set_queue(void *proxy, struct wl_event_queue *queue) {
	wl_proxy_set_queue(proxy, queue);
}

/* From now on events come with all others. Those of the queue have been dispatched. */
static void watch_leave_queue(const struct output_watch *watch) {
	const struct output *output;
	wl_list_for_each(output, &watch->asked, link) {
		set_queue(output->base, NULL);
	}
	set_queue(watch->output->base, NULL);
	set_queue(watch->registry, NULL);
}

/* One round trip for the outputs, one for their names. Returns whether it is there. */
static bool watch_search(struct output_watch *watch, struct wl_display *display,
		struct wl_event_queue *queue) {
	char others[OTHERS_SIZE] = "";
	watch->others = others;
	bool answered = display_roundtrip(display, queue) == 0 &&
			display_roundtrip(display, queue) == 0;
	watch->others = NULL;
	if (answered && watch->output == NULL) {
		warnx("the compositor has no output %s; there is:%s", watch->name,
				others[0] != '\0' ? others : " none with a name");
	}
	return answered && watch->output != NULL;
}

/* The registry is that of the search, so that no event between that and the watch is missed. */
int output_watch_init(struct output_watch *watch, struct wl_display *display, const char *name,
		void (*changed)(void *data), void *data) {
	struct wl_event_queue *queue = wl_display_create_queue(display);
	struct wl_display *wrapper = wl_proxy_create_wrapper(display);
	*watch = (struct output_watch){.name = name, .data = data};
	wl_list_init(&watch->asked);
	set_queue(wrapper, queue);
	watch->registry = wl_display_get_registry(wrapper);
	wl_proxy_wrapper_destroy(wrapper);
	wl_registry_add_listener(watch->registry, &watch_listener, watch);
	bool found = watch_search(watch, display, queue);
	if (found) {
		watch_leave_queue(watch);
		watch->changed = changed;
	} else {
		output_watch_finish(watch);
	}
	wl_event_queue_destroy(queue);
	return found ? 0 : -1;
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
