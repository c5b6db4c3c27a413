// SPDX-License-Identifier: MIT
/** A listening unix socket. When the process runs out of descriptors it pauses, and tries again. */
#ifndef GIDD_LISTENER_H
#define GIDD_LISTENER_H

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "config.h"

/* Somebody came in: a connected, non-blocking, close-on-exec socket, which is the receiver's. */
typedef void (*listener_accepted)(void *data, int fd);

struct listener {
	int fd;		/* -1: not open */
	char path[128]; /* "": another program's, which gave us the socket */
	sd_event_source *io, *pause;
	listener_accepted accepted;
	void *data;
};

/* Who else may connect; -1: nobody. */
struct listener_access {
	mode_t mode;
	uid_t user;
	gid_t group;
};

/* Who runs a domain: user=, else we. 0; -EINVAL: there is no such user, which is logged. */
int listener_find_user(const struct config_domain *domain, uid_t *user);

/*
 * Listens at `path`, in the place of a socket that a dead gidd left behind; only for use under the
 * domain's lock. `type` is SOCK_SEQPACKET or SOCK_STREAM. Nobody can connect before the socket is
 * theirs who may. Nobody can send descriptors before he was let in: who lets him in may allow them
 * by gid_socket_accept_rights(). 0 or -errno.
 */
int listener_open(struct listener *listener, sd_event *event, const char *path, int type,
		const struct listener_access *access, listener_accepted accepted, void *data);
/* The same with a socket that listens already, and stays there when it is closed here. */
int listener_adopt(struct listener *listener, sd_event *event, int fd, listener_accepted accepted,
		void *data);
/* Also accepts one that was never opened: zeroes but for fd = -1. */
void listener_close(struct listener *listener);

#endif
