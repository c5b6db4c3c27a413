// SPDX-License-Identifier: MIT
/** gid-cluster --learn: collects the hashes of all pictures that a role's stream shows. */
#ifndef CLUSTER_LEARN_H
#define CLUSTER_LEARN_H

#include "cluster_config.h"

/*
 * Reads the role's stream for `seconds` (0: until SIGINT or SIGTERM, or the stream ends) and adds
 * what it saw to the file. Tells people what it does. Returns an exit status.
 */
int learn(const struct role_config *role, const char *domain, const char *path, unsigned seconds);

#endif
