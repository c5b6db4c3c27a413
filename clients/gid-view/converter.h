// SPDX-License-Identifier: MIT
/*
 * Converts pictures that the compositor cannot show to RGB in our own memory, for gid-view
 * --convert. Each takes one pass of the processor, which is counted.
 */
#ifndef GID_VIEW_CONVERTER_H
#define GID_VIEW_CONVERTER_H

#include <gid/domain.h>
#include <wayland-client.h>

#include "common/wayland.h"

#define CONVERTER_SLOTS 4u // one is shown, two are committed, one is written

struct converter;

struct converted {
	struct converter *converter;
	struct wl_buffer *wl_buffer;
	uint32_t slot;
};

struct converter {
	const struct wayland *wayland;
	struct gid_domain *domain;
	struct gid_slab *slab; // NULL: nothing was converted yet
	struct gid_layout layout;
	uint32_t number; // of the slab that the buffers were created with
	struct converted buffers[CONVERTER_SLOTS];
	uint64_t frames, bytes;	   // converted frames; bytes written
	void (*freed)(void *data); // the compositor shows one less: a call that got -EAGAIN may
				   // pass
	void *data;
};

void converter_init(struct converter *converter, const struct wayland *wayland,
		struct gid_domain *domain);

/* The compositor may keep the last picture on the screen. */
void converter_finish(struct converter *converter);

/*
 * Whether pictures of the slab can be converted: the processor can read them, and the format is
 * supported.
 */
bool converter_can(const struct gid_slab *slab);

/*
 * Converts the picture of a slot, whose slab can be converted. The caller attaches and commits
 * `buffer` at once; the converter owns it. Returns 0; -EAGAIN: the compositor holds all buffers;
 * -EBUSY: a device still draws the picture, or gidd has no memory now; -ESTALE: the slot was
 * reclaimed meanwhile; or an error of gid_slab_create().
 */
int converter_convert(struct converter *converter, const struct gid_slab *slab, gid_id gid,
		struct wl_buffer **buffer);

#endif
