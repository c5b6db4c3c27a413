// SPDX-License-Identifier: MIT
/**
 * The daemon of one domain: what all its parts share.
 *
 * One thread, one event loop, nothing ever waits for a peer. Who knows whom, downwards:
 * main → server, link kinds → client, link → registry (slabs, streams) → peer.
 */
#ifndef GIDD_H
#define GIDD_H

#include <systemd/sd-event.h>

#include "config.h"
#include "registry.h"

struct client;
struct link;
struct window;
struct hub;
struct member;
struct doorbell;
struct reload;
TAILQ_HEAD(clients, client);
TAILQ_HEAD(links, link);

struct gidd {
	sd_event *event;
	const struct config *config;
	const struct config_domain *self;
	const char *runtime; /* folder of the sockets */
	struct registry registry;
	struct clients clients;
	struct links links;
	uint64_t used[QUOTA_COUNT];		    /* by all clients together */
	uint64_t client_count;			    /* ever */
	struct hub *hub;			    /* of the host's gidd, where there are guests */
	struct member *member;			    /* of one that is joined to others by the hub */
	struct doorbell *doorbell;		    /* NULL: rings go over the links */
	const struct reload *reload;		    /* NULL: it reads no file */
	struct window *windows[GID_DOMAIN_MAX + 1]; /* by domain; NULL: not opened */
};

#endif
