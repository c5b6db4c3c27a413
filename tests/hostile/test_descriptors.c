// SPDX-License-Identifier: MIT
/*
 * Descriptors whose last close blocks: a TCP socket that lingers, with all its queue unsent.
 * Whoever gives one away hopes that the other side closes it, in a thread that has better things to
 * do.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "doorbell.h"
#include "socket.h"
#include "tap.h"

#define LINGER_S 120 /* or until the far end is closed */
#define SOON_NS 30000000000ull
#define SHORT_LINGER_S 1
#define PATIENCE_NS 180000000000ull
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

static int listener, far_ends[512];
static unsigned far_count;

static void skip(void) {
	printf("1..0 # SKIP no TCP on this machine\n");
	exit(0);
}

/* A socket that takes so long to be closed, for its peer never reads. */
static int make_trap_of(int seconds) {
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int trap = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	getsockname(listener, (struct sockaddr *)&address, &size);
	if (connect(trap, (struct sockaddr *)&address, size) < 0) {
		skip();
	}
	far_ends[far_count++] = accept(listener, NULL, NULL);
	static const char data[65536];
	while (send(trap, data, sizeof(data), MSG_DONTWAIT) > 0) {
	}
	struct linger linger = {.l_onoff = 1, .l_linger = seconds};
	setsockopt(trap, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	return trap;
}

static int make_trap(void) {
	return make_trap_of(LINGER_S);
}

/* Sends `size` bytes with `count` traps, of which this process keeps none. */
static int send_traps(int socket, size_t size, unsigned count) {
	union {
		char bytes[CMSG_SPACE(GID_SOCKET_RIGHTS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	char data[16] = "";
	struct iovec iov = {data, size};
	struct msghdr message = {.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control.bytes,
			.msg_controllen = CMSG_SPACE(count * sizeof(int))};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	*header = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
	int traps[GID_SOCKET_RIGHTS_MAX];
	for (unsigned i = 0; i < count; i++) {
		traps[i] = make_trap();
	}
	memcpy(CMSG_DATA(header), traps, count * sizeof(int));
	int error = sendmsg(socket, &message, MSG_DONTWAIT) < 0 ? -errno : 0;
	for (unsigned i = 0; i < count && error == 0; i++) {
		close(traps[i]);
	}
	for (unsigned i = 0; i < count && error < 0; i++) {
		gid_closer_close(traps[i]);
	}
	return error;
}

/* As it is on kernels before 6.16. */
static void allow_rights(int socket) {
	int on = 1;
	setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &on, sizeof(on));
}

static uint64_t begun;

static void begin(void) {
	begun = gid_clock_now();
}

static bool was_quick(void) {
	return gid_clock_now() - begun < SOON_NS;
}

static bool all_closed(void) {
	while (far_count > 0) {
		close(far_ends[--far_count]);
	}
	uint64_t end = gid_clock_now() + PATIENCE_NS;
	while (gid_closer_pending() > 0 && gid_clock_now() < end) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	return gid_closer_pending() == 0;
}

static void test_the_trap_is_one(void) {
	int trap = make_trap_of(SHORT_LINGER_S);
	begin();
	close(trap);
	tap_ok(gid_clock_now() - begun >= SHORT_LINGER_S * UINT64_C(990000000),
			"closing a trap takes its time here");
}

static void test_doorbells(void) {
	struct gid_doorbell ours;
	int theirs;
	gid_doorbell_create(&ours, &theirs);
	int refused = send_traps(theirs, 1, 1);
	tap_ok(refused == -EPERM || refused == 0, "the kernel refuses it, if it can (%d)", refused);
	allow_rights(ours.fd);
	tap_ok(refused == 0 || send_traps(theirs, 1, 1) == 0, "a trap with a ring");
	begin();
	tap_ok(gid_doorbell_silence(&ours, 1) == -EPROTO, "is no ring");
	tap_ok(was_quick(), "and does not hold up who listens");
	tap_ok(send_traps(theirs, 1, 1) == 0, "a trap that nobody reads");
	begin();
	gid_doorbell_finish(&ours);
	tap_ok(was_quick(), "does not hold up who closes the bell");
	close(theirs);

	int pair[2];
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
	tap_ok(send_traps(pair[1], 1, 2) == 0, "traps in a bell that is still to be taken over");
	begin();
	tap_ok(gid_doorbell_take(&ours, pair[0], 0) == 0, "nobody looks into it");
	tap_ok(gid_doorbell_silence(&ours, 0) == -EPROTO, "but it is one ring too many");
	gid_doorbell_finish(&ours);
	tap_ok(was_quick(), "which is found out at once");
	close(pair[1]);

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
	send(pair[1], "", 1, 0);
	tap_ok(gid_doorbell_take(&ours, pair[0], 0) == 0 && gid_doorbell_silence(&ours, 1) == 0 &&
					ours.heard == 1,
			"a ring from before is counted");
	gid_doorbell_finish(&ours);
	close(pair[1]);
	tap_ok(all_closed(), "all of them are closed in the end");
}

static void test_packets(void) {
	static const struct {
		size_t size;
		unsigned count;
		const char *what;
	} tries[] = {
			{8, 3, "one too many"},
			{0, 1, "without a byte"},
			{8, GID_SOCKET_RIGHTS_MAX, "as many as there can be"},
			{16, 2, "with a packet that is too long"},
	};
	int pair[2], fds[GID_SOCKET_FDS_MAX];
	char data[8];
	uint32_t count;
	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		tap_ok(send_traps(pair[1], tries[i].size, tries[i].count) == 0, "traps, %s",
				tries[i].what);
		begin();
		tap_ok(gid_socket_receive(pair[0], data, sizeof(data), fds, &count) == -EPROTO &&
						count == 0 && fds[0] == -1,
				"are refused");
		tap_ok(was_quick(), "at once");
	}
	tap_ok(send_traps(pair[1], 8, 2) == 0, "as many as are due");
	begin();
	tap_ok(gid_socket_receive(pair[0], data, sizeof(data), fds, &count) == 8 && count == 2,
			"are received");
	gid_socket_close_fds(fds, count);
	tap_ok(was_quick() && fds[0] == -1 && fds[1] == -1, "and closed elsewhere");
	tap_ok(all_closed(), "all of them, in the end");
	close(pair[0]);
	close(pair[1]);
}

static void test_a_child_closes_as_well(void) {
	pid_t child = fork();
	if (child == 0) {
		gid_closer_close(make_trap());
		_exit(all_closed() ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	tap_ok(status == 0, "a child of fork() has helpers of its own");
}

int main(void) {
	struct sockaddr_in address = {.sin_family = AF_INET};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int small = 4096; /* what waits at the other end is not waited for */
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
			listen(listener, 512) < 0) {
		skip();
	}
	test_the_trap_is_one();
	test_doorbells();
	test_packets();
	test_a_child_closes_as_well();
	return tap_finish();
}
