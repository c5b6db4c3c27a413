// SPDX-License-Identifier: MIT
#include "status_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "socket.h"

/*
 * Of several displays started together only one continues: else another would take its socket for a
 * dead one.
 */
static int take_lock(const char *path) {
	char name[sizeof(((struct sockaddr_un *)NULL)->sun_path) + sizeof(".lock")];
	snprintf(name, sizeof(name), "%s.lock", path);
	int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0) {
		return -errno;
	}
	if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		int error = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
		close(lock);
		return error;
	}
	return lock;
}

/* 0: no program listens there; -EADDRINUSE: one does; or another -errno. */
static int find_listener(const struct sockaddr_un *address) {
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		return -errno;
	}
	int error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno
											: 0;
	close(fd);
	if (error == 0 || error == -EAGAIN) {
		return -EADDRINUSE;
	}
	return error == -ECONNREFUSED ? 0 : error;
}

/* Removes a socket that a dead display left behind; anything else stays. */
static int remove_dead(const struct sockaddr_un *address) {
	struct stat found;
	if (lstat(address->sun_path, &found) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	if (!S_ISSOCK(found.st_mode)) {
		return -EEXIST;
	}
	int error = find_listener(address);
	if (error < 0) {
		return error;
	}
	return unlink(address->sun_path) < 0 ? -errno : 0;
}

/* A listening descriptor, or -errno. */
static int listen_at(const struct sockaddr_un *address) {
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		return -errno;
	}
	gid_socket_refuse_rights(fd); /* accepted sockets inherit this */
	bool bound = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
	if (!bound || listen(fd, 8) < 0) {
		int error = -errno;
		if (bound) {
			unlink(address->sun_path);
		}
		close(fd);
		return error;
	}
	return fd;
}

int status_socket_open(struct status_socket *place, const char *path) {
	*place = STATUS_SOCKET_NONE;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	char *kept = strdup(path);
	int error = kept == NULL ? -ENOMEM : 0;
	if (error == 0) {
		place->lock = take_lock(path);
		error = place->lock < 0 ? place->lock : remove_dead(&address);
	}
	if (error == 0) {
		place->fd = listen_at(&address);
		error = place->fd < 0 ? place->fd : 0;
	}
	if (error < 0) {
		free(kept);
		status_socket_close(place);
		return error;
	}
	place->path = kept;
	return 0;
}

void status_socket_close(struct status_socket *place) {
	if (place->path != NULL) {
		unlink(place->path);
		free(place->path);
	}
	if (place->fd >= 0) {
		close(place->fd);
	}
	if (place->lock >= 0) {
		close(place->lock);
	}
	*place = STATUS_SOCKET_NONE;
}
