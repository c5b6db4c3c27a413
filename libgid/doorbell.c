// SPDX-License-Identifier: MIT
#include "doorbell.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int gid_doorbell_create(struct gid_doorbell *ours, int *theirs) {
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0) {
		return -errno;
	}
	*ours = (struct gid_doorbell){.fd = fds[0]};
	*theirs = fds[1];
	return 0;
}

int gid_doorbell_take(struct gid_doorbell *bell, int fd) {
	int family, type;
	socklen_t size = sizeof(int);
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 || family != AF_UNIX ||
		getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM) {
		return -EPROTO;
	}
	*bell = (struct gid_doorbell){.fd = fd};
	return 0;
}

void gid_doorbell_finish(struct gid_doorbell *bell) {
	if (bell->fd >= 0) {
		close(bell->fd);
	}
	bell->fd = -1;
}

void gid_doorbell_ring(const struct gid_doorbell *bell) {
	/* Full: it has been rung. Hung up: we hear of that when we listen. */
	(void)send(bell->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int gid_doorbell_silence(struct gid_doorbell *bell, uint64_t sleeps) {
	char bytes[64];
	ssize_t got = recv(bell->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (got < 0) {
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	}
	if (got == 0) {
		return -EPIPE;
	}
	bell->heard += (uint64_t)got;
	return bell->heard > sleeps ? -EPROTO : 0;
}
