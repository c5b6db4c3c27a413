// SPDX-License-Identifier: MIT
/** Reads the configuration again at SIGHUP. What the new one does not allow any more ends. */
#ifndef GIDD_RELOAD_H
#define GIDD_RELOAD_H

#include "gidd.h"

struct reload {
	struct gidd *gidd;
	struct config *config; /* the one that gidd works by */
	const char *path;
};

/* SIGHUP must be blocked. `reload` lives as long as the event loop. */
int reload_init(struct reload *reload, struct gidd *gidd, struct config *config, const char *path);

/* Ends what the configuration, after an update, does not allow any more, and opens new links. */
void reload_apply(struct gidd *gidd);

#endif
