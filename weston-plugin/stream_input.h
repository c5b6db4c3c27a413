// SPDX-License-Identifier: MIT
/**
 * Receives the input stream of the user in another domain who views one of our streams, in Weston's
 * event loop. Weston's log says when its sender comes and goes. Runs on the compositor's thread.
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
 * data must outlive this. Returns NULL without memory.
 */
struct stream_input *stream_input_create(struct weston_compositor *compositor, const char *label,
		const struct input_source *source, const struct input_sink *sink, void *data);

/* First releases all that is pressed. Accepts NULL. */
void stream_input_destroy(struct stream_input *input);

/* Uses this domain from now on; NULL: none. Accepts NULL. */
void stream_input_set_domain(struct stream_input *input, struct gid_domain *domain);

/* Releases all that is pressed: later events have another receiver. */
void stream_input_release(struct stream_input *input);

#endif
