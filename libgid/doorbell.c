// SPDX-License-Identifier: MIT
#include "doorbell.h"

#include <errno.h>
#include <sys/socket.h>

/* A peer that rings without end does not keep us busy without end. */
#define ANSWERS_MAX 16

int gid_doorbell_create(int ends[static 2]) {
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;
}

int gid_doorbell_check(int end) {
	int type, domain;
	socklen_t size = sizeof(type);
	if (getsockopt(end, SOL_SOCKET, SO_TYPE, &type, &size) < 0) {
		return -EBADF;
	}
	size = sizeof(domain);
	if (getsockopt(end, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0) {
		return -EBADF;
	}
	return type == SOCK_STREAM && domain == AF_UNIX ? 0 : -EBADF;
}

int gid_doorbell_ring(int end) {
	if (send(end, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 || errno == EAGAIN) {
		return 0;
	}
	return -EPIPE;
}

int gid_doorbell_answer(int end) {
	char rings[256];
	for (int i = 0; i < ANSWERS_MAX; i++) {
		ssize_t count = recv(end, rings, sizeof(rings), MSG_DONTWAIT);
		if (count < 0 && errno == EINTR) {
			continue;
		}
		if (count < 0 && errno == EAGAIN) {
			return 0;
		}
		if (count <= 0) {
			return -EPIPE;
		}
		if ((unsigned long)count < sizeof(rings)) {
			return 0;
		}
	}
	return 0;
}
