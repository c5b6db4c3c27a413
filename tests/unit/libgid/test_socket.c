// SPDX-License-Identifier: MIT
/* Packets with descriptors: none too many arrive, none stay behind, nothing waits for ever. */
#include "socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "tap.h"

static int count_fds(void) {
	while (gid_closer_pending() > 0) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	int count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (readdir(folder) != NULL) {
		count++;
	}
	closedir(folder);
	return count;
}

/* Sends a packet with any number of descriptors, as a hostile peer may. */
static void send_fds(int socket, size_t size, int fd, size_t count) {
	char bytes[64] = {0};
	union {
		char room[CMSG_SPACE(64 * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec iov = {bytes, size};
	struct msghdr message = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control.room,
			.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(int));
	for (size_t i = 0; i < count; i++) {
		memcpy(CMSG_DATA(header) + i * sizeof(int), &fd, sizeof(fd));
	}
	sendmsg(socket, &message, 0);
}

static void test_packets(const int pair[2]) {
	char bytes[16];
	int fds[GID_SOCKET_FDS_MAX];
	uint32_t count = 9;
	tap_ok(gid_socket_receive(pair[1], bytes, sizeof(bytes), fds, &count) == -EAGAIN &&
					count == 0,
			"an empty socket does not wait");
	tap_ok(gid_socket_send(pair[0], "hello", 5, (int[]){0, 1}, 2) == 0, "a packet is sent");
	ssize_t size = gid_socket_receive(pair[1], bytes, sizeof(bytes), fds, &count);
	tap_ok(size == 5 && memcmp(bytes, "hello", 5) == 0 && count == 2, "and received");
	tap_ok(fds[0] >= 0 && fds[1] >= 0 && fcntl(fds[0], F_GETFD) == FD_CLOEXEC &&
					fcntl(fds[1], F_GETFD) == FD_CLOEXEC,
			"with descriptors that are close-on-exec");
	gid_socket_close_fds(fds, GID_SOCKET_FDS_MAX);
	tap_ok(fds[0] == -1 && fds[1] == -1, "and closed");
	tap_ok(gid_socket_send(pair[0], "x", 1, (int[]){0, 1, 2}, 3) == -EINVAL,
			"three descriptors are not sent");
}

static void test_surplus(const int pair[2]) {
	char bytes[16];
	int fds[GID_SOCKET_FDS_MAX];
	uint32_t count;
	int before = count_fds();
	const size_t counts[] = {3, 4, 17, 64};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		send_fds(pair[0], 8, 0, counts[i]);
		tap_ok(gid_socket_receive(pair[1], bytes, sizeof(bytes), fds, &count) == -EPROTO &&
						count == 0 && fds[0] == -1 && fds[1] == -1,
				"%zu descriptors are refused", counts[i]);
	}
	send_fds(pair[0], 32, 0, 2);
	tap_ok(gid_socket_receive(pair[1], bytes, sizeof(bytes), fds, &count) == -EPROTO,
			"a packet that is too long is refused");
	send_fds(pair[0], 8, 0, 1);
	tap_ok(gid_socket_read(pair[1], bytes, sizeof(bytes)) == -EPROTO,
			"one is, where none may come");
	gid_socket_send(pair[0], bytes, 8, NULL, 0);
	tap_ok(gid_socket_read(pair[1], bytes, sizeof(bytes)) == 8, "bytes alone may");
	tap_ok(count_fds() == before, "and none of all those stays open");
	send_fds(pair[0], 8, 0, 1);
	tap_ok(gid_socket_receive(pair[1], bytes, sizeof(bytes), fds, &count) == 8 && count == 1,
			"the next packet comes through");
	gid_socket_close_fds(fds, GID_SOCKET_FDS_MAX);
}

static void test_bounds(int pair[2]) {
	char bytes[4096] = {0};
	int error = 0, sent = 0;
	while (error == 0 && sent < 100000) {
		error = gid_socket_send(pair[0], bytes, sizeof(bytes), NULL, 0);
		sent += error == 0;
	}
	tap_ok(error == -EAGAIN, "a full queue says so after %d packets", sent);
	uint64_t begin = gid_clock_now();
	int events = gid_socket_wait(pair[0], POLLOUT, begin + 30000000);
	uint64_t waited = gid_clock_now() - begin;
	tap_ok(events == 0 && waited >= 30000000, "and is waited for no longer than said");
	close(pair[1]);
	pair[1] = -1;
	/* It went with packets unread. */
	tap_ok(gid_socket_send(pair[0], "x", 1, NULL, 0) == -ECONNRESET &&
					gid_socket_send(pair[0], "x", 1, NULL, 0) == -EPIPE,
			"a peer that is gone says so");
	int fds[GID_SOCKET_FDS_MAX];
	uint32_t count;
	tap_ok(gid_socket_receive(pair[0], bytes, sizeof(bytes), fds, &count) == 0,
			"is the end of what it says");
}

static volatile sig_atomic_t signals;

static void hear_signal(int number) {
	signals++;
}

/* Signals in the midst of it neither end the wait nor make it longer. */
static void test_signals(int socket) {
	struct sigaction action = {.sa_handler = hear_signal}, before;
	const struct itimerval often = {{.tv_usec = 2000}, {.tv_usec = 2000}};
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	uint64_t begin = gid_clock_now();
	int events = gid_socket_wait(socket, POLLIN, begin + 100000000);
	uint64_t waited = gid_clock_now() - begin;
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	sigaction(SIGALRM, &before, NULL);
	tap_ok(events == 0 && signals > 0 && waited >= 100000000,
			"%d signals end no wait before its time", (int)signals);
}

static void test_connect(void) {
	char long_path[300];
	memset(long_path, 'x', sizeof(long_path));
	long_path[sizeof(long_path) - 1] = '\0';
	tap_ok(gid_socket_connect(long_path, 0) == -ENAMETOOLONG, "a path that is too long");
	tap_ok(gid_socket_connect("/nowhere/at/all", 0) == -ENOENT, "a path that is not");

	/* A listener that never accepts, with a queue of one. */
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[] = "/tmp/gid-socket-XXXXXX";
	if (mkdtemp(folder) == NULL) {
		tap_ok(false, "a folder for a socket");
		return;
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", folder);
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bind(listener, (struct sockaddr *)&address, sizeof(address));
	listen(listener, 0);
	int fds[8], count = 0, last;
	while ((last = gid_socket_connect(address.sun_path, gid_clock_now() + 30000000)) >= 0 &&
			count < 8) {
		fds[count++] = last;
	}
	tap_ok(count >= 1 && last == -ETIMEDOUT,
			"a listener's full queue is waited for, not for ever");
	while (count > 0) {
		close(fds[--count]);
	}
	close(listener);
	tap_ok(gid_socket_connect(address.sun_path, 0) == -ECONNREFUSED, "nobody listens any more");
	unlink(address.sun_path);
	rmdir(folder);
}

int main(void) {
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		tap_ok(false, "a pair of sockets");
		return tap_finish();
	}
	test_packets(pair);
	test_surplus(pair);
	test_signals(pair[0]);
	test_bounds(pair);
	close(pair[0]);
	test_connect();
	return tap_finish();
}
