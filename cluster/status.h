// SPDX-License-Identifier: MIT
/**
 * Tells programs how the roles and the display are: whoever connects to the socket gets one JSON
 * object, and the end of the connection. Nobody can make us wait.
 */
#ifndef CLUSTER_STATUS_H
#define CLUSTER_STATUS_H

#include "safety.h"

struct status {
	const struct safety *safety;
	char *path;
	int fd;
	struct wl_event_source *source;
};

/* Listens at `path`, which it takes over from an instance that is gone. Returns 0 or -errno. */
int status_init(struct status *status, const struct safety *safety, const char *path);
void status_finish(struct status *status);

#endif
