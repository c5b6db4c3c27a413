// SPDX-License-Identifier: MIT
/*
 * Pictures that the compositor cannot show, converted to red, green and blue in memory of ours, for
 * gid-view --convert: one pass of the processor over each, which is counted.
 */
#ifndef GID_VIEW_CONVERTER_H
#define GID_VIEW_CONVERTER_H

#include <gid/domain.h>
#include <wayland-client.h>

#include "common/wayland.h"

#define CONVERTER_SLOTS 4u // one that is shown, two on their way, one that is written

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
	uint32_t number; // of the slab, as the buffers have it
	struct converted buffers[CONVERTER_SLOTS];
	uint64_t frames, bytes;	   // that were converted; bytes that were written
	void (*freed)(void *data); // the compositor shows one less: a call that got -EAGAIN may
				   // pass
	void *data;
};

void converter_init(struct converter *converter, const struct wayland *wayland,
		struct gid_domain *domain);

/* The compositor may keep the last picture on the screen. */
void converter_finish(struct converter *converter);

/* Whether pictures of the slab can be converted: a processor can read them, and knows how. */
bool converter_can(const struct gid_slab *slab);

/*
 * Converts the picture of a slot of a slab that can be converted. `buffer` is then to be attached
 * and committed at once; it is the converter's. Returns 0; -EAGAIN: the compositor holds all that
 * there is; -EBUSY: a device still draws the picture, or gidd gives no memory now; -ESTALE: it was
 * taken back meanwhile; or what gid_slab_create() returns.
 */
int converter_convert(struct converter *converter, const struct gid_slab *slab, gid_id gid,
		struct wl_buffer **buffer);

#endif
