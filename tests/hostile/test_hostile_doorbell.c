// SPDX-License-Identifier: MIT
/* Doorbells whose other end is held by somebody who means no good. */
#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "doorbell.h"
#include "tap.h"

#define PATIENCE_NS 10000000000ull

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

/* What a helper reads away nobody is woken by: the owner looks by itself until that is over.
 * Returns what went wrong, or NULL. */
static const char *empty_once(void) {
	struct gid_doorbell ours, theirs;
	const char *wrong = NULL;
	int fd, heard = 0, rings = 0;
	gid_doorbell_create(&ours, &fd);
	gid_doorbell_take(&theirs, fd, 0);
	while (heard == 0 && rings < 100) {
		gid_doorbell_ring(&ours);
		heard = gid_doorbell_silence(&theirs, (uint64_t)++rings);
	}
	if (heard != 2 || theirs.waiting != rings) {
		wrong = "it is not emptied";
	}
	uint64_t begin = gid_clock_now();
	while ((heard = gid_doorbell_silence(&theirs, (uint64_t)rings)) > 0 &&
			gid_clock_now() - begin < PATIENCE_NS) {
		sched_yield();
	}
	if (heard != 0 || theirs.waiting != 0) {
		wrong = "a helper is at it when that is said to be over";
	}
	gid_doorbell_ring(&ours);
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	gid_doorbell_silence(&theirs, (uint64_t)rings + 1);
	if (wrong == NULL && theirs.waiting != 1) {
		wrong = "the next ring does not stay";
	}
	gid_doorbell_finish(&ours);
	gid_doorbell_finish(&theirs);
	return wrong;
}

static void test_emptied(void) {
	const char *wrong = NULL;
	int round = 0;
	while (wrong == NULL && round < 300) {
		wrong = empty_once();
		round++;
	}
	tap_ok(wrong == NULL,
			"who was rung often is emptied, and hears the next ring: %s in round %d",
			wrong == NULL ? "nothing wrong" : wrong, round);
}

/* The memory of one that is over may be another's next, which no helper empties. */
static void test_over(void) {
	bool is_free = true;
	for (int round = 0; is_free && round < 300; round++) {
		struct gid_doorbell ours, theirs;
		int fd, rings = 0, heard = 0;
		gid_doorbell_create(&ours, &fd);
		gid_doorbell_take(&theirs, fd, 0);
		while (heard == 0 && rings < 64) {
			gid_doorbell_ring(&ours);
			heard = gid_doorbell_silence(&theirs, (uint64_t)++rings);
		}
		gid_doorbell_finish(&theirs);
		is_free = heard == 2 && !gid_closer_is_emptying(&theirs);
		gid_doorbell_finish(&ours);
	}
	tap_ok(is_free, "a helper that is still at work is at none of another doorbell");
}

int main(void) {
	test_doorbells();
	test_many_rings();
	test_emptied();
	test_over();
	return tap_finish();
}
