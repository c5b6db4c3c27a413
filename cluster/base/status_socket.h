// SPDX-License-Identifier: MIT
/** Where a display tells its status: one display has that place, and after it the next one. */
#ifndef STATUS_SOCKET_H
#define STATUS_SOCKET_H

struct status_socket {
	char *path;
	int fd;	  /* listens; -1: there is none */
	int lock; /* on `path`.lock, as long as the place is ours; -1: not */
};

#define STATUS_SOCKET_NONE ((struct status_socket){.fd = -1, .lock = -1})

/*
 * Takes `path`, also from a display that is gone; who connects waits until somebody accepts.
 * Returns 0 or -errno: -EADDRINUSE: another display has it, or another program listens there.
 */
int status_socket_open(struct status_socket *place, const char *path);

/* Leaves the place to others. Also of STATUS_SOCKET_NONE. */
void status_socket_close(struct status_socket *place);

#endif
