// SPDX-License-Identifier: MIT
/*
 * Memory that the compositor writes pictures to, and that readers of a stream see: one picture, a
 * wl_buffer and a slab at once.
 *
 * It is a memfd. The compositor maps it for writing when it gets the wl_shm pool; only then is the
 * memfd sealed against further writers (mappings that exist stay), and exported. So from its export
 * on nobody but the compositor can write it, and no copy is made here.
 */
#ifndef GID_CAPTURE_SCREEN_BUFFER_H
#define GID_CAPTURE_SCREEN_BUFFER_H

#include "source.h"

struct screen_buffer {
	struct wl_list link; // the owner's
	struct wl_buffer *buffer;
	struct gid_slab *slab; // NULL: not exported yet
	struct gid_layout layout;
	const uint8_t *data; // what is in it, to be read
	size_t size;
	int fd;		      // until it is exported
	bool retired;	      // of a form that is no more: to be destroyed when nobody has it
	struct gid_box stale; // older than the last picture; see source_interface.capture
	bool filled;	      // it was captured into
};

/* Returns NULL, after saying on stderr why, where there is no memory. */
struct screen_buffer *screen_buffer_create(struct wl_shm *shm, const struct source_form *form);

/* Accepts NULL. Readers that show the picture keep it. */
void screen_buffer_destroy(struct screen_buffer *buffer);

/*
 * To be called when the compositor has answered a wl_display.sync that was sent after
 * screen_buffer_create(). Returns 0 or -errno.
 */
int screen_buffer_export(struct screen_buffer *buffer, struct gid_domain *domain);

#endif
