// SPDX-License-Identifier: MIT
/*
 * A compositor that draws nothing, takes each gid buffer or none, and writes down what it is told
 * of them, a line for each request: `add` with all its numbers, `create` and `attach`.
 *
 * taking-compositor SOCKET FORMAT MODIFIER take|refuse    numbers as strtoull() has them
 *
 * It says late what it can show: nobody may ask for a buffer before.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wayland-server-core.h>

#include "gid-buffer-v1-protocol.h"
#include "single-pixel-buffer-v1-protocol.h"
#include "viewporter-protocol.h"
#include "wayland-server-protocol.h"
#include "xdg-shell-protocol.h"

#define LATE_MS 1000

static struct {
	struct wl_event_loop *loop;
	uint32_t format;
	uint64_t modifier;
	bool takes, configured;
	struct wl_resource *toplevel, *xdg_surface;
	struct wl_resource *shown; /* the gid buffer that was attached last, or NULL */
} compositor;

static int obey(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments);

static struct wl_resource *make(struct wl_client *client, const struct wl_interface *interface,
		uint32_t version, uint32_t id) {
	struct wl_resource *made = wl_resource_create(client, interface, (int)version, id);
	if (made == NULL) {
		errx(EXIT_FAILURE, "no memory");
	}
	wl_resource_set_dispatcher(made, obey, NULL, NULL, NULL);
	return made;
}

/* What a window waits for. Any surface's first commit will do. */
static void configure(void) {
	if (compositor.toplevel != NULL && !compositor.configured) {
		struct wl_array states;
		wl_array_init(&states);
		xdg_toplevel_send_configure(compositor.toplevel, 0, 0, &states);
		xdg_surface_send_configure(compositor.xdg_surface, 1);
		compositor.configured = true;
	}
}

static void settle(struct wl_resource *params) {
	if (compositor.takes) {
		struct wl_resource *buffer =
				make(wl_resource_get_client(params), &wl_buffer_interface, 1, 0);
		wl_resource_set_user_data(buffer, &compositor);
		gid_buffer_params_v1_send_created(params, buffer);
	} else {
		gid_buffer_params_v1_send_failed(params);
	}
}

static void say(const char *name, const union wl_argument *arguments, int count) {
	printf("%s", name);
	for (int i = 0; i < count; i++) {
		printf(" %" PRIu32, arguments[i].u);
	}
	putchar('\n');
}

/* Any other buffer is not what this is about. */
static void attach(struct wl_resource *buffer) {
	if (buffer == NULL || wl_resource_get_user_data(buffer) != &compositor) {
		return;
	}
	say("attach", NULL, 0);
	if (compositor.shown != NULL) {
		wl_buffer_send_release(compositor.shown);
	}
	compositor.shown = buffer;
}

static int handle_late(void *data) {
	gid_buffer_feedback_v1_send_format(data, compositor.format,
			(uint32_t)(compositor.modifier >> 32), (uint32_t)compositor.modifier,
			GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF);
	gid_buffer_feedback_v1_send_done(data);
	puts("formats");
	return 0;
}

/* What is asked of an object that was there before, after all that it makes was made. */
static void answer(struct wl_resource *object, const char *request, struct wl_resource *made,
		const union wl_argument *arguments) {
	const char *kind = wl_resource_get_class(object);
	if (strcmp(request, "get_xdg_surface") == 0) {
		compositor.xdg_surface = made;
	} else if (strcmp(request, "get_toplevel") == 0) {
		compositor.toplevel = made;
	} else if (strcmp(request, "commit") == 0) {
		configure();
	} else if (strcmp(request, "frame") == 0) {
		wl_callback_send_done(made, 0);
		wl_resource_destroy(made);
	} else if (strcmp(request, "get_feedback") == 0) {
		wl_event_source_timer_update(
				wl_event_loop_add_timer(compositor.loop, handle_late, made),
				LATE_MS);
	} else if (strcmp(kind, "gid_buffer_params_v1") == 0 && strcmp(request, "add") == 0) {
		say(request, arguments, 7);
	} else if (strcmp(kind, "gid_buffer_params_v1") == 0 && strcmp(request, "create") == 0) {
		say(request, arguments, 3);
		settle(object);
	} else if (strcmp(request, "attach") == 0) {
		attach((struct wl_resource *)arguments[0].o);
	}
}

static int obey(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	struct wl_resource *resource = object, *made = NULL;
	int place = 0;
	for (const char *type = message->signature; *type != '\0'; type++) {
		if (strchr("0123456789?", *type) != NULL) {
			continue;
		}
		if (*type == 'n') {
			made = make(wl_resource_get_client(resource), message->types[place],
					(uint32_t)wl_resource_get_version(resource),
					arguments[place].n);
		}
		place++;
	}
	answer(resource, message->name, made, arguments);
	if (strcmp(message->name, "destroy") == 0) {
		compositor.shown = compositor.shown == resource ? NULL : compositor.shown;
		wl_resource_destroy(resource);
	}
	return 0;
}

static void bind(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	make(client, data, version, id);
}

int main(int argc, char **argv) {
	static const struct wl_interface *const globals[] = {&wl_compositor_interface,
			&wl_subcompositor_interface, &xdg_wm_base_interface,
			&wp_viewporter_interface, &wp_single_pixel_buffer_manager_v1_interface,
			&gid_buffer_manager_v1_interface};
	struct wl_display *display = wl_display_create();
	if (argc != 5 || display == NULL || wl_display_add_socket(display, argv[1]) < 0) {
		errx(EXIT_FAILURE, "usage: taking-compositor SOCKET FORMAT MODIFIER take|refuse");
	}
	compositor.loop = wl_display_get_event_loop(display);
	compositor.format = (uint32_t)strtoull(argv[2], NULL, 0);
	compositor.modifier = strtoull(argv[3], NULL, 0);
	compositor.takes = strcmp(argv[4], "take") == 0;
	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
		wl_global_create(display, globals[i],
				globals[i] == &wl_compositor_interface ? 4 : 1, (void *)globals[i],
				bind);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	wl_display_run(display);
}
