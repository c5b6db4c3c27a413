// SPDX-License-Identifier: MIT
/**
 * Copies only the damage of an output into a capture. Weston's pixman renderer copies the whole
 * output, even if little changed since it last wrote to the same memory. That copy is intercepted,
 * and only the damaged part is copied, in the same repaint. Other renderers still write the whole
 * output that they read back.
 */
#ifndef GID_WESTON_CAPTURE_PART_H
#define GID_WESTON_CAPTURE_PART_H

#include <gid/stream.h>
#include <pixman.h>
#include <stdbool.h>
#include <wayland-util.h>

/* A requested capture. All zero: there is none. */
struct capture_part {
	struct wl_list link;
	const void *memory;	     /* of the capture's buffer; NULL: none is expected */
	pixman_image_t *from, *into; /* of the intercepted copy; NULL: none yet */
};

/* From now on Weston's copies to this memory are intercepted, until the part is taken or ended. */
void capture_part_await(struct capture_part *part, const void *memory);

/*
 * Called before each copy that Weston makes between images. Returns whether it is intercepted: the
 * caller must then not make it.
 */
bool capture_part_keep(pixman_image_t *from, pixman_image_t *into);

/*
 * To be called within a repaint, after the renderer: copies the box. Returns false if no copy was
 * intercepted.
 */
bool capture_part_take(struct capture_part *part, struct gid_box box);

void capture_part_end(struct capture_part *part);

#endif
