// SPDX-License-Identifier: MIT
#include "client_program.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/*
 * Between the connection and our question its process may have ended, and its number may be
 * another's: a pidfd stands for the process itself. -1 where the kernel has none; then the number
 * must do.
 */
static int open_peer(struct wl_client *client) {
	int pidfd = -1;
	socklen_t size = sizeof(pidfd);
	if (getsockopt(wl_client_get_fd(client), SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) != 0) {
		return -1;
	}
	return pidfd;
}

/* Whether a process of which there is a pidfd has ended. */
static bool has_ended(int pidfd) {
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	return pidfd >= 0 && poll(&ended, 1, 0) != 0;
}

bool client_runs_program(struct wl_client *client, const char *path) {
	char link[64];
	struct stat running, named;
	int pidfd = open_peer(client);
	snprintf(link, sizeof(link), "/proc/%d/exe", client_pid(client));
	bool same = stat(link, &running) == 0 && stat(path, &named) == 0 &&
			running.st_dev == named.st_dev && running.st_ino == named.st_ino &&
			!has_ended(pidfd); /* so that it was this process that we looked at */
	if (pidfd >= 0) {
		close(pidfd);
	}
	return same;
}

bool client_is_of_user(struct wl_client *client, uid_t user) {
	uid_t uid = (uid_t)-1;
	wl_client_get_credentials(client, NULL, &uid, NULL);
	return uid == user;
}

pid_t client_pid(struct wl_client *client) {
	pid_t pid = 0;
	wl_client_get_credentials(client, &pid, NULL, NULL);
	return pid;
}
