// SPDX-License-Identifier: MIT
#include "surface_colours.h"

#include <to_rgb.h>
#include <yuv_matrix.h>

#include "color-representation-v1-client-protocol.h"

/* The protocol's number. */
static uint32_t coefficients_of(const struct gid_colours *said) {
	static const uint32_t coefficients[] = {
			[GID_MATRIX_BT709] = WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT709,
			[GID_MATRIX_FCC] = WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_FCC,
			[GID_MATRIX_BT601] = WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT601,
			[GID_MATRIX_SMPTE240M] =
					WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_SMPTE240,
			[GID_MATRIX_BT2020] =
					WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT2020,
	};
	return coefficients[yuv_matrix_meant(said)];
}

static uint32_t range_of(const struct gid_colours *said) {
	return yuv_range_meant(said) == GID_RANGE_FULL
			? WP_COLOR_REPRESENTATION_SURFACE_V1_RANGE_FULL
			: WP_COLOR_REPRESENTATION_SURFACE_V1_RANGE_LIMITED;
}

static bool can_be_described(const struct wayland *wayland, uint32_t coefficients, uint32_t range) {
	return wayland->colours != NULL &&
			(wayland->colour_ranges[coefficients] & 1u << range) != 0;
}

bool surface_colours_are_shown(const struct wayland *wayland, const struct gid_layout *layout) {
	uint32_t coefficients = coefficients_of(&layout->colours);
	uint32_t range = range_of(&layout->colours);
	return !to_rgb_is_yuv(layout->fourcc) || can_be_described(wayland, coefficients, range) ||
			(wayland->colours == NULL && yuv_matrix_is_usual(&layout->colours));
}

void surface_colours_init(struct surface_colours *colours, const struct wayland *wayland,
		struct wl_surface *surface) {
	*colours = (struct surface_colours){.wayland = wayland, .surface = surface};
}

/* What was told no longer holds from the next commit on. */
static void surface_colours_unset(struct surface_colours *colours) {
	if (colours->object != NULL) {
		wp_color_representation_surface_v1_destroy(colours->object);
		colours->object = NULL;
	}
	colours->coefficients = colours->range = 0;
}

void surface_colours_finish(struct surface_colours *colours) {
	surface_colours_unset(colours);
}

void surface_colours_set(struct surface_colours *colours, const struct gid_layout *layout) {
	if (colours->wayland->colours == NULL) {
		return;
	}
	uint32_t coefficients = coefficients_of(&layout->colours);
	uint32_t range = range_of(&layout->colours);
	if (!to_rgb_is_yuv(layout->fourcc) ||
			!can_be_described(colours->wayland, coefficients, range)) {
		surface_colours_unset(colours);
		return;
	}
	if (coefficients == colours->coefficients && range == colours->range) {
		return;
	}
	if (colours->object == NULL) {
		colours->object = wp_color_representation_manager_v1_get_surface(
				colours->wayland->colours, colours->surface);
	}
	wp_color_representation_surface_v1_set_coefficients_and_range(
			colours->object, coefficients, range);
	colours->coefficients = coefficients;
	colours->range = range;
}
