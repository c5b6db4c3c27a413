// SPDX-License-Identifier: MIT
/** The socket that clients connect to, and the domain's folder that it is in. */
#ifndef GIDD_SERVER_H
#define GIDD_SERVER_H

#include "listener.h"

struct gidd;

struct server {
	struct gidd *gidd;
	char folder[96]; /* the domain's */
	int lock;	 /* held as long as this gidd is the domain's */
	struct listener listener;
};

/*
 * Makes the folder, takes its lock, and listens for clients: on the socket that systemd passed, or
 * on one of our own. 0, -EBUSY: another gidd runs for this domain; or -errno. Says why in the log.
 */
int server_init(struct server *server, struct gidd *gidd);
void server_finish(struct server *server);

#endif
