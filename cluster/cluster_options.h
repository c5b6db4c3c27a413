// SPDX-License-Identifier: MIT
/** The command line of gid-cluster. */
#ifndef CLUSTER_OPTIONS_H
#define CLUSTER_OPTIONS_H

#include <stdbool.h>

struct cluster_options {
	const char *config, *domain, *status, *state;
	const char *learn, *output; /* a role, and the file of hashes to add to */
	const char *like; /* a PNG of pictures that those are near to; NULL: any are learned */
	unsigned seconds, tolerance;
	int realtime; /* priority, 0: as others */
	bool headless, check, confine, verbose;
};

/* Ends the program for --help and for mistakes. */
void cluster_options_parse(struct cluster_options *options, int argc, char **argv);

#endif
