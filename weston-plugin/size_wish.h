// SPDX-License-Identifier: MIT
/**
 * The size that the user of a stream would have its picture be of.
 *
 * A wish costs nothing. It is granted within bounds, and a few times a second. Belongs to the
 * compositor's thread.
 */
#ifndef GID_WESTON_SIZE_WISH_H
#define GID_WESTON_SIZE_WISH_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-server-core.h>

struct size_wish;

/* What has a size; all in pixels. */
struct sized {
	bool (*has_size)(void *data, int32_t width, int32_t height);
	/* Whether it can get one now; else it is asked again soon. NULL: always. */
	bool (*is_ready)(void *data);
	void (*set_size)(void *data, int32_t width, int32_t height);
};

struct size_limits {
	int32_t width, height; /* at most */
	int32_t step;	       /* each side is a multiple of it */
};

/* `sized` and `data` outlive it. NULL for want of memory. */
struct size_wish *size_wish_create(struct wl_event_loop *loop, struct size_limits limits,
		const struct sized *sized, void *data);

/* Accepts NULL. */
void size_wish_destroy(struct size_wish *wish);

/* Each side is a multiple of that from now on. */
void size_wish_set_step(struct size_wish *wish, int32_t step);

/* Only the last wish counts. */
void size_wish_make(struct size_wish *wish, uint32_t width, uint32_t height);

/* What has a size is another one now: the last wish, if there was any, holds for it, too. */
void size_wish_repeat(struct size_wish *wish);

#endif
