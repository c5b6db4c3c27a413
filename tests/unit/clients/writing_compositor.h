// SPDX-License-Identifier: MIT
/*
 * A compositor that does nothing and writes down what a client asks of the protocol that a test is
 * about, which the test adds.
 */
#ifndef TESTS_WRITING_COMPOSITOR_H
#define TESTS_WRITING_COMPOSITOR_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wayland-server-core.h>

#include "common/wayland.h"
#include "gid-buffer-v1-protocol.h"
#include "single-pixel-buffer-v1-protocol.h"
#include "viewporter-protocol.h"
#include "wayland-server-protocol.h"
#include "xdg-shell-protocol.h"

struct compositor {
	struct wl_display *display;
	char told[512]; /* what was asked of objects of the protocol, in words */
};

static inline void note(struct compositor *compositor, const char *format, ...) {
	size_t length = strlen(compositor->told);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(compositor->told + length, sizeof(compositor->told) - length, format, arguments);
	va_end(arguments);
}

static inline void handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

/* What is asked for is made, and does nothing either. */
static int ignore(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	int number = 0;
	for (const char *type = message->signature; *type != '\0'; type++) {
		if (strchr("?0123456789", *type) != NULL) {
			continue;
		}
		if (*type == 'n' && message->types[number] != NULL) {
			struct wl_resource *made = wl_resource_create(
					wl_resource_get_client(object), message->types[number],
					wl_resource_get_version(object), arguments[number].n);
			wl_resource_set_dispatcher(made, ignore, NULL, NULL, NULL);
		}
		number++;
	}
	return 0;
}

/* Any other global: what is asked of it is not done. */
static void bind_other(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	const struct wl_interface *interface = data;
	struct wl_resource *object = wl_resource_create(client, interface, (int)version, id);
	wl_resource_set_dispatcher(object, ignore, NULL, NULL, NULL);
}

/* As a client begins, with one surface. Returns it, or NULL. */
static inline struct wl_surface *connect_client(struct wayland *wayland) {
	sd_event *event;
	if (sd_event_new(&event) < 0 || wayland_init(wayland, event) != 0 ||
			wl_display_roundtrip(wayland->display) < 0) {
		return NULL;
	}
	return wl_compositor_create_surface(wayland->compositor);
}

/*
 * Has a client meet the compositor, which has what all clients need besides what `add`, if not
 * NULL, adds. Returns the client's exit status, or -1.
 */
static int meet(struct compositor *compositor, void (*add)(struct compositor *compositor),
		int (*run_client)(void)) {
	static const struct wl_interface *const others[] = {&wl_compositor_interface,
			&wl_subcompositor_interface, &xdg_wm_base_interface,
			&wp_viewporter_interface, &wp_single_pixel_buffer_manager_v1_interface,
			&gid_buffer_manager_v1_interface};
	*compositor = (struct compositor){.display = wl_display_create()};
	const char *socket = wl_display_add_socket_auto(compositor->display);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		wl_global_create(compositor->display, others[i],
				others[i] == &wl_compositor_interface ? 4 : 1, (void *)others[i],
				bind_other);
	}
	if (add != NULL) {
		add(compositor);
	}
	pid_t pid = fork();
	if (pid == 0) {
		setenv("WAYLAND_DISPLAY", socket, 1);
		_exit(run_client());
	}
	int status;
	pid_t ended;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		wl_event_loop_dispatch(wl_display_get_event_loop(compositor->display), 10);
		wl_display_flush_clients(compositor->display);
	}
	wl_display_destroy_clients(compositor->display);
	wl_display_destroy(compositor->display);
	return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
