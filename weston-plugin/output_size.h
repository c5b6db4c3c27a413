// SPDX-License-Identifier: MIT
/**
 * The size of one output of the module's own, where the configuration lets who uses it choose that:
 * a size_wish.h, which is granted only once readers have given back the pictures of the size
 * before. Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_OUTPUT_SIZE_H
#define GID_WESTON_OUTPUT_SIZE_H

#include "output_config.h"
#include "output_stream.h"

struct output_size;

/* All outlive it; `config` has bounds. NULL for want of memory. */
struct output_size *output_size_create(struct weston_output *output,
		const struct output_config *config, struct output_stream *stream);

/* To be called before the output is gone. Accepts NULL. */
void output_size_destroy(struct output_size *size);

/* The user would have a picture of so many pixels, of a screen of that scale, in 120ths, where 0 is
 * not known. Only the last wish counts. */
void output_size_wish(struct output_size *size, uint32_t width, uint32_t height, uint32_t scale);

#endif
