// SPDX-License-Identifier: MIT
/*
 * What becomes of a slab whose number another program has after a restart of gidd, where that gidd
 * dies before it gives another one. A thread answers as gidd would, and dies where it is told to.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "slab_object.h"
#include "socket.h"
#include "tap.h"

#define NUMBER 5u
#define OTHER 7u
#define PATIENCE_S 60

/* What the gidd of a connection says to an EXPORT; the last one is said of all that follow. */
struct life {
	bool number_is_taken; /* another program has NUMBER */
	bool dies;	      /* instead of giving another number */
};

static char folder[] = "/tmp/gid-numbers-XXXXXX";
static char path[64];
static const struct life lives[] = {
		{false, false},				    /* gives NUMBER */
		{true, true}, {true, true}, {false, false}, /* the other program has gone */
		{true, true}, {true, false},		    /* gives OTHER */
};
#define LIVES (sizeof(lives) / sizeof(lives[0]))

static atomic_uint life, exports; /* which one it is; EXPORTs that it answered */
static atomic_bool ends;

static void answer(int fd, uint32_t serial, int error, uint32_t value) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_RESULT, serial);
	message.result.error = error;
	message.result.value = value;
	gid_socket_send(fd, message.bytes, message.header.size, NULL, 0);
}

static void greet(int fd, uint32_t serial) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_WELCOME, serial);
	message.welcome.version = GID_WIRE_VERSION;
	message.welcome.domain = 1;
	strcpy(message.welcome.name, "open");
	gid_socket_send(fd, message.bytes, message.header.size, NULL, 0);
}

/* Returns whether it lives on. */
static bool hear(int fd, const union gid_wire_message *message, const struct life *now) {
	uint32_t serial = message->header.serial;
	if (message->header.type == GID_WIRE_HELLO) {
		greet(fd, serial);
		return true;
	}
	if (message->header.type != GID_WIRE_EXPORT) {
		answer(fd, serial, 0, 0);
		return true;
	}
	uint32_t asked = message->export.slab;
	if (asked == 0 && now->dies) {
		return false;
	}
	bool is_taken = asked == NUMBER && now->number_is_taken;
	uint32_t given = asked != 0 ? asked : now->number_is_taken ? OTHER : NUMBER;
	answer(fd, serial, is_taken ? -EEXIST : 0, given);
	exports += !is_taken;
	return true;
}

/* Until it dies, or another life begins. */
static void serve(int fd, unsigned which) {
	union gid_wire_message message;
	bool lives_on = true;
	while (lives_on && !ends && life == which) {
		struct pollfd end = {.fd = fd, .events = POLLIN};
		if (poll(&end, 1, 10) <= 0) {
			continue;
		}
		int fds[GID_WIRE_FDS_MAX];
		uint32_t fd_count;
		ssize_t size = gid_socket_receive(
				fd, message.bytes, sizeof(message.bytes), fds, &fd_count);
		gid_socket_close_fds(fds, GID_WIRE_FDS_MAX);
		lives_on = size > 0 && hear(fd, &message, &lives[which]);
	}
	if (!lives_on && life == which && which + 1 < LIVES) {
		life = which + 1;
	}
}

static void *run(void *data) {
	int listener = *(int *)data;
	while (!ends) {
		struct pollfd end = {.fd = listener, .events = POLLIN};
		int fd = poll(&end, 1, 10) > 0 ? accept(listener, NULL, NULL) : -1;
		if (fd >= 0) {
			serve(fd, life);
			close(fd);
		}
	}
	return NULL;
}

static int listen_there(void) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(path, sizeof(path), "%s/open", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/open/gidd.sock", folder);
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
					listen(fd, 8) == 0
			? fd
			: -1;
}

/* Until that gidd has taken the slab. */
static bool wait_for(struct gid_domain *domain, unsigned which, unsigned count) {
	uint64_t end = gid_clock_now() + PATIENCE_S * UINT64_C(1000000000);
	while ((life < which || exports < count || !gid_domain_is_connected(domain)) &&
			gid_clock_now() < end) {
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		gid_domain_dispatch(domain);
	}
	for (int i = 0; i < 20; i++) { /* its answer is on its way */
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		gid_domain_dispatch(domain);
	}
	return life == which && exports >= count && gid_domain_is_connected(domain);
}

static bool is_whole(const struct gid_slab *slab, gid_id gid) {
	return gid_slab_gid(slab, 0) == gid && gid_slab_is_current(slab, gid) &&
			strcmp(gid_slab_data((struct gid_slab *)slab, 0), "a picture") == 0;
}

static void test_dying_gidds(struct gid_domain *domain) {
	struct gid_layout layout;
	struct gid_slab *slab;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	if (!tap_ok(gid_slab_create(domain, &layout, 0, 1, NULL, &slab) == 0, "a slab: %s",
			    gid_domain_error(domain))) {
		return;
	}
	strcpy(gid_slab_data(slab, 0), "a picture");
	gid_id gid = gid_slab_gid(slab, 0);
	tap_ok(gid_slab_of(gid) == NUMBER, "it has the number %u", NUMBER);

	life = 1;
	tap_ok(wait_for(domain, 3, 2), "two gidds die before they give it another number");
	tap_ok(is_whole(slab, gid), "then it has its own again, and its picture");

	life = 4;
	tap_ok(wait_for(domain, 5, 3), "the number is taken again, and once more a gidd dies");
	gid_id other = gid_slab_gid(slab, 0);
	tap_ok(gid_slab_of(other) == OTHER && is_whole(slab, other),
			"the next one gives it another number (%u)", gid_slab_of(other));
	tap_ok(!gid_slab_is_current(slab, gid), "by which alone it is known");
	gid_slab_destroy(slab, false);
}

int main(void) {
	pthread_t thread;
	struct gid_domain *domain;
	setenv("GID_ANSWER_SECONDS", "30", 1);
	if (mkdtemp(folder) == NULL) {
		return 1;
	}
	setenv("GID_RUNTIME_DIR", folder, 1);
	int listener = listen_there();
	if (tap_ok(listener >= 0 && pthread_create(&thread, NULL, run, &listener) == 0, "a gidd")) {
		if (tap_ok(gid_domain_connect("open", &domain) == 0, "it is connected")) {
			test_dying_gidds(domain);
			gid_domain_destroy(domain);
		}
		ends = true;
		pthread_join(thread, NULL);
	}
	close(listener);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
	return tap_finish();
}
