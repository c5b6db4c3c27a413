// SPDX-License-Identifier: MIT
/** A program of this domain that is connected to its gidd. */
#ifndef GIDD_CLIENT_H
#define GIDD_CLIENT_H

#include "config.h"
#include "connection.h"
#include "registry.h"

struct client {
	TAILQ_ENTRY(client) entry;
	struct peer peer;
	struct connection connection;
	sd_event_source *patience; /* for HELLO; NULL once that came */
	uint64_t id;
	char program[64];
	pid_t pid;
	uid_t uid;
	uint64_t used[QUOTA_COUNT];
	struct slabs slabs;
	struct streams streams;
};

/* A connection came in on the domain's socket. Takes `fd` over. */
void client_create(struct gidd *gidd, int fd);
/* Everything that it had is cleaned up: slabs revoked, streams and subscriptions ended. */
void client_destroy(struct client *client);

#endif
