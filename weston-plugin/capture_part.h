// SPDX-License-Identifier: MIT
/**
 * What Weston's pixman renderer copies of an output for a capture: all of it, however little has
 * changed since the same memory was written last. Here it is kept from that, and only what changed
 * is copied, in the same repaint. Other renderers write what they read back, as before.
 */
#ifndef GID_WESTON_CAPTURE_PART_H
#define GID_WESTON_CAPTURE_PART_H

#include <gid/stream.h>
#include <pixman.h>
#include <stdbool.h>
#include <wayland-util.h>

/* A capture that was asked for. All zero: none was. */
struct capture_part {
	struct wl_list link;
	const void *memory;	     /* of its picture; NULL: none is awaited */
	pixman_image_t *from, *into; /* of the copy that Weston did not make; NULL: it made none */
};

/* Weston does not copy into the memory, until the part is taken or ended. */
void capture_part_await(struct capture_part *part, const void *memory);

/* Weston is about to copy from one image to another. Returns whether that is an awaited picture's,
 * and is not to be done. */
bool capture_part_keep(pixman_image_t *from, pixman_image_t *into);

/* Within a repaint, once it is drawn: copies the box. Returns whether Weston left that to us. */
bool capture_part_take(struct capture_part *part, struct gid_box box);

void capture_part_end(struct capture_part *part);

#endif
