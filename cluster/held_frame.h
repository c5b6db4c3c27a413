// SPDX-License-Identifier: MIT
/** A frame of another domain that we hold: its memory as something wlroots can show. */
#ifndef CLUSTER_HELD_FRAME_H
#define CLUSTER_HELD_FRAME_H

#include "../wlroots/memory_view.h"
#include "pixels.h"
#include "role.h"
#include <gid/stream.h>
#include <wayland-util.h>

struct held_frame {
	struct memory_view view;
	struct wl_list link;	       /* among those of the same subscription */
	struct gid_consumer *consumer; /* NULL: the subscription ended, there is nobody to give it
					  back to */
	struct gid_slab *slab;
	void *copy; /* owned; what is shown in place of the slab's own memory, else NULL */
	struct gid_frame frame;
	struct pixel_hashes hashes; /* of the pixels, as they were when they were looked at */
};

/* Whether no device writes to the memory any more: reading it would wait for that otherwise. */
bool held_frame_is_drawn(const struct gid_slab *slab);

/* The formats of frames that can be shown, those first that need no conversion: their number. */
uint32_t held_frame_showable(struct gid_showable showable[GID_SHOWABLE_MAX]);

/* What was found out about a frame. */
struct looked_at {
	struct pixels pixels; /* in the slab's memory, or in `converted` */
	struct pixel_hashes hashes;
	/*
	 * Owned: the picture as words of XRGB8888, made of a copy of the rows that `hashes.content`
	 * is of. NULL: it lies in the slab like that.
	 */
	void *converted;
};

/*
 * Looks at the frame's pixels, of which `width` x `height` must be seen. Returns
 * ROLE_REASON_NONE with the hashes (`digest`: NULL where it is not wanted), or why the picture
 * cannot be shown. In both cases `looked` is to be finished, or given to held_frame_create().
 */
enum role_reason held_frame_examine(const struct gid_frame *frame, const struct gid_slab *slab,
		uint32_t width, uint32_t height, struct looked_at *looked, struct digest *digest);
void looked_at_finish(struct looked_at *looked);

/*
 * Takes the frame, the reference to its slab and what was converted. They are given back, and the
 * object is gone, when wlroots reads the memory no more; the creator ends its own interest with
 * wlr_buffer_drop(). NULL for want of memory; then nothing was taken.
 */
struct held_frame *held_frame_create(struct wl_list *list, struct gid_consumer *consumer,
		const struct gid_frame *frame, struct gid_slab *slab, struct looked_at *looked,
		struct wlr_renderer *renderer);

/* The subscription of all frames of the list is over. */
void held_frame_forget_consumer(struct wl_list *list);

#endif
