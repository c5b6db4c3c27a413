// SPDX-License-Identifier: MIT
/** gid-cluster --learn: collects the hashes of all pictures that a role's stream shows. */
#ifndef CLUSTER_LEARN_H
#define CLUSTER_LEARN_H

#include "cluster_config.h"

struct learn_options {
	const char *path;   /* of the file of hashes */
	unsigned seconds;   /* 0: until SIGINT or SIGTERM, or the stream ends */
	const char *like;   /* a PNG of pictures below each other; NULL: any picture is learned */
	unsigned tolerance; /* with `like`: how far each colour may be from one of those, of 255 */
};

/*
 * Reads the role's stream, and adds what it saw to the file. Tells people what it does. Returns an
 * exit status.
 */
int learn(const struct role_config *role, const char *domain, const struct learn_options *options);

#endif
