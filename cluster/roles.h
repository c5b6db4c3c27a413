// SPDX-License-Identifier: MIT
/**
 * All roles and layers together: their way to the domain, their common clock, and the display's
 * questions.
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
	uint64_t refresh_due; /* when what may be read in one refresh may be read again */
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
/* Returns whether nothing is read any more. Else the memory that it lies in stays, and the
 * configuration has to. */
bool roles_finish(struct roles *roles);

/*
 * How long pictures take here, to grant that later, below the display's priority. Takes some ms for
 * each stream.
 */
void roles_measure(struct roles *roles, int priority);

/* Workers go before ordinary programs for so long as was measured, see work_bound.h. */
void roles_grant_realtime(struct roles *roles);

/* Into wlroots' log. */
__attribute__((format(printf, 1, 2))) int roles_log(const char *format, ...);

#endif
