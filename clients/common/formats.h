// SPDX-License-Identifier: MIT
/* Which formats the compositor can show of gid memory, as gid_buffer_feedback_v1 tells. */
#ifndef CLIENTS_FORMATS_H
#define CLIENTS_FORMATS_H

#include <gid/domain.h>
#include <gid/stream.h>
#include <stdbool.h>
#include <stdint.h>
#include <wayland-client.h>

struct gid_buffer_manager_v1;

struct formats {
	struct gid_buffer_feedback_v1 *feedback;
	struct wl_array list; // of struct format
	bool known;	      // the list is complete
	/* The list is complete, or has changed. Set by the owner; may be NULL. */
	void (*changed)(void *data);
	void *data;
};

void formats_init(struct formats *formats, struct gid_buffer_manager_v1 *manager);
void formats_finish(struct formats *formats);

/* Whether the compositor can show a slab's format in its memory, as far as the list is known. */
bool formats_have(const struct formats *formats, const struct gid_slab_info *info);

/*
 * Whether the picture's rows in that slot begin at multiples of four bytes, as compositors need it.
 */
bool formats_rows_are_words(const struct gid_slab_info *info, uint32_t slot);

/*
 * The list for gid_consumer_tell_showable(): at most GID_SHOWABLE_MAX formats. Returns their
 * number.
 */
uint32_t formats_showable(
		const struct formats *formats, struct gid_showable showable[GID_SHOWABLE_MAX]);

#endif
