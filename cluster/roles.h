// SPDX-License-Identifier: MIT
/**
 * All roles and layers: their connection to gidd, their common timer, and the hooks of the screens.
 */
#ifndef CLUSTER_ROLES_H
#define CLUSTER_ROLES_H

#include "display.h"
#include "gidd_connection.h"
#include "inputs.h"
#include "layer.h"
#include "notify.h"
#include "role_view.h"
#include "state_writer.h"

struct roles {
	const struct cluster_config *config;
	struct display *display;
	struct wl_event_loop *loop;
	struct gidd_connection *connection;
	struct role_view *views;       /* one for each role of the configuration */
	struct gid_timeline *timeline; /* NULL: none */
	size_t count;		       /* of those that are initialised */
	struct layer *layers;	       /* one for each of the configuration */
	size_t layer_count;	       /* of those that are initialised */
	struct inputs inputs;	       /* what is done on them */
	struct notify notify;	       /* of whoever started us */
	struct state_writer *writer;   /* of what outlives us; NULL: nothing does */
	struct saved_role *saved;      /* one for each role */
	uint64_t saved_at, saved_transitions;
	uint64_t refresh_due; /* when the budget of reads for the next refresh begins */
	int timer;
	struct wl_event_source *timer_source;
};

extern const struct screen_hooks roles_hooks; /* their data: struct roles */

/*
 * `domain` names our own, NULL: $GID_DOMAIN. `state` is the file of what outlives the process,
 * NULL: nothing does. The display is initialised already.
 */
int roles_init(struct roles *roles, const struct cluster_config *config, struct display *display,
		const char *domain, const char *state);
/*
 * Returns whether all workers have ended. If not, they may still read: the memory stays mapped, and
 * the configuration must stay, too.
 */
bool roles_finish(struct roles *roles);

/*
 * Measures how long pictures take on this machine, to grant workers that much real time, below the
 * display's priority. Takes some ms for each stream.
 */
void roles_measure(struct roles *roles, int priority);

/* Gives workers real-time priority for as long as was measured, see work_bound.h. */
void roles_grant_realtime(struct roles *roles);

/* Into wlroots' log. */
__attribute__((format(printf, 1, 2))) int roles_log(const char *format, ...);

#endif
