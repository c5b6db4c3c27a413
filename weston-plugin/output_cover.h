// SPDX-License-Identifier: MIT
/**
 * The only visible window of an output, such as a film or a game in fullscreen. It covers the whole
 * output, pixel by pixel, is opaque, and nothing is in front of it. So its own buffer already has
 * what the output shows.
 */
#ifndef GID_WESTON_OUTPUT_COVER_H
#define GID_WESTON_OUTPUT_COVER_H

#include <gid/stream.h>
#include <libweston/libweston.h>

struct output_cover {
	struct wl_client *client;
	struct weston_buffer *buffer; /* the renderer has a reference */
	gid_id gid;
	struct gid_slab *
			slab; /* of our domain, in memory that the processor writes; no reference */
	struct gid_box crop;  /* the part that the output shows */
};

/*
 * To be called in a repaint, when Weston knows what is visible. Returns NULL, and sets `cover`; or
 * why there is none. The picture has the layout of its slab, which is XRGB8888.
 */
const char *output_cover_find(struct weston_output *output, const struct gid_domain *domain,
		struct output_cover *cover);

#endif
