// SPDX-License-Identifier: MIT
/** All canvases of a configuration, each with its thread. */
#ifndef ENGINE_CANVASES_H
#define ENGINE_CANVASES_H

#include "engine_config.h"
#include "helpers.h"

struct canvases {
	const char *domain;	       /* the engine's, NULL: as gid_domain_connect() finds it */
	struct engine_config config;   /* in force */
	struct requester **requesters; /* of config.canvases */
	struct helpers *helpers;       /* of all of them; NULL: none */
};

/* Begins without canvases. */
void canvases_init(struct canvases *canvases, const char *domain);

/*
 * Applies another configuration, and takes its content: `config` is empty then. A canvas of which
 * nothing changed goes on; one that changed begins anew, as after a restart of the engine. Returns
 * how many threads were started, or -errno: then those that could be started run.
 */
int canvases_apply(struct canvases *canvases, struct engine_config *config);

/* Ends all threads, and waits for that. */
void canvases_finish(struct canvases *canvases);

#endif
