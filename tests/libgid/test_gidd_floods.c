// SPDX-License-Identifier: MIT
/*
 * A gidd that says things without end while it is asked: what a program keeps of that is bounded,
 * and it goes on with the next gidd.
 */
#include <dirent.h>
#include <drm_fourcc.h>
#include <sys/eventfd.h>

#include "false_gidd.h"
#include "tap.h"

#define PATIENCE_NS (UINT64_C(60) * 1000000000)
/* Of messages that were sent: those that are kept, and those in the socket. */
#define SENT_MOST 20000u
#define FILES_MOST 700u

/* The life in which it floods with descriptors, after one in which it only speaks. */
#define WITH_DESCRIPTORS 1u

static atomic_uint sent;

static bool speak(int fd, int bell) {
	union gid_wire_message message;
	if (bell >= 0) {
		gid_wire_begin(&message, GID_WIRE_DOORBELL, 0);
		message.doorbell.subscription = 1;
		message.doorbell.way = GID_WIRE_DOORBELL_RING;
	} else {
		gid_wire_begin(&message, GID_WIRE_REVOKED, 0);
		message.revoked.gid = gid_make(2, 1, 0, 0);
	}
	int error = gid_socket_send(fd, message.bytes, message.header.size, &bell, bell >= 0);
	if (error == -EAGAIN || error == -ETOOMANYREFS) {
		struct pollfd end = {.fd = fd, .events = POLLOUT};
		return poll(&end, 1, 1000) >= 0 && (end.revents & (POLLHUP | POLLERR)) == 0;
	}
	sent += error == 0;
	return error == 0;
}

static void flood(int fd, bool with_descriptors) {
	int bell = with_descriptors ? eventfd(0, EFD_CLOEXEC) : -1;
	while (!false_gidd.ends && speak(fd, bell)) {
	}
	if (bell >= 0) {
		close(bell);
	}
}

static bool hear(int fd, const union gid_wire_message *message, unsigned life) {
	uint32_t serial = message->header.serial;
	if (message->header.type == GID_WIRE_HELLO) {
		return false_gidd_greet(fd, serial);
	}
	if (life > WITH_DESCRIPTORS) {
		return false_gidd_answer(fd, serial, 0, 1);
	}
	flood(fd, life == WITH_DESCRIPTORS);
	false_gidd.life++;
	return false;
}

static unsigned count_files(void) {
	unsigned count = 0;
	DIR *files = opendir("/proc/self/fd");
	while (files != NULL && readdir(files) != NULL) {
		count++;
	}
	closedir(files);
	return count;
}

static bool is_back(struct gid_domain *domain) {
	uint64_t end = gid_clock_now() + PATIENCE_NS;
	do {
		false_gidd_wait(domain);
	} while (!gid_domain_is_connected(domain) && gid_clock_now() < end);
	return gid_domain_is_connected(domain);
}

static void test_floods(struct gid_domain *domain) {
	struct gid_layout layout;
	struct gid_slab *slab = NULL;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	for (int i = 0; i < 2; i++) {
		sent = 0;
		int error = gid_slab_create(domain, &layout, 0, 1, NULL, &slab);
		tap_ok(error == -ENOTCONN, "a gidd that floods gets no answer out of us: %d",
				error);
		tap_ok(strstr(gid_domain_error(domain), "gid_domain_dispatch()") != NULL,
				"it is said why: %s", gid_domain_error(domain));
		tap_ok(sent <= SENT_MOST, "of what it says little is kept: %u", sent);
		tap_ok(count_files() <= FILES_MOST, "and few descriptors: %u", count_files());
		tap_ok(is_back(domain), "the next one is greeted");
	}
	tap_ok(gid_slab_create(domain, &layout, 0, 1, NULL, &slab) == 0, "and asked: %s",
			gid_domain_error(domain));
	uint64_t end = gid_clock_now() + PATIENCE_NS;
	while (count_files() > 100 && gid_clock_now() < end) { /* helpers close them */
		false_gidd_wait(domain);
	}
	tap_ok(count_files() <= 100, "nothing is left open: %u", count_files());
	gid_slab_destroy(slab, false);
}

int main(void) {
	setenv("GID_ANSWER_SECONDS", "20", 1);
	return false_gidd_test(hear, test_floods);
}
