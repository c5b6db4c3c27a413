// SPDX-License-Identifier: MIT
/** The command line of gid-cluster. */
#ifndef CLUSTER_OPTIONS_H
#define CLUSTER_OPTIONS_H

#include <stdbool.h>

struct cluster_options {
	const char *config, *domain, *status, *state;
	const char *learn, *output; /* a role, and the file of hashes to add to */
	/* A PNG: only pictures that are near to those in it are learned; NULL: all are. */
	const char *like;
	unsigned seconds, tolerance;
	int realtime; /* real-time priority; 0: ordinary scheduling */
	bool headless, check, confine, verbose;
};

/* Ends the program for --help and for mistakes. */
void cluster_options_parse(struct cluster_options *options, int argc, char **argv);

#endif
