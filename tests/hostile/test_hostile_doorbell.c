// SPDX-License-Identifier: MIT
/* Doorbells whose other end is held by somebody who means no good. */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "doorbell.h"
#include "tap.h"

static void test_doorbells(void) {
	struct gid_doorbell ours, theirs;
	int fd;
	tap_ok(gid_doorbell_create(&ours, &fd) == 0 && gid_doorbell_take(&theirs, fd, 0) == 0,
			"a pair");
	tap_ok(gid_doorbell_silence(&ours, 0) == 0, "silence");
	/* The other side makes its end blocking and never looks: ringing goes on all the same. */
	fcntl(theirs.fd, F_SETFL, 0);
	fcntl(ours.fd, F_SETFL, 0);
	for (int i = 0; i < 1000000; i++) {
		gid_doorbell_ring(&ours);
	}
	tap_ok(true, "a million rings that nobody hears do not block");
	tap_ok(gid_doorbell_silence(&ours, 0) == 0, "nor does listening on a blocking end");
	tap_ok(gid_doorbell_silence(&theirs, 1) == -EPROTO, "noise is told from a ring");
	gid_doorbell_finish(&ours);
	tap_ok(gid_doorbell_silence(&theirs, UINT64_MAX) == -EPIPE, "a hang-up is told");
	gid_doorbell_ring(&theirs);
	tap_ok(true, "ringing after it does no harm");
	gid_doorbell_finish(&theirs);

	gid_doorbell_create(&ours, &fd);
	gid_doorbell_take(&theirs, fd, 0);
	gid_doorbell_ring(&ours);
	gid_doorbell_ring(&theirs);
	gid_doorbell_finish(&theirs);
	int heard = gid_doorbell_silence(&ours, 1);
	tap_ok(heard == -EPIPE || gid_doorbell_silence(&ours, 1) == -EPIPE,
			"a hang-up with a ring unheard is told");
	gid_doorbell_finish(&ours);

	int wrong[] = {epoll_create1(0), open("/dev/null", O_RDWR), -1,
			socket(AF_UNIX, SOCK_DGRAM, 0), socket(AF_INET, SOCK_STREAM, 0),
			socket(AF_UNIX, SOCK_SEQPACKET, 0)};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		tap_ok(gid_doorbell_take(&ours, wrong[i], 0) == -EPROTO, "no doorbell, %zu", i);
		if (wrong[i] >= 0) {
			close(wrong[i]);
		}
	}
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	tap_ok(gid_doorbell_take(&ours, fd, 0) == -EPROTO, "one that is connected to nobody");
	close(fd);
}

/* Of an end that came from the other side, which helpers empty. */
static void test_many_rings(void) {
	struct gid_doorbell ours, theirs;
	int fd, most = 0;
	gid_doorbell_create(&ours, &fd);
	gid_doorbell_take(&theirs, fd, 0);
	for (uint64_t sleeps = 1; sleeps <= 10000; sleeps++) {
		gid_doorbell_ring(&ours);
		int heard;
		while ((heard = gid_doorbell_silence(&theirs, sleeps)) == 1) {
			nanosleep(&(struct timespec){.tv_nsec = GID_DOORBELL_POLL_NS}, NULL);
		}
		most = heard >= 0 && theirs.waiting > most ? theirs.waiting : most;
		if (heard < 0) {
			most = heard;
			break;
		}
	}
	tap_ok(most > 0 && most < 200, "there is room for each of 10000 rings: %d at most wait",
			most);
	gid_doorbell_finish(&ours);
	gid_doorbell_finish(&theirs);
}

/* What a helper reads away nobody is woken by: the owner looks by itself until that is over. */
static void test_emptied(void) {
	struct gid_doorbell ours, theirs;
	int fd, heard = 0, rings = 0, looks = 0;
	gid_doorbell_create(&ours, &fd);
	gid_doorbell_take(&theirs, fd, 0);
	while (heard == 0 && rings < 100) {
		gid_doorbell_ring(&ours);
		heard = gid_doorbell_silence(&theirs, (uint64_t)++rings);
	}
	tap_ok(heard == 2 && theirs.waiting == rings, "after %d rings it is emptied", rings);
	while ((heard = gid_doorbell_silence(&theirs, (uint64_t)rings)) > 0 && ++looks < 1000) {
		nanosleep(&(struct timespec){.tv_nsec = GID_DOORBELL_POLL_NS}, NULL);
	}
	tap_ok(heard == 0 && theirs.waiting == 0, "which is over after %d looks", looks);
	gid_doorbell_ring(&ours);
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	gid_doorbell_silence(&theirs, (uint64_t)rings + 1);
	tap_ok(theirs.waiting == 1, "and then the next ring stays");
	gid_doorbell_finish(&ours);
	gid_doorbell_finish(&theirs);
}

int main(void) {
	test_doorbells();
	test_many_rings();
	test_emptied();
	return tap_finish();
}
