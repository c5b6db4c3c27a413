// SPDX-License-Identifier: MIT
/* What a client tells of colours, before a compositor that writes it down. */
#include "common/surface_colours.h"

#include <drm_fourcc.h>

#include "color-representation-v1-protocol.h"
#include "tap.h"
#include "writing_compositor.h"

#define BT709 WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT709
#define BT601 WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT601
#define LIMITED WP_COLOR_REPRESENTATION_SURFACE_V1_RANGE_LIMITED

/* --- the compositor --------------------------------------------------------------------------- */

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

static void add_protocol(struct compositor *compositor) {
	wl_global_create(compositor->display, &wp_color_representation_manager_v1_interface, 1,
			compositor, bind_manager);
}

/* --- the client ------------------------------------------------------------------------------- */

static struct gid_layout layout(uint32_t fourcc, uint8_t matrix, enum gid_range range) {
	return (struct gid_layout){
			.fourcc = fourcc, .colours = {.matrix = matrix, .range = (uint8_t)range}};
}

/* One bit for each picture that is shown as it is meant. */
static int run_client(void) {
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
	struct wayland wayland;
	struct surface_colours colours;
	struct wl_surface *surface = connect_client(&wayland);
	if (surface == NULL) {
		return 0;
	}
	int shown = 0;
	surface_colours_init(&colours, &wayland, surface);
	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
		surface_colours_set(&colours, &pictures[i]);
		shown |= surface_colours_are_shown(&wayland, &pictures[i]) << i;
	}
	surface_colours_set(&colours, &pictures[1]);
	surface_colours_finish(&colours);
	return wl_display_roundtrip(wayland.display) < 0 ? 0 : shown;
}

int main(void) {
	char folder[] = "/tmp/gid-colours-XXXXXX";
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	struct compositor compositor;
	int shown = meet(&compositor, add_protocol, run_client);
	tap_ok(shown == 0xcf, "what the compositor can be told is shown right (0x%x)", shown);
	tap_ok(strcmp(compositor.told, "new 4,2 2,2 gone new 2,2 gone new 4,2 gone ") == 0,
			"and told when it changes: %s", compositor.told);
	shown = meet(&compositor, NULL, run_client);
	tap_ok(shown == 0x87, "without the protocol all YUV is taken for BT.601 (0x%x)", shown);
	tap_ok(compositor.told[0] == '\0', "and nothing is told");
	rmdir(folder);
	return tap_finish();
}
