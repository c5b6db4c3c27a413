// SPDX-License-Identifier: MIT
/**
 * The input of one output whose pictures are a stream: keys, pointer and fingers of who looks at it
 * in another domain, on a seat of their own. Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_STREAM_INPUT_H
#define GID_WESTON_STREAM_INPUT_H

#include <gid/domain.h>

#include "output_config.h"
#include "output_size.h"

struct stream_input;

/*
 * `config` outlives it, and says whose input it is. So does `size`, which gets that user's wishes;
 * NULL: there are none. NULL for want of memory.
 */
struct stream_input *stream_input_create(struct weston_output *output,
		const struct output_config *config, struct output_size *size);

/* To be called before the output is gone. Accepts NULL. */
void stream_input_destroy(struct stream_input *input);

/* The domain came; NULL: it goes. */
void stream_input_set_domain(struct stream_input *input, struct gid_domain *domain);

#endif
