// SPDX-License-Identifier: MIT
/** The sockets that gidd listens on, and the folder that they are in. */
#ifndef GIDD_SERVER_H
#define GIDD_SERVER_H

#include "gidd.h"

struct server {
	struct gidd *gidd;
	char folder[96]; /* the domain's */
	int lock;	 /* held as long as this gidd is the domain's */
	int fd;
	bool activated; /* systemd made the socket, and keeps it */
	sd_event_source *io;
	sd_event_source *pause; /* until the next try to accept, when there were no descriptors */
};

/*
 * Makes the folder, takes its lock, and listens for clients: on the socket that systemd passed, or
 * on one of our own. 0, -EBUSY: another gidd runs for this domain; or -errno. Says why in the log.
 */
int server_init(struct server *server, struct gidd *gidd);
void server_finish(struct server *server);

/*
 * A listening seqpacket socket at `path`, in the place of one that a dead gidd left behind; only
 * for use under the folder's lock. `mode` is the socket's.
 */
int server_listen(const char *path, unsigned mode);
/* The same for a byte stream. */
int server_listen_stream(const char *path, unsigned mode);

#endif
