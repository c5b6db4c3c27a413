// SPDX-License-Identifier: MIT
/*
 * A gidd that says things without end while it is asked: what a program keeps of that is bounded,
 * and it goes on with the next gidd. A thread is gidd here.
 */
#include <dirent.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "socket.h"
#include "tap.h"

#define PATIENCE_NS (UINT64_C(60) * 1000000000)
/* Of messages that were sent: those that are kept, and those in the socket. */
#define SENT_MOST 20000u
#define FILES_MOST 700u

static char folder[] = "/tmp/gid-floods-XXXXXX";
static char path[64];
static atomic_uint life, sent; /* 0: speaks; 1: sends descriptors; 2: answers */
static atomic_bool ends;

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
	while (!ends && speak(fd, bell)) {
	}
	if (bell >= 0) {
		close(bell);
	}
}

/* Returns whether it goes on. */
static bool hear(int fd, const union gid_wire_message *message) {
	union gid_wire_message answer;
	if (message->header.type == GID_WIRE_HELLO) {
		gid_wire_begin(&answer, GID_WIRE_WELCOME, message->header.serial);
		answer.welcome.version = GID_WIRE_VERSION;
		answer.welcome.domain = 1;
		strcpy(answer.welcome.name, "open");
	} else if (life < 2) {
		flood(fd, life == 1);
		life++;
		return false;
	} else {
		gid_wire_begin(&answer, GID_WIRE_RESULT, message->header.serial);
		answer.result.value = 1;
	}
	return gid_socket_send(fd, answer.bytes, answer.header.size, NULL, 0) == 0;
}

static void serve(int fd) {
	union gid_wire_message message;
	bool goes_on = true;
	while (goes_on && !ends) {
		struct pollfd end = {.fd = fd, .events = POLLIN};
		if (poll(&end, 1, 10) <= 0) {
			continue;
		}
		int fds[GID_WIRE_FDS_MAX];
		uint32_t fd_count;
		ssize_t size = gid_socket_receive(
				fd, message.bytes, sizeof(message.bytes), fds, &fd_count);
		gid_socket_close_fds(fds, GID_WIRE_FDS_MAX);
		goes_on = size > 0 && hear(fd, &message);
	}
}

static void *run(void *data) {
	int listener = *(int *)data;
	while (!ends) {
		struct pollfd end = {.fd = listener, .events = POLLIN};
		int fd = poll(&end, 1, 10) > 0 ? accept(listener, NULL, NULL) : -1;
		if (fd >= 0) {
			serve(fd);
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
	bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			listen(fd, 8) == 0;
	return good ? fd : -1;
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
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		gid_domain_dispatch(domain);
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
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		gid_domain_dispatch(domain);
	}
	tap_ok(count_files() <= 100, "nothing is left open: %u", count_files());
	gid_slab_destroy(slab, false);
}

int main(void) {
	pthread_t thread;
	struct gid_domain *domain;
	setenv("GID_ANSWER_SECONDS", "20", 1);
	if (mkdtemp(folder) == NULL) {
		return 1;
	}
	setenv("GID_RUNTIME_DIR", folder, 1);
	int listener = listen_there();
	bool good = listener >= 0 && pthread_create(&thread, NULL, run, &listener) == 0;
	if (tap_ok(good, "a gidd")) {
		if (tap_ok(gid_domain_connect("open", &domain) == 0, "it is connected")) {
			test_floods(domain);
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
