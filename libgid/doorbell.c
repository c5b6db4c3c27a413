// SPDX-License-Identifier: MIT
#include "doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closer.h"
#include "socket.h"

/* Reads that empty a queue: an honest one has a byte for each time that somebody slept. */
#define DRAIN_MAX 16
/* An honest other side rings past gidd when we sleep and there is something new. */
#define IDLE_MAX 100u

int gid_doorbell_create(struct gid_doorbell *ours, int *theirs) {
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0) {
		return -errno;
	}
	gid_socket_refuse_rights(fds[0]);
	*ours = GID_DOORBELL_NONE;
	ours->fd = fds[0];
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
	struct gid_doorbell taken = GID_DOORBELL_NONE;
	taken.fd = fd;
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
	gid_socket_close_fds(&bell->hear, 1);
	gid_socket_close_fds(&bell->ring, 1);
}

void gid_doorbell_signal(int fd) {
	if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0) {
		(void)eventfd_write(fd, 1); /* full: it has been rung */
	}
}

void gid_doorbell_ring(const struct gid_doorbell *bell) {
	if (bell->ring >= 0) {
		gid_doorbell_signal(bell->ring);
		return;
	}
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

bool gid_doorbell_bears(struct gid_doorbell *bell, bool news) {
	bell->idle = news ? 0 : bell->idle + 1;
	return bell->idle <= IDLE_MAX;
}
