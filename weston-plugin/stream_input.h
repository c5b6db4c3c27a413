// SPDX-License-Identifier: MIT
/**
 * What the user in another domain does who looks at a stream of ours, as an input stream says it
 * that is read in Weston's loop. Weston's log says when it comes and goes. Belongs to the
 * compositor's thread.
 */
#ifndef GID_WESTON_STREAM_INPUT_H
#define GID_WESTON_STREAM_INPUT_H

#include <gid/domain.h>
#include <input_player.h>
#include <libweston/libweston.h>

#include "input_source.h"

struct stream_input;

/*
 * `label` is for the log, as "output NAME". It, the source, which has a domain, the sink and its
 * data outlive it. NULL for want of memory.
 */
struct stream_input *stream_input_create(struct weston_compositor *compositor, const char *label,
		const struct input_source *source, const struct input_sink *sink, void *data);

/* What is held is released first. Accepts NULL. */
void stream_input_destroy(struct stream_input *input);

/* The domain came; NULL: it goes. Accepts NULL. */
void stream_input_set_domain(struct stream_input *input, struct gid_domain *domain);

/* Lets go of what is held: whoever gets the events is another one from now on. */
void stream_input_release(struct stream_input *input);

#endif
