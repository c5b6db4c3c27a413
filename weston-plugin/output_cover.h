// SPDX-License-Identifier: MIT
/**
 * The one window that is seen of an output, as a film or a game in fullscreen: it covers all of it,
 * pixel by pixel, lets nothing through, and nothing is in front of it. Then what the output shows
 * is in the window's own memory already.
 */
#ifndef GID_WESTON_OUTPUT_COVER_H
#define GID_WESTON_OUTPUT_COVER_H

#include <gid/stream.h>
#include <libweston/libweston.h>

struct output_cover {
	struct wl_client *client;
	struct weston_buffer *buffer; /* which the renderer has, too */
	gid_id gid;
	struct gid_slab *slab; /* of our domain, in memory that processors write; no reference */
	struct gid_box crop;   /* what the output shows of it */
};

/*
 * To be called in a repaint, once Weston knows what is seen. Returns NULL, and `cover` is set; or
 * why there is none. The picture has the layout of its slab, which is XRGB8888.
 */
const char *output_cover_find(struct weston_output *output, const struct gid_domain *domain,
		struct output_cover *cover);

#endif
