// SPDX-License-Identifier: MIT
/**
 * The frames of one role: subscribes to its stream, and again whenever it went; gets the memory;
 * and bounds what a producer can make us do in one refresh, however much it sends. Never waits: not
 * for gidd, and not for a device that still draws the picture.
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
	uint64_t refused; /* when there was no memory to subscribe; tried again later */
	int told;	  /* why gidd refuses, as last said in the log; 0: it does not */
	unsigned entries; /* of the ring, taken since the last tick */
	unsigned looked;  /* frames of those that were looked at */
	enum {
		ROLE_STREAM_IDLE,
		ROLE_STREAM_IMPORTING, /* `waiting` waits for its memory */
		ROLE_STREAM_FENCED,    /* and for the device that draws it; its memory is `slab` */
	} waits;
	struct gid_frame waiting;
	uint64_t fenced_since; /* with ROLE_STREAM_FENCED */
	struct gid_slab *slab; /* our reference, or NULL */
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
