// SPDX-License-Identifier: MIT
#include "screens.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/display_connection.h"
#include "common/globals.h"
#include "ext-foreign-toplevel-list-v1-client-protocol.h"
#include "ext-image-capture-source-v1-client-protocol.h"
#include "ext-image-copy-capture-v1-client-protocol.h"
#include "weston-output-capture-client-protocol.h"
#include "wlr-screencopy-unstable-v1-client-protocol.h"

static bool is_text(const char *text, const char *words) {
	return text != NULL && strcmp(text, words) == 0;
}

static void replace_text(char **text, const char *by) {
	free(*text);
	*text = strdup(by);
}

/* --- outputs ---------------------------------------------------------------------------------- */

static void output_geometry(void *data, struct wl_output *object, int32_t x, int32_t y,
		int32_t width, int32_t height, int32_t subpixel, const char *make,
		const char *model, int32_t transform) {
	struct screens_output *output = data;
	output->transform = (uint32_t)transform & 7;
}

static void output_mode(void *data, struct wl_output *object, uint32_t flags, int32_t width,
		int32_t height, int32_t refresh) {
	struct screens_output *output = data;
	if (flags & WL_OUTPUT_MODE_CURRENT) {
		output->width = width;
		output->height = height;
	}
}

static void output_done(void *data, struct wl_output *object) {
	struct screens_output *output = data;
	const struct screens *screens = output->screens;
	if (screens->output_there != NULL) {
		screens->output_there(screens->data, output);
	}
}

static void output_scale(void *data, struct wl_output *output, int32_t factor) {
}

static void output_name(void *data, struct wl_output *object, const char *name) {
	struct screens_output *output = data;
	replace_text(&output->name, name);
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

static void output_add(struct screens *screens, uint32_t global, uint32_t version) {
	struct screens_output *output = calloc(1, sizeof(*output));
	if (output == NULL) {
		return;
	}
	output->screens = screens;
	output->global = global;
	output->output = wl_registry_bind(screens->registry, global, &wl_output_interface,
			version < WL_OUTPUT_NAME_SINCE_VERSION ? 1 : WL_OUTPUT_NAME_SINCE_VERSION);
	wl_output_add_listener(output->output, &output_listener, output);
	wl_list_insert(screens->outputs.prev, &output->link);
}

static void output_destroy(struct screens_output *output) {
	wl_list_remove(&output->link);
	if (wl_output_get_version(output->output) >= WL_OUTPUT_RELEASE_SINCE_VERSION) {
		wl_output_release(output->output);
	} else {
		wl_output_destroy(output->output);
	}
	free(output->name);
	free(output);
}

/* --- windows ---------------------------------------------------------------------------------- */

static void window_destroy(struct screens_window *window) {
	wl_list_remove(&window->link);
	ext_foreign_toplevel_handle_v1_destroy(window->handle);
	free(window->identifier);
	free(window->app_id);
	free(window->title);
	free(window);
}

/* A capture of it reports the end by itself. */
static void window_closed(void *data, struct ext_foreign_toplevel_handle_v1 *handle) {
	struct screens_window *window = data;
	const struct screens *screens = window->screens;
	if (screens->window_gone != NULL) {
		screens->window_gone(screens->data, window);
	}
	window_destroy(window);
}

static void window_done(void *data, struct ext_foreign_toplevel_handle_v1 *handle) {
	struct screens_window *window = data;
	const struct screens *screens = window->screens;
	if (window->renamed && screens->window_named != NULL) {
		screens->window_named(screens->data, window);
	}
	window->renamed = false;
}

static void window_title(
		void *data, struct ext_foreign_toplevel_handle_v1 *handle, const char *title) {
	struct screens_window *window = data;
	window->renamed |= !is_text(window->title, title);
	replace_text(&window->title, title);
}

static void window_app_id(
		void *data, struct ext_foreign_toplevel_handle_v1 *handle, const char *app_id) {
	struct screens_window *window = data;
	window->renamed |= !is_text(window->app_id, app_id);
	replace_text(&window->app_id, app_id);
}

static void window_identifier(
		void *data, struct ext_foreign_toplevel_handle_v1 *handle, const char *identifier) {
	struct screens_window *window = data;
	replace_text(&window->identifier, identifier);
}

static const struct ext_foreign_toplevel_handle_v1_listener window_listener = {
		.closed = window_closed,
		.done = window_done,
		.title = window_title,
		.app_id = window_app_id,
		.identifier = window_identifier,
};

static void window_list_toplevel(void *data, struct ext_foreign_toplevel_list_v1 *list,
		struct ext_foreign_toplevel_handle_v1 *handle) {
	struct screens *screens = data;
	struct screens_window *window = calloc(1, sizeof(*window));
	if (window == NULL) {
		ext_foreign_toplevel_handle_v1_destroy(handle);
		return;
	}
	window->screens = screens;
	window->handle = handle;
	ext_foreign_toplevel_handle_v1_add_listener(handle, &window_listener, window);
	wl_list_insert(screens->windows.prev, &window->link);
}

static void window_list_finished(void *data, struct ext_foreign_toplevel_list_v1 *list) {
}

static const struct ext_foreign_toplevel_list_v1_listener window_list_listener = {
		.toplevel = window_list_toplevel,
		.finished = window_list_finished,
};

/* --- globals ---------------------------------------------------------------------------------- */

#define MEMBER(member) offsetof(struct screens, member)

static const struct global_row rows[] = {
		{&wl_shm_interface, 1, MEMBER(shm)},
		{&ext_image_copy_capture_manager_v1_interface, 1, MEMBER(image_copy)},
		{&ext_output_image_capture_source_manager_v1_interface, 1, MEMBER(output_sources)},
		{&ext_foreign_toplevel_image_capture_source_manager_v1_interface, 1,
				MEMBER(window_sources)},
		{&ext_foreign_toplevel_list_v1_interface, 1, MEMBER(window_list)},
		{&zwlr_screencopy_manager_v1_interface, 3, MEMBER(screencopy)},
		{&weston_capture_v1_interface, 1, MEMBER(weston)},
};
static const struct global_table globals = GLOBAL_TABLE(rows);

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct screens *screens = data;
	if (strcmp(interface, wl_output_interface.name) == 0) {
		output_add(screens, name, version);
		return;
	}
	const void *proxy = globals_bind(&globals, screens, registry, name, interface, version);
	if (proxy != NULL && proxy == screens->window_list) {
		/* Added at once: the windows may already be in the next batch of events. */
		ext_foreign_toplevel_list_v1_add_listener(
				screens->window_list, &window_list_listener, screens);
	}
}

static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
	struct screens *screens = data;
	struct screens_output *output, *next;
	wl_list_for_each_safe(output, next, &screens->outputs, link) {
		if (output->global == name) {
			if (screens->output_gone != NULL) {
				screens->output_gone(screens->data, output);
			}
			output_destroy(output);
		}
	}
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

int screens_init(struct screens *screens, struct wl_display *display) {
	*screens = (struct screens){.display = display};
	wl_list_init(&screens->outputs);
	wl_list_init(&screens->windows);
	screens->registry = wl_display_get_registry(display);
	wl_registry_add_listener(screens->registry, &registry_listener, screens);
	/* One round trip each for the globals, for outputs and windows, and for their names. */
	for (int i = 0; i < 3; i++) {
		if (display_roundtrip(display, NULL) < 0) {
			screens_finish(screens);
			return -1;
		}
	}
	if (screens->shm == NULL) {
		warnx("the compositor has no wl_shm");
		screens_finish(screens);
		return -1;
	}
	return 0;
}

void screens_finish(struct screens *screens) {
	struct screens_output *output, *next_output;
	struct screens_window *window, *next_window;
	if (screens->registry == NULL) {
		return;
	}
	wl_list_for_each_safe(output, next_output, &screens->outputs, link) {
		output_destroy(output);
	}
	wl_list_for_each_safe(window, next_window, &screens->windows, link) {
		window_destroy(window);
	}
	globals_finish(&globals, screens);
	wl_registry_destroy(screens->registry);
	*screens = (struct screens){0};
}

/* --- what is there ---------------------------------------------------------------------------- */

static const char *text_or(const char *text, const char *other) {
	return text != NULL ? text : other;
}

static void print_outputs(const struct screens *screens, FILE *file) {
	const struct screens_output *output;
	const char *by = screens->image_copy != NULL && screens->output_sources != NULL
			? "ext-image-copy-capture-v1"
			: screens->screencopy != NULL ? "wlr-screencopy-unstable-v1"
			: screens->weston != NULL     ? "weston-output-capture"
						      : "no protocol that gid-capture knows";
	wl_list_for_each(output, &screens->outputs, link) {
		fprintf(file, "output %s: %dx%d, by %s\n", text_or(output->name, "(no name)"),
				output->width, output->height, by);
	}
}

static void print_windows(const struct screens *screens, FILE *file) {
	const struct screens_window *window;
	const char *by = screens->image_copy != NULL && screens->window_sources != NULL
			? "ext-image-copy-capture-v1"
			: "no protocol that gid-capture knows";
	wl_list_for_each(window, &screens->windows, link) {
		fprintf(file, "window %s: application %s, title \"%s\", by %s\n",
				text_or(window->identifier, "(no identifier)"),
				text_or(window->app_id, "(none)"), text_or(window->title, ""), by);
	}
}

void screens_print(const struct screens *screens) {
	print_outputs(screens, stdout);
	print_windows(screens, stdout);
}

struct screens_output *screens_find_output(struct screens *screens, const char *name) {
	struct screens_output *output, *found = NULL;
	wl_list_for_each(output, &screens->outputs, link) {
		if (name != NULL && output->name != NULL && strcmp(output->name, name) == 0) {
			return output;
		}
		found = output;
	}
	if (name == NULL && wl_list_length(&screens->outputs) == 1) {
		return found;
	}
	if (wl_list_empty(&screens->outputs)) {
		warnx("the compositor has no output");
	} else {
		warnx(name != NULL ? "the compositor has no output %s; it has:"
				   : "which output? Name one with --output%s:",
				text_or(name, ""));
		print_outputs(screens, stderr);
	}
	return NULL;
}

struct screens_window *screens_find_window(struct screens *screens, const char *words) {
	struct screens_window *window, *found = NULL;
	int count = 0;
	wl_list_for_each(window, &screens->windows, link) {
		if (is_text(window->identifier, words)) {
			return window;
		}
		if (is_text(window->app_id, words) || is_text(window->title, words)) {
			found = window;
			count++;
		}
	}
	if (count == 1) {
		return found;
	}
	if (screens->window_list == NULL) {
		warnx("the compositor does not tell which windows it has: it lacks "
		      "ext-foreign-toplevel-list-v1");
	} else {
		warnx("%s: %s", words,
				count > 1 ? "several windows are called so; name one by its "
					    "identifier:"
					  : "the compositor has no such window; it has:");
		print_windows(screens, stderr);
	}
	return NULL;
}
