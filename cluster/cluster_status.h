// SPDX-License-Identifier: MIT
/**
 * The status socket: whoever connects gets one JSON object about roles and display, and then the
 * end of the connection. Clients cannot make the display wait, nor take more than a small part of
 * its time, nor more memory than a few answers.
 */
#ifndef CLUSTER_STATUS_H
#define CLUSTER_STATUS_H

#include <stdio.h>

#include "roles.h"
#include "status_socket.h"

#define CLUSTER_STATUS_UNREAD_MAX 16

struct cluster_status {
	const struct roles *roles;
	struct status_socket place;
	struct wl_event_source *source, *pause;
	/* Connections whose answers may not have been read. */
	struct unread {
		int fd;
		uid_t user;
		/* The answer, if the socket had no room for all of it; else NULL. */
		char *text;
		size_t size, sent;
		struct wl_event_source *source; /* when there is room again */
	} unread[CLUSTER_STATUS_UNREAD_MAX];
	uint32_t unread_count;
	uid_t user; /* ours */
	/* The answer that is being written, and for which connection. */
	FILE *answer; /* NULL: none */
	char *text;
	size_t size, part; /* of the text; the next one to be added */
	uint64_t spent;	   /* on it, ns */
	int peer;
};

/* Begins without a socket. */
void cluster_status_init(struct cluster_status *status);
/* Begins to answer, in the loop of `roles`, which must outlive it. Returns 0 or -errno. */
int cluster_status_start(struct cluster_status *status, const struct roles *roles);
void cluster_status_finish(struct cluster_status *status);

#endif
