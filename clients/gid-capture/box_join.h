// SPDX-License-Identifier: MIT
/* The least box that holds two others; an empty one holds nothing. */
#ifndef GID_CAPTURE_BOX_JOIN_H
#define GID_CAPTURE_BOX_JOIN_H

#include <gid/stream.h>

/* All sides of both must lie within 0 to GID_SIZE_MAX: other boxes count as empty. */
struct gid_box box_join(struct gid_box a, struct gid_box b);

#endif
