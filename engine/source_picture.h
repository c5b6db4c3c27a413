// SPDX-License-Identifier: MIT
/** A picture that a list names, as the engine reads it. */
#ifndef ENGINE_SOURCE_PICTURE_H
#define ENGINE_SOURCE_PICTURE_H

#include <gid/gid.h>
#include <stdbool.h>

/* Its pixels may be changed by others at any time. The layout was checked, and fits the memory. */
struct picture {
	struct gid_layout layout;
	const uint8_t *memory; /* of the slot */
	bool may_be_drawn;     /* by commands: it is memory of the domain that draws */
	bool is_dmabuf;
	int dmabuf;	 /* if it is one: the descriptor, the slab's */
	uint64_t offset; /* of the slot in it */
};

#endif
