// SPDX-License-Identifier: MIT
/**
 * Tells programs how the roles and the display are: whoever connects to the socket gets one JSON
 * object, and the end of the connection. Nobody can make us wait.
 */
#ifndef CLUSTER_STATUS_H
#define CLUSTER_STATUS_H

#include "roles.h"

struct cluster_status {
	const struct roles *roles;
	char *path;
	int fd;
	struct wl_event_source *source;
};

/* Listens at `path`, which it takes over from an instance that is gone. Returns 0 or -errno. */
int cluster_status_init(struct cluster_status *status, const struct roles *roles, const char *path);
void cluster_status_finish(struct cluster_status *status);

#endif
