// SPDX-License-Identifier: MIT
/* What a client tells of colours, before a compositor that writes it down. */
#include <drm_fourcc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wayland-server-core.h>

#include "color-representation-v1-protocol.h"
#include "common/surface_colours.h"
#include "gid-buffer-v1-protocol.h"
#include "single-pixel-buffer-v1-protocol.h"
#include "tap.h"
#include "viewporter-protocol.h"
#include "wayland-server-protocol.h"
#include "xdg-shell-protocol.h"

#define BT709 WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT709
#define BT601 WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT601
#define LIMITED WP_COLOR_REPRESENTATION_SURFACE_V1_RANGE_LIMITED

struct compositor {
	struct wl_display *display;
	char told[256]; /* what was asked of objects of the protocol, in words */
};

static void note(struct compositor *compositor, const char *format, ...) {
	size_t length = strlen(compositor->told);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(compositor->told + length, sizeof(compositor->told) - length, format, arguments);
	va_end(arguments);
}

/* --- the compositor --------------------------------------------------------------------------- */

static void handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static void handle_alpha(struct wl_client *client, struct wl_resource *resource, uint32_t mode) {
}

static void handle_coefficients(struct wl_client *client, struct wl_resource *resource,
		uint32_t coefficients, uint32_t range) {
	struct compositor *compositor = wl_resource_get_user_data(resource);
	note(compositor, "%u,%u ", coefficients, range);
}

static void handle_location(
		struct wl_client *client, struct wl_resource *resource, uint32_t location) {
}

static const struct wp_color_representation_surface_v1_interface surface_implementation = {
		.destroy = handle_destroy,
		.set_alpha_mode = handle_alpha,
		.set_coefficients_and_range = handle_coefficients,
		.set_chroma_location = handle_location,
};

static void handle_surface_destroyed(struct wl_resource *resource) {
	struct compositor *compositor = wl_resource_get_user_data(resource);
	note(compositor, "gone ");
}

static void handle_get_surface(struct wl_client *client, struct wl_resource *resource, uint32_t id,
		struct wl_resource *surface) {
	struct compositor *compositor = wl_resource_get_user_data(resource);
	struct wl_resource *object = wl_resource_create(
			client, &wp_color_representation_surface_v1_interface, 1, id);
	note(compositor, "new ");
	wl_resource_set_implementation(
			object, &surface_implementation, compositor, handle_surface_destroyed);
}

static const struct wp_color_representation_manager_v1_interface manager_implementation = {
		.destroy = handle_destroy,
		.get_surface = handle_get_surface,
};

static void bind_manager(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *manager = wl_resource_create(
			client, &wp_color_representation_manager_v1_interface, 1, id);
	wl_resource_set_implementation(manager, &manager_implementation, data, NULL);
	wp_color_representation_manager_v1_send_supported_coefficients_and_ranges(
			manager, BT601, LIMITED);
	wp_color_representation_manager_v1_send_supported_coefficients_and_ranges(
			manager, BT709, LIMITED);
	wp_color_representation_manager_v1_send_done(manager);
}

static int ignore(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	if (strcmp(message->name, "create_surface") == 0) {
		struct wl_resource *surface = wl_resource_create(wl_resource_get_client(object),
				&wl_surface_interface, 4, arguments[0].n);
		wl_resource_set_dispatcher(surface, ignore, NULL, NULL, NULL);
	}
	return 0;
}

/* Any other global: what is asked of it is not done. */
static void bind_other(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	const struct wl_interface *interface = data;
	struct wl_resource *object = wl_resource_create(client, interface, (int)version, id);
	wl_resource_set_dispatcher(object, ignore, NULL, NULL, NULL);
}

/* --- the client ------------------------------------------------------------------------------- */

static struct gid_layout layout(uint32_t fourcc, uint8_t matrix, enum gid_range range) {
	return (struct gid_layout){
			.fourcc = fourcc, .colours = {.matrix = matrix, .range = (uint8_t)range}};
}

/* One bit for each picture that is shown as it is meant. */
static int run_client(const char *socket) {
	const struct gid_layout pictures[] = {
			layout(DRM_FORMAT_XRGB8888, 0, GID_RANGE_UNKNOWN),
			layout(DRM_FORMAT_NV12, 0, GID_RANGE_UNKNOWN),
			layout(DRM_FORMAT_YUYV, 6, GID_RANGE_LIMITED),
			layout(DRM_FORMAT_NV12, 1, GID_RANGE_LIMITED),
			layout(DRM_FORMAT_NV12, 1, GID_RANGE_FULL),
			layout(DRM_FORMAT_NV12, 9, GID_RANGE_LIMITED),
			layout(DRM_FORMAT_P010, 1, GID_RANGE_LIMITED),
			layout(DRM_FORMAT_XRGB8888, 1, GID_RANGE_LIMITED),
	};
	sd_event *event;
	struct wayland wayland;
	struct surface_colours colours;
	setenv("WAYLAND_DISPLAY", socket, 1);
	if (sd_event_new(&event) < 0 || wayland_init(&wayland, event) != 0 ||
			wl_display_roundtrip(wayland.display) < 0) {
		return 0;
	}
	int shown = 0;
	surface_colours_init(&colours, &wayland, wl_compositor_create_surface(wayland.compositor));
	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
		surface_colours_set(&colours, &pictures[i]);
		shown |= surface_colours_are_shown(&wayland, &pictures[i]) << i;
	}
	surface_colours_set(&colours, &pictures[1]);
	surface_colours_finish(&colours);
	return wl_display_roundtrip(wayland.display) < 0 ? 0 : shown;
}

/* Has a client meet a compositor that has the protocol, or not. Returns the client's exit status.
 */
static int meet(struct compositor *compositor, bool has_protocol) {
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
	if (has_protocol) {
		wl_global_create(compositor->display, &wp_color_representation_manager_v1_interface,
				1, compositor, bind_manager);
	}
	pid_t pid = fork();
	if (pid == 0) {
		_exit(run_client(socket));
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

int main(void) {
	char folder[] = "/tmp/gid-colours-XXXXXX";
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	struct compositor compositor;
	int shown = meet(&compositor, true);
	tap_ok(shown == 0xcf, "what the compositor can be told is shown right (0x%x)", shown);
	tap_ok(strcmp(compositor.told, "new 4,2 2,2 gone new 2,2 gone new 4,2 gone ") == 0,
			"and told when it changes: %s", compositor.told);
	shown = meet(&compositor, false);
	tap_ok(shown == 0x87, "without the protocol all YUV is taken for BT.601 (0x%x)", shown);
	tap_ok(compositor.told[0] == '\0', "and nothing is told");
	rmdir(folder);
	return tap_finish();
}
