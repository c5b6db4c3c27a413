// SPDX-License-Identifier: MIT
/*
 * A doorbell's end whose giver has kept it, too, and keeps it locked in the kernel: by a read, and
 * by an option that it sets, with memory that never comes. Run by stuck_page.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doorbell.h"
#include "holding.h"
#include "tap.h"

static char *never; /* the first byte of a page that never comes, behind one that is there */
static int end;	    /* the doorbell's, as its giver has it */
static struct gid_doorbell ours;
static int heard;

static void *hold_read(void *data) {
	recv(end, never, 1, 0);
	return NULL;
}

static void *hold_option(void *data) {
	setsockopt(end, SOL_SOCKET, SO_LINGER, never - 4, sizeof(struct linger));
	return NULL;
}

static void *take(void *data) {
	heard = gid_doorbell_take(&ours, fcntl(end, F_DUPFD_CLOEXEC, 0), 1);
	return NULL;
}

static void *silence(void *data) {
	heard = gid_doorbell_silence(&ours, UINT64_MAX);
	return NULL;
}

static void *finish(void *data) {
	gid_doorbell_finish(&ours);
	return NULL;
}

static bool ring_until(struct gid_doorbell *bell, int expected) {
	bool back = true;
	for (int i = 0; i < 1000 && back && heard >= 0 && heard != expected; i++) {
		gid_doorbell_ring(bell);
		back = holding_returns(silence);
	}
	return back && heard == expected;
}

static void test_held(void *(*hold)(void *), bool in_its_way) {
	struct gid_doorbell giver;
	gid_doorbell_create(&giver, &end);
	gid_doorbell_ring(&giver);
	holding_start(hold);
	if (!tap_ok(holding_returns(take) && heard == 0, "it is taken over")) {
		return;
	}
	tap_ok(holding_returns(silence) && heard == 0, "and listened to");
	if (in_its_way) {
		tap_ok(ring_until(&giver, 1), "before it is full, that is told");
		for (int i = 0; i < 1000 && heard == 1; i++) {
			nanosleep(&(struct timespec){.tv_nsec = GID_DOORBELL_POLL_NS}, NULL);
			holding_returns(silence);
		}
		tap_ok(heard == -EPROTO, "after a while, it is none any more");
	}
	gid_doorbell_finish(&giver);
	tap_ok(holding_returns(silence) && heard == -EPIPE, "a hang-up is told");
	tap_ok(holding_returns(finish), "and nobody waits for its end");
}

int main(int argc, char **argv) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int file = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
	char *pages = mmap(
			NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(pages, 0, page);
	never = mmap(pages + page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
	if (!tap_ok(never != MAP_FAILED, "memory that never comes")) {
		return tap_finish();
	}
	test_held(hold_read, true);
	test_held(hold_option, false);
	int status = tap_finish();
	fflush(stdout);
	_exit(status); /* a search for leaks would stop the threads first, which nobody can */
}
