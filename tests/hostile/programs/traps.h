// SPDX-License-Identifier: MIT
/*
 * Descriptors whose last close blocks for seconds: TCP sockets that linger, with a queue that their
 * peer, ourselves, never reads.
 */
#ifndef HOSTILE_TRAPS_H
#define HOSTILE_TRAPS_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRAPS_FAR_ENDS 64 /* the oldest is given up for a new one */
#define TRAPS_LINGER_S 4

/* Returns -1 where there is no TCP. */
static inline int traps_listener(void) {
	static int listener = -1;
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (listener < 0) {
		listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(listener, (struct sockaddr *)&any, sizeof(any)) < 0 ||
				listen(listener, 8) < 0) {
			close(listener);
			listener = -1;
		}
	}
	return listener;
}

static inline int traps_make(void) {
	static int far_ends[TRAPS_FAR_ENDS];
	static unsigned made;
	static const char data[65536];
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int listener = traps_listener();
	int trap = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (trap < 0 || getsockname(listener, (struct sockaddr *)&address, &size) < 0 ||
			connect(trap, (struct sockaddr *)&address, size) < 0) {
		close(trap);
		return -1;
	}
	int *far_end = &far_ends[made++ % TRAPS_FAR_ENDS];
	if (*far_end > 0) {
		close(*far_end);
	}
	*far_end = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (send(trap, data, sizeof(data), MSG_DONTWAIT) > 0) {
	}
	struct linger linger = {.l_onoff = 1, .l_linger = TRAPS_LINGER_S};
	setsockopt(trap, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	return trap;
}

/* Sends the bytes with a trap, of which this process keeps none. Returns 0 or -errno. */
static inline int traps_send(int fd, const void *data, size_t size) {
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec part = {(void *)data, size};
	struct msghdr message = {
			.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
	};
	int trap = traps_make();
	if (trap < 0) {
		return -ENOTSUP;
	}
	memcpy(CMSG_DATA(&control.header), &trap, sizeof(trap));
	int error = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
	if (error < 0) {
		struct linger off = {0};
		setsockopt(trap, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
	}
	close(trap);
	return error;
}

#endif
