// SPDX-License-Identifier: MIT
/**
 * The frames of one role: subscribes to its stream, and again whenever it went; gets the memory;
 * and bounds what a producer can make us do in one refresh, however much it sends.
 */
#ifndef CLUSTER_SUBSCRIPTION_H
#define CLUSTER_SUBSCRIPTION_H

#include "watch.h"
#include <wayland-server-core.h>

struct subscription {
	struct watch *watch;
	struct wl_event_loop *loop;
	struct gid_domain *domain; /* NULL: there is none now */
	struct gid_consumer *consumer;
	struct wl_event_source *source;
	uint64_t refused; /* when subscribing failed last; tried again later */
	unsigned looked;  /* frames looked at since the last tick */
	bool importing;	  /* `waiting` waits for its memory */
	struct gid_frame waiting;
};

void subscription_init(
	struct subscription *subscription, struct watch *watch, struct wl_event_loop *loop);

/* There is a domain. */
void subscription_start(struct subscription *subscription, struct gid_domain *domain);

/* The domain is about to be destroyed, or we are. */
void subscription_stop(struct subscription *subscription);

/* A refresh has passed: looks at what came and was not looked at yet. */
void subscription_tick(struct subscription *subscription);

#endif
