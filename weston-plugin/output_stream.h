// SPDX-License-Identifier: MIT
/**
 * One output of Weston as a stream: what it shows is captured in the repaint that draws it, where
 * somebody reads the stream, and sent with what changed. An output of the module's own keeps the
 * time of the reader's display.
 *
 * Never waits for a consumer, and for gidd only where the pictures' form is new. Belongs to the
 * compositor's thread.
 */
#ifndef GID_WESTON_OUTPUT_STREAM_H
#define GID_WESTON_OUTPUT_STREAM_H

#include <gid/domain.h>

#include "hidden_client.h"
#include "output_config.h"

struct output_stream;

/* `config` and `hidden` outlive it; `hidden` is ready. NULL for want of memory. */
struct output_stream *output_stream_create(struct weston_output *output,
		const struct output_config *config, struct hidden_client *hidden);

/* To be called before the output is gone. Accepts NULL. */
void output_stream_destroy(struct output_stream *stream);

struct weston_output *output_stream_get_output(const struct output_stream *stream);

/* The domain came; NULL: it goes, and everything of it is given back. */
void output_stream_set_domain(struct output_stream *stream, struct gid_domain *domain);

/* Whether all pictures are of the output's present size: nobody has one of before any more. */
bool output_stream_is_idle(struct output_stream *stream);

/* Whether this is the client that captures the output for us. */
bool output_stream_has_client(const struct output_stream *stream, const struct wl_client *client);

#endif
