// SPDX-License-Identifier: MIT
/**
 * One output of Weston as a stream. If it has a consumer, each repaint is captured while it is
 * drawn, and sent with its damage. An output that the module created follows the refresh of the
 * consumer's display.
 *
 * Never blocks on a consumer; on gidd only when the format or size is new. Runs on the compositor's
 * thread.
 */
#ifndef GID_WESTON_OUTPUT_STREAM_H
#define GID_WESTON_OUTPUT_STREAM_H

#include <gid/domain.h>

#include "hidden_client.h"
#include "output_config.h"

struct output_stream;

/* `config` and `hidden` must outlive it; `hidden` is ready. Returns NULL without memory. */
struct output_stream *output_stream_create(struct weston_output *output,
		const struct output_config *config, struct hidden_client *hidden);

/* To be called before the output is destroyed. Accepts NULL. */
void output_stream_destroy(struct output_stream *stream);

struct weston_output *output_stream_get_output(const struct output_stream *stream);

/*
 * Uses this domain from now on. First gives back everything of the domain before. NULL: there is
 * none.
 */
void output_stream_set_domain(struct output_stream *stream, struct gid_domain *domain);

/* Whether no consumer holds a picture of another size than the output's current one. */
bool output_stream_is_idle(struct output_stream *stream);

/* Whether this is the client that captures the output for the stream. */
bool output_stream_has_client(const struct output_stream *stream, const struct wl_client *client);

#endif
