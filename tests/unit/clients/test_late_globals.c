// SPDX-License-Identifier: MIT
/* A compositor that takes clients before it has all that they need, as one that has just begun. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wayland-server-core.h>

#include "common/wayland.h"
#include "gid-buffer-v1-protocol.h"
#include "single-pixel-buffer-v1-protocol.h"
#include "tap.h"
#include "viewporter-protocol.h"
#include "wayland-server-protocol.h"
#include "xdg-shell-protocol.h"

enum later { OFFER, HANG_UP, NOTHING };

struct compositor {
	struct wl_display *display;
	struct wl_client *client;
	enum later later;
	bool late; /* the client saw what there was, and what was not */
};

/* Nothing that a client asks of these objects is done. */
static int ignore(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	return 0;
}

static void offer(struct wl_client *client, const struct wl_interface *interface, uint32_t version,
		uint32_t id) {
	struct wl_resource *resource = wl_resource_create(client, interface, (int)version, id);
	wl_resource_set_dispatcher(resource, ignore, NULL, NULL, NULL);
}

static void bind_other(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	offer(client, data, version, id);
}

/* Of wl_compositor, the first that the client binds: it has been told of all there were. */
static void bind(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct compositor *compositor = data;
	offer(client, &wl_compositor_interface, version, id);
	compositor->late = true;
	if (compositor->later == OFFER) {
		wl_global_create(compositor->display, &gid_buffer_manager_v1_interface, 1,
				(void *)&gid_buffer_manager_v1_interface, bind_other);
	} else if (compositor->later == HANG_UP) {
		compositor->client = client;
	}
}

/* What gid-view does first. */
static int connect_client(const char *socket) {
	sd_event *event;
	struct wayland wayland;
	setenv("WAYLAND_DISPLAY", socket, 1);
	if (sd_event_new(&event) < 0) {
		return 2;
	}
	return wayland_init(&wayland, event) == 0 && wayland.gid_buffers != NULL ? 0 : 1;
}

/* The exit status of a client that meets such a compositor. */
static int meet(struct compositor *compositor) {
	static const struct wl_interface *const others[] = {&wl_subcompositor_interface,
			&xdg_wm_base_interface, &wp_viewporter_interface,
			&wp_single_pixel_buffer_manager_v1_interface};
	compositor->display = wl_display_create();
	const char *socket = wl_display_add_socket_auto(compositor->display);
	wl_global_create(compositor->display, &wl_compositor_interface, 4, compositor, bind);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		wl_global_create(compositor->display, others[i], 1, (void *)others[i], bind_other);
	}
	pid_t pid = fork();
	if (pid == 0) {
		_exit(connect_client(socket));
	}
	int status;
	pid_t ended;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		wl_event_loop_dispatch(wl_display_get_event_loop(compositor->display), 10);
		wl_display_flush_clients(compositor->display);
		if (compositor->client != NULL) {
			wl_client_destroy(compositor->client);
			compositor->client = NULL;
		}
	}
	wl_display_destroy_clients(compositor->display);
	wl_display_destroy(compositor->display);
	return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void) {
	char folder[] = "/tmp/gid-late-XXXXXX";
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	struct compositor good = {.later = OFFER}, gone = {.later = HANG_UP},
			  without = {.later = NOTHING};
	tap_ok(meet(&good) == 0 && good.late, "what comes late is waited for");
	tap_ok(meet(&gone) == 1 && gone.late, "a compositor that goes away is not");
	tap_ok(meet(&without) == 1 && without.late, "nor, for long, what never comes");
	rmdir(folder);
	return tap_finish();
}
