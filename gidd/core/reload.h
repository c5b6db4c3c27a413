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

/*
 * Takes streams of `owner` from `reader` (NULL: from all others), until the configuration is read
 * again. 0 or -errno; reload_apply() ends what is not allowed any more.
 */
int reload_withdraw(struct reload *reload, const struct config_domain *owner,
		const struct config_domain *reader, const char *streams);

/*
 * Ends what the configuration, after an update, does not allow any more, and opens new links.
 * `what` has happened, for the log.
 */
void reload_apply(struct gidd *gidd, const char *what);

#endif
