// SPDX-License-Identifier: MIT
/**
 * The size that the user of a stream requests for its picture.
 *
 * A request costs nothing: it is granted within limits, a few times a second. Runs on the
 * compositor's thread.
 */
#ifndef GID_WESTON_SIZE_WISH_H
#define GID_WESTON_SIZE_WISH_H

#include <size_limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <wayland-server-core.h>

struct size_wish;

/* The object with that size. Sizes are in pixels. */
struct sized {
	bool (*has_size)(void *data, int32_t width, int32_t height);
	/* Whether it can get another size now; if not, this is called again soon. NULL: always. */
	bool (*is_ready)(void *data);
	void (*set_size)(void *data, int32_t width, int32_t height);
};

/* `sized` and `data` must outlive it. Returns NULL without memory. */
struct size_wish *size_wish_create(struct wl_event_loop *loop, struct size_limits limits,
		const struct sized *sized, void *data);

/* Accepts NULL. */
void size_wish_destroy(struct size_wish *wish);

/* From now on each side is a multiple of `step`. */
void size_wish_set_step(struct size_wish *wish, int32_t step);

/* Requests a size. Only the last request counts. */
void size_wish_make(struct size_wish *wish, uint32_t width, uint32_t height);

/* There is another object now: the last request, if there was one, holds for it, too. */
void size_wish_repeat(struct size_wish *wish);

#endif
