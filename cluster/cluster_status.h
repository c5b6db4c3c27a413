// SPDX-License-Identifier: MIT
/**
 * Tells programs how the roles and the display are: whoever connects to the socket gets one JSON
 * object, and the end of the connection. Nobody can make us wait, nor work for more than a part of
 * the time, nor for long at once, nor keep more of our memory than a few answers.
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
		/* What was longer than the socket has room for; NULL: it took all. */
		char *text;
		size_t size, sent;
		struct wl_event_source *source; /* when there is room again */
	} unread[CLUSTER_STATUS_UNREAD_MAX];
	uint32_t unread_count;
	uid_t user; /* ours */
	/* The answer that is being made, and for whom. */
	FILE *answer; /* NULL: none */
	char *text;
	size_t size, part; /* of the text; the next one to be added */
	uint64_t spent;	   /* on it, ns */
	int peer;
};

/* With no place to tell it yet. */
void cluster_status_init(struct cluster_status *status);
/* Answers from now on, in the loop of `roles`, which stay until the end. Returns 0 or -errno. */
int cluster_status_start(struct cluster_status *status, const struct roles *roles);
void cluster_status_finish(struct cluster_status *status);

#endif
