// SPDX-License-Identifier: MIT
#include "client_program.h"

#include <errno.h>
#include <fcntl.h>
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
 * another's: a pidfd stands for the process itself. It is -1 where the kernel has none; then the
 * number must do. False: there is no such process any more, of which Linux before 6.16 makes no
 * pidfd; or we can have no descriptor, and nobody can tell.
 */
static bool open_peer(struct wl_client *client, int *pidfd) {
	socklen_t size = sizeof(*pidfd);
	*pidfd = -1;
	return getsockopt(wl_client_get_fd(client), SOL_SOCKET, SO_PEERPIDFD, pidfd, &size) == 0 ||
			errno == ENOPROTOOPT;
}

/* Whether a process of which there is a pidfd has ended. */
static bool has_ended(int pidfd) {
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	return pidfd >= 0 && poll(&ended, 1, 0) != 0;
}

/* As the kernel knows it: a client's program may lie on a file system that never answers. */
static bool find_file(const char *path, struct statx *found) {
	return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, found) == 0;
}

static bool is_same_file(const struct statx *a, const struct statx *b) {
	return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor &&
			a->stx_ino == b->stx_ino;
}

bool client_runs_program(struct wl_client *client, const char *path) {
	char link[64];
	struct statx running, named;
	int pidfd;
	if (!open_peer(client, &pidfd)) {
		return false;
	}
	snprintf(link, sizeof(link), "/proc/%d/exe", client_pid(client));
	bool same = find_file(link, &running) && find_file(path, &named) &&
			is_same_file(&running, &named) &&
			!has_ended(pidfd); /* so that it was this process that we looked at */
	if (pidfd >= 0) {
		close(pidfd);
	}
	return same;
}

bool client_programs_are_known(void) {
	struct statx own;
	return find_file("/proc/self/exe", &own);
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
