// SPDX-License-Identifier: MIT
/** A frame of another domain, held while a plane shows its dma-buf itself. */
#ifndef CLUSTER_LENT_FRAME_H
#define CLUSTER_LENT_FRAME_H

#include <gid/stream.h>
#include <wayland-util.h>

#include "../wlroots/memory_view.h"

struct lent_frame {
	struct memory_view view;
	struct wl_list link;	       /* among those of the same subscription */
	struct gid_consumer *consumer; /* NULL: the subscription ended, there is nobody to give it
					  back to */
	struct gid_slab *slab;
	struct gid_frame frame;
};

/*
 * Whether a plane can show the frame as it lies. Only from the first byte of its memory on: vkms of
 * Linux 6.12 counts the offset twice, and reads behind the end.
 */
bool lent_frame_is_possible(const struct gid_frame *frame, const struct gid_slab *slab);

/*
 * Of a frame that was examined, and is seen with this size: takes it and a reference to its slab.
 * They are given back, and the object is gone, when nobody uses the buffer any more; the creator
 * ends its own interest with lent_frame_drop(). NULL for want of memory; then nothing was taken.
 */
struct lent_frame *lent_frame_create(struct wl_list *list, struct gid_consumer *consumer,
		const struct gid_frame *frame, struct gid_slab *slab, uint32_t width,
		uint32_t height);

/* Takes NULL. */
void lent_frame_drop(struct lent_frame *lent);

/* The subscription of all frames of the list is over. */
void lent_frame_forget_consumer(struct wl_list *list);

#endif
