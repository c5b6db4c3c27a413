// SPDX-License-Identifier: MIT
/**
 * The frames of one role: subscribes to its stream, and again whenever it went; gets the memory;
 * and bounds what a producer can make us do in one refresh, however much it sends.
 */
#ifndef CLUSTER_ROLE_STREAM_H
#define CLUSTER_ROLE_STREAM_H

#include "role_view.h"
#include <wayland-server-core.h>

struct role_stream {
	struct role_view *view;
	struct wl_event_loop *loop;
	struct gid_domain *domain; /* NULL: there is none now */
	struct gid_consumer *consumer;
	struct wl_event_source *source;
	uint64_t refused; /* when subscribing failed last; tried again later */
	unsigned looked;  /* frames looked at since the last tick */
	bool importing;	  /* `waiting` waits for its memory */
	struct gid_frame waiting;
};

void role_stream_init(
	struct role_stream *stream, struct role_view *view, struct wl_event_loop *loop);

/* There is a domain. */
void role_stream_start(struct role_stream *stream, struct gid_domain *domain);

/* The domain is about to be destroyed, or we are. */
void role_stream_stop(struct role_stream *stream);

/* A refresh has passed: looks at what came and was not looked at yet. */
void role_stream_tick(struct role_stream *stream);

#endif
