// SPDX-License-Identifier: MIT
/** Boxes of a picture's pixels. A box without pixels is empty. */
#ifndef GID_WESTON_PICTURE_BOX_H
#define GID_WESTON_PICTURE_BOX_H

#include <gid/stream.h>
#include <stdbool.h>

bool box_is_empty(struct gid_box box);

/* The smallest box that contains both. */
struct gid_box box_join(struct gid_box a, struct gid_box b);

#endif
