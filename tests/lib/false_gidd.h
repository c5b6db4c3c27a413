// SPDX-License-Identifier: MIT
/*
 * A gidd of domain `open` that is not one: a thread, to which a test says what it answers. It has
 * one connection at a time, and lives of which each has connections of its own. For one file.
 */
#ifndef TESTS_FALSE_GIDD_H
#define TESTS_FALSE_GIDD_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "socket.h"
#include "tap.h"

#define FALSE_GIDD_STEP_NS 2000000

/* Returns whether the connection goes on. */
typedef bool (*false_gidd_hear)(int fd, const union gid_wire_message *message, unsigned life);

static struct {
	char folder[32], path[64];
	false_gidd_hear hear;
	uint64_t window; /* the bytes of its domain's; 0: none */
	int listener;
	pthread_t thread;
	atomic_uint life; /* another value ends the connection that there is */
	atomic_bool ends;
	int fds[GID_WIRE_FDS_MAX]; /* of the message that is heard, closed after it; -1: kept */
} false_gidd;

static bool false_gidd_greet_as(int fd, uint32_t serial, uint32_t version, uint32_t domain) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_WELCOME, serial);
	message.welcome.version = version;
	message.welcome.domain = domain;
	message.welcome.window = false_gidd.window;
	strcpy(message.welcome.name, "open");
	return gid_socket_send(fd, message.bytes, message.header.size, NULL, 0) == 0;
}

static bool false_gidd_greet(int fd, uint32_t serial) {
	return false_gidd_greet_as(fd, serial, GID_WIRE_VERSION, 1);
}

static bool false_gidd_answer(int fd, uint32_t serial, int error, uint32_t value) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_RESULT, serial);
	message.result.error = error;
	message.result.value = value;
	return gid_socket_send(fd, message.bytes, message.header.size, NULL, 0) == 0;
}

static void false_gidd_serve(int fd) {
	union gid_wire_message message;
	unsigned life = false_gidd.life;
	bool goes_on = true;
	while (goes_on && !false_gidd.ends && false_gidd.life == life) {
		struct pollfd end = {.fd = fd, .events = POLLIN};
		if (poll(&end, 1, 10) <= 0) {
			continue;
		}
		uint32_t fd_count;
		ssize_t size = gid_socket_receive(fd, message.bytes, sizeof(message.bytes),
				false_gidd.fds, &fd_count);
		goes_on = size > 0 && false_gidd.hear(fd, &message, life);
		gid_socket_close_fds(false_gidd.fds, GID_WIRE_FDS_MAX);
	}
}

static void *false_gidd_run(void *data) {
	while (!false_gidd.ends) {
		struct pollfd end = {.fd = false_gidd.listener, .events = POLLIN};
		int fd = poll(&end, 1, 10) > 0 ? accept(false_gidd.listener, NULL, NULL) : -1;
		if (fd >= 0) {
			false_gidd_serve(fd);
			close(fd);
		}
	}
	return NULL;
}

/* Programs of this process find it by the domain's name. */
static bool false_gidd_start(false_gidd_hear hear) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strcpy(false_gidd.folder, "/tmp/gid-false-XXXXXX");
	if (mkdtemp(false_gidd.folder) == NULL) {
		return false;
	}
	setenv("GID_RUNTIME_DIR", false_gidd.folder, 1);
	snprintf(false_gidd.path, sizeof(false_gidd.path), "%s/open", false_gidd.folder);
	mkdir(false_gidd.path, 0700);
	strcat(false_gidd.path, "/gidd.sock");
	strcpy(address.sun_path, false_gidd.path);
	false_gidd.hear = hear;
	false_gidd.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return false_gidd.listener >= 0 &&
			bind(false_gidd.listener, (struct sockaddr *)&address, sizeof(address)) ==
			0 &&
			listen(false_gidd.listener, 8) == 0 &&
			pthread_create(&false_gidd.thread, NULL, false_gidd_run, NULL) == 0;
}

/* After it was started. */
static void false_gidd_stop(void) {
	false_gidd.ends = true;
	pthread_join(false_gidd.thread, NULL);
	close(false_gidd.listener);
	unlink(false_gidd.path);
	*strrchr(false_gidd.path, '/') = '\0';
	rmdir(false_gidd.path);
	rmdir(false_gidd.folder);
}

/* Has the domain hear what it says for a moment. */
static void false_gidd_wait(struct gid_domain *domain) {
	nanosleep(&(struct timespec){.tv_nsec = FALSE_GIDD_STEP_NS}, NULL);
	gid_domain_dispatch(domain);
}

/* The whole of a program whose one domain that gidd serves. */
static inline int false_gidd_test(false_gidd_hear hear, void (*test)(struct gid_domain *domain)) {
	struct gid_domain *domain;
	if (!tap_ok(false_gidd_start(hear), "a gidd")) {
		return tap_finish();
	}
	if (tap_ok(gid_domain_connect("open", &domain) == 0, "it is connected")) {
		test(domain);
		gid_domain_destroy(domain);
	}
	false_gidd_stop();
	return tap_finish();
}

#endif
