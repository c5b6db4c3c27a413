// SPDX-License-Identifier: MIT
#include "surface_colours.h"

#include <to_rgb.h>

#include "color-representation-v1-client-protocol.h"

#define BT601 WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT601
#define LIMITED WP_COLOR_REPRESENTATION_SURFACE_V1_RANGE_LIMITED

/* The protocol's number for one of H.273's MatrixCoefficients; others are taken for BT.601. */
static uint32_t coefficients_of(const struct gid_colours *said) {
	switch (said->matrix) {
	case 1:
		return WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT709;
	case 4:
		return WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_FCC;
	case 7:
		return WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_SMPTE240;
	case 9:
		return WP_COLOR_REPRESENTATION_SURFACE_V1_COEFFICIENTS_BT2020;
	default:
		return BT601;
	}
}

static uint32_t range_of(const struct gid_colours *said) {
	return said->range == GID_RANGE_FULL ? WP_COLOR_REPRESENTATION_SURFACE_V1_RANGE_FULL
					     : LIMITED;
}

static bool can_be_told(const struct wayland *wayland, uint32_t coefficients, uint32_t range) {
	return wayland->colours != NULL &&
			(wayland->colour_ranges[coefficients] & 1u << range) != 0;
}

bool surface_colours_are_shown(const struct wayland *wayland, const struct gid_layout *layout) {
	uint32_t coefficients = coefficients_of(&layout->colours);
	uint32_t range = range_of(&layout->colours);
	return !to_rgb_is_yuv(layout->fourcc) || can_be_told(wayland, coefficients, range) ||
			(wayland->colours == NULL && coefficients == BT601 && range == LIMITED);
}

void surface_colours_init(struct surface_colours *colours, const struct wayland *wayland,
		struct wl_surface *surface) {
	*colours = (struct surface_colours){.wayland = wayland, .surface = surface};
}

/* What was told is void from the next commit on. */
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
	if (!to_rgb_is_yuv(layout->fourcc) || !can_be_told(colours->wayland, coefficients, range)) {
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
