// SPDX-License-Identifier: MIT
/**
 * Puts pictures above each other as programs do that show telltales: by pixman, on the processor,
 * and by GL. For gid-monitor, which is in Python and calls it by name.
 *
 * Used by one thread.
 */
#ifndef COMPOSE_H
#define COMPOSE_H

#include <stddef.h>
#include <stdint.h>

/* Of ARGB8888, multiplied by alpha, rows without gaps. */
struct layer {
	const uint32_t *pixels;
	int32_t x, y; /* of its corner in the target; what lies outside is cut off */
	uint32_t width, height;
};

/* Draws the layers on black, the first one below. `target`: rows without gaps. Returns 0 or
 * -ENOMEM.
 */
int compose_by_pixman(const struct layer *layers, size_t count, uint32_t *target, uint32_t width,
		uint32_t height);

/* A GL without a screen, for targets of one size. */
struct gl_composer;

/* NULL: there is no GL, or no memory. */
struct gl_composer *gl_composer_create(uint32_t width, uint32_t height);
void gl_composer_destroy(struct gl_composer *composer);

/* What the driver says that it is. */
const char *gl_composer_name(const struct gl_composer *composer);

/* As compose_by_pixman(). Returns 0, or -EIO: GL reports an error. */
int gl_composer_compose(struct gl_composer *composer, const struct layer *layers, size_t count,
		uint32_t *target);

#endif
