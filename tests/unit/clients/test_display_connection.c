// SPDX-License-Identifier: MIT
/*
 * A compositor that takes clients and does not answer, as one that is stopped; and one that ends a
 * connection while events of it wait.
 */
#include "common/display_connection.h"

#include <gid/gid.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/wayland.h"
#include "tap.h"

#define PATIENCE_S 60

/* Waits that end at once, at a clock that says that they did not. */
static bool skips;
static uint64_t skipped;

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time, const sigset_t *signals) {
	if (skips) {
		skipped += (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
		return 0;
	}
	return (int)syscall(SYS_ppoll, fds, count, time, signals, _NSIG / 8);
}

uint64_t gid_clock_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return skipped + (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- clients ---------------------------------------------------------------------------------- */

/* As the event loops of all clients do before. */
static int begin(void) {
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	struct wayland wayland;
	sd_event *event;
	return sd_event_new(&event) < 0 || wayland_init(&wayland, event) < 0 ? EXIT_FAILURE : 0;
}

static int begin_patiently(void) {
	skips = true;
	return begin();
}

static void ignore(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
		uint32_t version) {
}

static const struct wl_registry_listener listener = {.global = ignore};

/* Status 0: the end is noticed, and not waited for. */
static int end(void) {
	struct wl_display *display = display_connect();
	if (display == NULL) {
		return 2;
	}
	wl_registry_add_listener(wl_display_get_registry(display), &listener, NULL);
	int error = display_roundtrip(display, NULL);
	display_settle(display);
	return error < 0 ? 0 : EXIT_FAILURE;
}

/* --- compositors ------------------------------------------------------------------------------ */

struct meeting {
	int listening, connection;
	pid_t client;
};

/* Until the client has asked for something. */
static bool meet(struct meeting *meeting, int (*run_client)(void)) {
	char request[256];
	meeting->client = fork();
	if (meeting->client == 0) {
		_exit(run_client());
	}
	meeting->connection = accept(meeting->listening, NULL, NULL);
	return meeting->connection >= 0 && read(meeting->connection, request, sizeof(request)) > 0;
}

/* How the client ended; -1: it did not. */
static int wait_client(struct meeting *meeting) {
	const struct timespec pause = {.tv_nsec = 10000000};
	int status = -1;
	pid_t ended = 0;
	for (int i = 0; ended == 0 && i < PATIENCE_S * 100; i++) {
		nanosleep(&pause, NULL);
		ended = waitpid(meeting->client, &status, WNOHANG);
	}
	if (ended == 0) {
		kill(meeting->client, SIGKILL);
		waitpid(meeting->client, &status, 0);
		status = -1;
	}
	close(meeting->connection);
	return status;
}

/* An event of the registry, and why the connection ends: at once. */
static bool send_end(const struct meeting *meeting) {
	uint32_t words[] = {2, 28 << 16, 1, sizeof("wl_seat"), 0, 0, 1, /* global */
			1, 24 << 16, 1, 3, sizeof("no!"), 0};		/* error */
	memcpy(&words[4], "wl_seat", sizeof("wl_seat"));
	memcpy(&words[12], "no!", sizeof("no!"));
	return write(meeting->connection, words, sizeof(words)) == sizeof(words);
}

static int listen_in(const char *folder) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/wayland-0", folder);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool listens = bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
			listen(fd, 1) == 0;
	return listens ? fd : -1;
}

int main(void) {
	char folder[] = "/tmp/gid-silent-XXXXXX", socket_path[64];
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	setenv("WAYLAND_DISPLAY", "wayland-0", 1);
	struct meeting meeting = {.listening = listen_in(folder)};
	bool met = meet(&meeting, begin) && kill(meeting.client, SIGTERM) == 0;
	int status = wait_client(&meeting);
	tap_ok(met && status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
			"who waits for a compositor can be told to end");
	met = meet(&meeting, begin_patiently);
	status = wait_client(&meeting);
	tap_ok(met && status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE,
			"and does not wait for ever");
	met = meet(&meeting, end) && send_end(&meeting);
	status = wait_client(&meeting);
	tap_ok(met && status == 0, "a connection that has ended is not waited for");
	close(meeting.listening);
	snprintf(socket_path, sizeof(socket_path), "%s/wayland-0", folder);
	unlink(socket_path);
	rmdir(folder);
	return tap_finish();
}
