// SPDX-License-Identifier: MIT
/** All roles together: their way to the domain, their common clock, and the display's questions. */
#ifndef CLUSTER_SAFETY_H
#define CLUSTER_SAFETY_H

#include "connection.h"
#include "display.h"
#include "subscription.h"
#include "watch.h"

struct safety {
	const struct cluster_config *config;
	struct display *display;
	struct wl_event_loop *loop;
	struct connection *connection;
	struct watch *watches;		    /* one for each role of the configuration */
	struct subscription *subscriptions; /* likewise */
	struct gid_timeline *timeline;	    /* NULL: none */
	size_t count;			    /* of those that are initialised */
	int timer;
	struct wl_event_source *timer_source;
};

extern const struct display_hooks safety_hooks; /* their data: struct safety */

/* `domain` names our own, NULL: $GID_DOMAIN. The display is initialised already. */
int safety_init(struct safety *safety, const struct cluster_config *config, struct display *display,
	const char *domain);
void safety_finish(struct safety *safety);

/* Into wlroots' log. */
__attribute__((format(printf, 1, 2))) int safety_log(const char *format, ...);

#endif
