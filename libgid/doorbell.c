// SPDX-License-Identifier: MIT
#include "doorbell.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closer.h"
#include "socket.h"

/* Reads that empty a queue: an honest one has a byte for each time that somebody slept. */
#define DRAIN_MAX 16

int gid_doorbell_create(struct gid_doorbell *ours, int *theirs) {
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0) {
		return -errno;
	}
	gid_socket_refuse_rights(fds[0]);
	*ours = (struct gid_doorbell){.fd = fds[0]};
	*theirs = fds[1];
	return 0;
}

int gid_doorbell_take(struct gid_doorbell *bell, int fd) {
	int family, type;
	socklen_t size = sizeof(int);
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 || family != AF_UNIX ||
			getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
			type != SOCK_STREAM) {
		return -EPROTO;
	}
	/* What was sent before: rings, if it is honest. No more than a socket's queue holds. */
	gid_socket_refuse_rights(fd);
	struct gid_doorbell taken = {.fd = fd};
	char bytes[512];
	for (int i = 0; i < DRAIN_MAX; i++) {
		ssize_t got = gid_socket_read(fd, bytes, sizeof(bytes));
		if (got == -EAGAIN || got == 0) {
			*bell = taken;
			return 0;
		}
		if (got < 0) {
			return -EPROTO;
		}
		taken.heard += (uint64_t)got;
	}
	return -EPROTO;
}

void gid_doorbell_finish(struct gid_doorbell *bell) {
	gid_closer_hang_up(bell->fd);
	bell->fd = -1;
}

void gid_doorbell_ring(const struct gid_doorbell *bell) {
	/* Full: it has been rung. Hung up: we hear of that when we listen. */
	(void)send(bell->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int gid_doorbell_silence(struct gid_doorbell *bell, uint64_t sleeps) {
	char bytes[64];
	ssize_t got = gid_socket_read(bell->fd, bytes, sizeof(bytes));
	if (got <= 0) {
		return got == -EAGAIN ? 0 : got == -EPROTO ? -EPROTO : -EPIPE;
	}
	bell->heard += (uint64_t)got;
	return bell->heard > sleeps ? -EPROTO : 0;
}
