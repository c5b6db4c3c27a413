// SPDX-License-Identifier: MIT
/**
 * The size of an output that the module created, if the configuration lets its user choose it: a
 * size_wish.h, granted when consumers have released all pictures of the size before. Runs on the
 * compositor's thread.
 */
#ifndef GID_WESTON_OUTPUT_SIZE_H
#define GID_WESTON_OUTPUT_SIZE_H

#include "output_config.h"
#include "output_stream.h"

struct output_size;

/* All must outlive it; `config` has a largest size. Returns NULL without memory. */
struct output_size *output_size_create(struct weston_output *output,
		const struct output_config *config, struct output_stream *stream);

/* To be called before the output is destroyed. Accepts NULL. */
void output_size_destroy(struct output_size *size);

/*
 * The user requests a picture of this size in pixels, for a screen of this scale in 120ths; 0:
 * unknown. Only the last request counts.
 */
void output_size_wish(struct output_size *size, uint32_t width, uint32_t height, uint32_t scale);

#endif
