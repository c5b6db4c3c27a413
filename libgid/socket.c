// SPDX-License-Identifier: MIT
#include "socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"

/* Whether a socket takes descriptors: Linux 6.16, and later than many headers. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define NS_PER_S 1000000000ull
#define CONNECT_RETRY_NS 10000000ull

static struct timespec to_timespec(uint64_t ns) {
	return (struct timespec){
			.tv_sec = (time_t)(ns / NS_PER_S),
			.tv_nsec = (long)(ns % NS_PER_S),
	};
}

int gid_socket_connect(const char *path, uint64_t deadline) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -errno;
	}
	/* A full queue of a listener cannot be polled for. */
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = -errno;
		bool again = error == -EAGAIN && gid_clock_now() < deadline;
		if (!again) {
			close(fd);
			return error == -EAGAIN ? -ETIMEDOUT : error;
		}
		struct timespec pause = to_timespec(CONNECT_RETRY_NS);
		nanosleep(&pause, NULL);
	}
	return fd;
}

int gid_socket_send(int fd, const void *data, size_t size, const int *fds, uint32_t fd_count) {
	if (fd_count > GID_SOCKET_FDS_MAX) {
		return -EINVAL;
	}
	union {
		char bytes[CMSG_SPACE(GID_SOCKET_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec iov = {.iov_base = (void *)data, .iov_len = size};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd_count > 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(header), fds, fd_count * sizeof(int));
	}
	ssize_t sent;
	do {
		sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

void gid_socket_close_fds(int *fds, uint32_t fd_count) {
	for (uint32_t i = 0; i < fd_count; i++) {
		gid_closer_close(fds[i]);
		fds[i] = -1;
	}
}

static bool pass_rights(int fd, int pass) {
	return setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &pass, sizeof(pass)) == 0;
}

bool gid_socket_refuse_rights(int fd) {
	return pass_rights(fd, 0);
}

void gid_socket_accept_rights(int fd) {
	(void)pass_rights(fd, 1);
}

/*
 * Room for all descriptors that can come: recvmsg() itself closes those that have none, which may
 * block.
 */
union control {
	char bytes[CMSG_SPACE(GID_SOCKET_RIGHTS_MAX * sizeof(int))];
	struct cmsghdr align;
};

/* Takes the descriptors that came; closes those beyond `max` and returns false. */
static bool take_fds(struct msghdr *message, int *fds, uint32_t max, uint32_t *fd_count) {
	bool fit = true;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL;
			header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
			continue;
		}
		size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
			if (*fd_count < max) {
				fds[(*fd_count)++] = fd;
			} else {
				gid_closer_close(fd);
				fit = false;
			}
		}
	}
	return fit;
}

/* As gid_socket_receive(), with at most `max` descriptors. `*flags`: what recvmsg() tells. */
static ssize_t receive(int fd, void *data, size_t size, int *fds, uint32_t max, uint32_t *fd_count,
		int *flags) {
	union control control;
	struct iovec iov = {.iov_base = data, .iov_len = size};
	struct msghdr message = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control.bytes,
			.msg_controllen = sizeof(control.bytes),
	};
	*fd_count = 0;
	ssize_t received;
	do {
		received = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (received < 0 && errno == EINTR);
	if (received < 0) {
		return errno == ECONNRESET ? 0 : -errno;
	}
	bool fit = take_fds(&message, fds, max, fd_count);
	*flags = message.msg_flags;
	return fit ? received : -EPROTO;
}

ssize_t gid_socket_read(int fd, void *data, size_t size) {
	uint32_t fd_count;
	int flags = 0;
	ssize_t received = receive(fd, data, size, NULL, 0, &fd_count, &flags);
	return received >= 0 && (flags & MSG_CTRUNC) != 0 ? -EPROTO : received;
}

ssize_t gid_socket_receive(int fd, void *data, size_t size, int fds[static GID_SOCKET_FDS_MAX],
		uint32_t *fd_count) {
	for (uint32_t i = 0; i < GID_SOCKET_FDS_MAX; i++) {
		fds[i] = -1;
	}
	int flags = 0;
	ssize_t received = receive(fd, data, size, fds, GID_SOCKET_FDS_MAX, fd_count, &flags);
	bool empty = received == 0 && *fd_count > 0; /* a packet all the same, and not the end */
	if (received == -EPROTO || empty || (flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
		gid_socket_close_fds(fds, *fd_count);
		*fd_count = 0;
		/* There is room for all that can come: we are the ones who may have no more. */
		bool starved = received > 0 && (flags & (MSG_TRUNC | MSG_CTRUNC)) == MSG_CTRUNC;
		return starved ? -EMFILE : -EPROTO;
	}
	return received;
}

int gid_socket_wait(int fd, short events, uint64_t deadline) {
	for (;;) {
		uint64_t now = gid_clock_now();
		struct timespec left = to_timespec(deadline > now ? deadline - now : 0);
		struct pollfd poll_fd = {.fd = fd, .events = events};
		int ready = ppoll(&poll_fd, 1, &left, NULL);
		if (ready > 0) {
			return poll_fd.revents;
		}
		if (ready == 0) {
			return 0;
		}
		if (errno != EINTR) {
			return -errno;
		}
	}
}
