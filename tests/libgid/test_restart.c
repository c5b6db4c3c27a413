// SPDX-License-Identifier: MIT
/* What becomes of slabs, grants and imports when a gidd is killed and started again. */
#include <drm_fourcc.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cockpit.h"
#include "tap.h"

#define SLABS 150 /* more than the socket's queue holds of EXPORTs */

static struct gid_domain *owner, *reader;
static struct gid_layout layout;

static bool is_connected(void *data) {
	return gid_domain_is_connected(data);
}

static bool is_away(void *data) {
	return !gid_domain_is_connected(data);
}

static void count_revoked(void *data, struct gid_slab *slab) {
	++*(int *)data;
}

/* Kills a domain's gidd and starts it again; returns when the client is connected again. */
static bool restart(int number, struct gid_domain *client) {
	cockpit_kill(number);
	return cockpit_until(client, is_away, client) && cockpit_start(number) &&
			cockpit_until(client, is_connected, client);
}

/* The link between two gidds takes a moment to come back: asks until it has. */
static int import_soon(struct gid_domain *domain, gid_id gid, struct gid_slab **slab) {
	int error = -ENOTCONN;
	for (int i = 0; i < COCKPIT_PATIENCE_MS / 50 && error < 0; i++) {
		gid_domain_dispatch(owner);
		gid_domain_dispatch(reader);
		error = gid_slab_import(domain, gid, slab);
		if (error < 0) {
			cockpit_sleep_ms(50);
		}
	}
	return error;
}

/* Dispatches both for a while. */
static void dispatch_ms(long ms) {
	for (long end = cockpit_now_ms() + ms; cockpit_now_ms() < end; cockpit_sleep_ms(10)) {
		gid_domain_dispatch(owner);
		gid_domain_dispatch(reader);
	}
}

static bool hears_of_the_end(const int *revoked) {
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (*revoked == 0 && cockpit_now_ms() < end) {
		dispatch_ms(20);
	}
	return *revoked == 1;
}

/* A slab that the reader has imported, and whose end it counts. */
static struct gid_slab *lend(struct gid_slab **got, int *revoked) {
	struct gid_slab *slab = NULL;
	gid_slab_create(owner, &layout, 0, 1, NULL, &slab);
	gid_slab_grant(slab, 2);
	if (gid_slab_import(reader, gid_slab_gid(slab, 0), got) < 0 ||
			gid_slab_on_revoked(*got, count_revoked, revoked) < 0) {
		tap_ok(false, "a slab is lent: %s", gid_domain_error(reader));
	}
	return slab;
}

/* Until both gidds and their link are there again. */
static bool is_whole(void) {
	struct gid_slab *slab = NULL, *got = NULL;
	bool whole = cockpit_until(owner, is_connected, owner) &&
			cockpit_until(reader, is_connected, reader) &&
			gid_slab_create(owner, &layout, 0, 1, NULL, &slab) == 0 &&
			gid_slab_grant(slab, 2) == 0 &&
			import_soon(reader, gid_slab_gid(slab, 0), &got) == 0;
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
	return whole;
}

static void test_owner_side(void) {
	struct gid_slab *slabs[SLABS], *got = NULL, *fresh = NULL;
	gid_id gids[SLABS];
	int failed = 0, revoked = 0;
	for (int i = 0; i < SLABS; i++) {
		failed += gid_slab_create(owner, &layout, 0, 2, "video/x-raw", &slabs[i]) != 0;
		*(int *)gid_slab_data(slabs[i], 1) = i;
		gids[i] = gid_slab_gid(slabs[i], 1);
		failed += gid_slab_grant(slabs[i], 2) != 0;
	}
	failed += gid_slab_revoke(slabs[1], 2) != 0;
	failed += gid_slab_import(reader, gids[0], &got) != 0;
	failed += gid_slab_on_revoked(got, count_revoked, &revoked) != 0;
	tap_ok(failed == 0, "%d slabs are exported, and one imported", SLABS);

	cockpit_kill(1);
	gid_domain_dispatch(owner);
	tap_ok(gid_slab_create(owner, &layout, 0, 1, NULL, &fresh) == -ENOTCONN,
			"without gidd there are no new slabs");
	tap_ok(gid_slab_revoke(slabs[2], 2) == -ENOTCONN, "a grant is taken back meanwhile");
	*(int *)gid_slab_data(slabs[0], 1) = 4711;
	tap_ok(*(const int *)gid_slab_view(got, 1) == 4711, "what is mapped goes on");
	tap_ok(cockpit_start(1), "gidd is started again");
	long begin = cockpit_now_ms();
	bool back = cockpit_until(owner, is_connected, owner);
	tap_ok(back, "it is found (%ld ms)", cockpit_now_ms() - begin);

	struct gid_slab *again = NULL;
	int error = import_soon(reader, gids[SLABS - 1], &again);
	tap_ok(error == 0 && *(const int *)gid_slab_view(again, 1) == SLABS - 1,
			"the last slab is there under its old gid: %s", gid_domain_error(reader));
	gid_slab_unref(again);
	failed = 0;
	for (int i = 3; i < SLABS; i++) {
		struct gid_slab *slab = NULL;
		failed += gid_slab_import(reader, gids[i], &slab) != 0 ||
				*(const int *)gid_slab_view(slab, 1) != i;
		gid_slab_unref(slab);
	}
	tap_ok(failed == 0, "so are all the others (%d are not)", failed);
	tap_ok(gid_slab_import(reader, gids[1], &again) == -ENOENT &&
					gid_slab_import(reader, gids[2], &again) == -ENOENT,
			"grants that were taken back do not return");
	dispatch_ms(500);
	tap_ok(revoked == 0 && gid_slab_is_current(got, gids[0]), "the import was never revoked");
	error = gid_slab_create(owner, &layout, 0, 1, NULL, &fresh);
	bool other = error == 0;
	for (int i = 0; i < SLABS; i++) {
		other = other && gid_slab_key(gids[i]) != gid_slab_key(gid_slab_gid(fresh, 0));
	}
	tap_ok(other, "a new slab has a number of its own");
	gid_slab_destroy(fresh, false);
	for (int i = 0; i < SLABS; i++) {
		gid_slab_destroy(slabs[i], false);
	}
	tap_ok(hears_of_the_end(&revoked), "when the slab goes its importer hears of it, once");
	gid_slab_unref(got);
}

static void test_reader_side(void) {
	struct gid_slab *got = NULL;
	int revoked = 0;
	struct gid_slab *slab = lend(&got, &revoked);
	tap_ok(restart(2, reader) && is_whole(), "the reader's gidd is killed and comes back");
	dispatch_ms(1500);
	tap_ok(revoked == 0, "the import goes on");
	gid_slab_revoke(slab, 2);
	tap_ok(hears_of_the_end(&revoked), "and the new gidd tells when it ends");
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
}

/* The owner goes while the reader's gidd is away: there is nobody to tell the reader. */
static void test_lost_meanwhile(void) {
	struct gid_slab *got = NULL;
	int revoked = 0;
	struct gid_slab *slab = lend(&got, &revoked);
	cockpit_kill(2);
	cockpit_until(reader, is_away, reader);
	gid_slab_destroy(slab, false);
	tap_ok(cockpit_start(2) && cockpit_until(reader, is_connected, reader),
			"a slab goes while the reader's gidd is away");
	long begin = cockpit_now_ms();
	tap_ok(hears_of_the_end(&revoked), "the reader finds out (%ld ms)",
			cockpit_now_ms() - begin);
	gid_slab_unref(got);
}

static void test_both(void) {
	struct gid_slab *got = NULL;
	int revoked = 0;
	struct gid_slab *slab = lend(&got, &revoked);
	cockpit_kill(1);
	cockpit_kill(2);
	dispatch_ms(100);
	cockpit_start(2);
	dispatch_ms(1000);
	cockpit_start(1);
	tap_ok(is_whole(), "both gidds are killed and come back, one after the other");
	dispatch_ms(6000); /* gidd asks whether it is still there */
	tap_ok(revoked == 0 && gid_slab_is_current(got, gid_slab_gid(slab, 0)),
			"the import goes on");
	gid_slab_destroy(slab, false);
	tap_ok(hears_of_the_end(&revoked), "and its end is heard of");
	gid_slab_unref(got);
}

/* Descriptors on their way to nobody, until no more can be sent with so low a limit. Returns why.
 */
static int fill_flight(int socket) {
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec byte = {.iov_base = "", .iov_len = 1};
	struct msghdr message = {.msg_iov = &byte,
			.msg_iovlen = 1,
			.msg_control = control.bytes,
			.msg_controllen = sizeof(control.bytes)};
	control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
	*(int *)CMSG_DATA(&control.header) = STDOUT_FILENO;
	while (sendmsg(socket, &message, MSG_DONTWAIT) > 0) {
	}
	return errno;
}

/* For a while no descriptor can be sent, as where other programs of the user have many under way.
 */
static void test_nothing_to_send_with(void) {
	struct gid_slab *slab = NULL, *got = NULL;
	struct rlimit limit, low;
	int ends[2];
	gid_slab_create(owner, &layout, 0, 1, NULL, &slab);
	gid_slab_grant(slab, 2);
	cockpit_kill(1);
	if (!tap_ok(cockpit_until(owner, is_away, owner) && cockpit_start(1) &&
					    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
							    ends) == 0,
			    "gidd is started again")) {
		return;
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	low = (struct rlimit){.rlim_cur = 64, .rlim_max = limit.rlim_max};
	setrlimit(RLIMIT_NOFILE, &low);
	int full = fill_flight(ends[0]);
	dispatch_ms(1000);
	setrlimit(RLIMIT_NOFILE, &limit);
	close(ends[0]);
	close(ends[1]);
	tap_ok(is_whole(), "for a while it could not be told of slabs%s",
			full == ETOOMANYREFS ? "" : " # SKIP this user may always send more");
	tap_ok(gid_slab_import(reader, gid_slab_gid(slab, 0), &got) == 0,
			"then it is told of the old ones, too: %s", gid_domain_error(reader));
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
}

int main(void) {
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 64, 48, 64);
	if (tap_ok(cockpit_init() && gid_domain_connect("open", &owner) == 0 &&
					    gid_domain_connect("cluster", &reader) == 0,
			    "two domains run")) {
		test_owner_side();
		test_reader_side();
		test_lost_meanwhile();
		test_both();
		test_nothing_to_send_with();
	}
	gid_domain_destroy(owner);
	gid_domain_destroy(reader);
	cockpit_finish();
	return tap_finish();
}
