// SPDX-License-Identifier: MIT
/** Reads the configuration again at SIGHUP. What the new one does not allow any more ends. */
#ifndef GIDD_RELOAD_H
#define GIDD_RELOAD_H

#include "gidd.h"

struct reload {
	struct gidd *gidd;
	struct config *config; /* the one that gidd works by */
	const char *path;
	uint64_t readings; /* since the start */
	char *refused; /* what was wrong with the last one, a line each; NULL: it was taken over */
};

/* SIGHUP must be blocked. `reload` lives as long as the event loop. To be finished on failure, too.
 */
int reload_init(struct reload *reload, struct gidd *gidd, struct config *config, const char *path);

void reload_finish(struct reload *reload);

/* Ends what the configuration, after an update, does not allow any more, and opens new links. */
void reload_apply(struct gidd *gidd);

#endif
