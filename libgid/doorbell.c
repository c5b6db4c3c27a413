// SPDX-License-Identifier: MIT
#include "doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "closer.h"
#include "socket.h"

/* Bytes in an end that was taken. 278 fit in, as Linux counts by default. */
#define EMPTY_FROM 16
#define FULL 64
/* A helper that has not emptied it by then waits for whoever gave it. */
#define LATE_NS UINT64_C(2000000000)
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

int gid_doorbell_take(struct gid_doorbell *bell, int fd, uint64_t giver) {
	int family, type;
	socklen_t size = sizeof(int), name_size = sizeof(struct sockaddr_un);
	struct sockaddr_un name;
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 || family != AF_UNIX ||
			getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
			type != SOCK_STREAM ||
			getpeername(fd, (struct sockaddr *)&name, &name_size) < 0) {
		return -EPROTO;
	}
	*bell = GID_DOORBELL_NONE;
	bell->fd = fd;
	bell->taken = true;
	bell->giver = giver;
	return 0;
}

static void finish(struct gid_doorbell *bell, void (*close_end)(int fd)) {
	if (bell->emptying) {
		gid_closer_disown(bell);
		bell->emptying = false;
	}
	/* Who else had it can hold up its close: he is charged, whoever ends the bell. */
	const uint64_t before = gid_closer_charge(0);
	gid_closer_charge(bell->giver != 0 ? bell->giver : before);
	close_end(bell->fd);
	gid_closer_charge(before);
	bell->fd = -1;
	gid_socket_close_fds(&bell->hear, 1);
	gid_socket_close_fds(&bell->ring, 1);
}

void gid_doorbell_finish(struct gid_doorbell *bell) {
	finish(bell, gid_closer_hang_up);
}

void gid_doorbell_let_go(struct gid_doorbell *bell) {
	finish(bell, gid_closer_close);
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

/* One helper at a time: it reads all that there is when it comes to it. */
static void have_it_emptied(struct gid_doorbell *bell) {
	int copy = fcntl(bell->fd, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0) {
		uint64_t before = gid_closer_charge(bell->giver);
		gid_closer_empty(copy, bell);
		gid_closer_charge(before);
		bell->emptying = true;
	}
}

/* The bytes that wait in the end say how often it was rung, at least. */
static int silence_taken(struct gid_doorbell *bell, uint64_t sleeps) {
	struct pollfd end = {.fd = bell->fd, .events = POLLRDHUP};
	int waiting = 0;
	/* Asked first: a helper that is done leaves the bytes that are counted next. */
	bell->emptying = bell->emptying && gid_closer_is_emptying(bell);
	if (poll(&end, 1, 0) > 0 || ioctl(bell->fd, SIOCINQ, &waiting) < 0) {
		return -EPIPE;
	}
	bell->heard += waiting > bell->waiting ? (uint64_t)(waiting - bell->waiting) : 0;
	bell->waiting = waiting;
	if (bell->heard > sleeps) {
		return -EPROTO;
	}
	if (waiting >= EMPTY_FROM && !bell->emptying) {
		have_it_emptied(bell);
	}
	if (waiting < FULL) {
		bell->full = 0;
		return waiting >= EMPTY_FROM || bell->emptying ? 2 : 0;
	}
	/* While there is no helper to empty it, that is not its giver's fault, nor was it then. */
	uint64_t now = gid_clock_now();
	bell->full = bell->full == 0 || !gid_closer_has_helper() ? now : bell->full;
	return now - bell->full > LATE_NS ? -EPROTO : 1;
}

int gid_doorbell_silence(struct gid_doorbell *bell, uint64_t sleeps) {
	if (bell->taken) {
		return silence_taken(bell, sleeps);
	}
	char bytes[64];
	ssize_t got = gid_socket_read(bell->fd, bytes, sizeof(bytes));
	if (got <= 0) {
		return got == -EAGAIN ? 0 : got == -EPROTO ? -EPROTO : -EPIPE;
	}
	bell->heard += (uint64_t)got;
	return bell->heard > sleeps ? -EPROTO : 0;
}

bool gid_doorbell_bears(struct gid_doorbell *bell, uint64_t news) {
	bell->idle = news != bell->news ? 0 : bell->idle + 1;
	bell->news = news;
	return bell->idle <= IDLE_MAX;
}
