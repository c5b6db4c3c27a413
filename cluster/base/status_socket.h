// SPDX-License-Identifier: MIT
/** The path of a status socket, which one display at a time has. */
#ifndef STATUS_SOCKET_H
#define STATUS_SOCKET_H

struct status_socket {
	char *path;
	int fd;	  /* listens; -1: there is none */
	int lock; /* on `path`.lock, as long as the place is ours; -1: not */
};

#define STATUS_SOCKET_NONE ((struct status_socket){.fd = -1, .lock = -1})

/*
 * Takes `path`, also from a display that is gone, and listens there. Returns 0 or -errno:
 * -EADDRINUSE: another display has it, or another program listens there.
 */
int status_socket_open(struct status_socket *place, const char *path);

/* Gives the path up for others. Accepts STATUS_SOCKET_NONE. */
void status_socket_close(struct status_socket *place);

#endif
