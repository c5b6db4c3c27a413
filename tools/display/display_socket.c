// SPDX-License-Identifier: MIT
#include "display_socket.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "variable.h"

#define ANSWER_S 1

int display_socket_connect_at(const char *path, int flags) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd < 0) {
		return -errno;
	}
	struct timeval patience = {.tv_sec = ANSWER_S};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

static int connect_to(const char *folder, const char *domain, const char *socket_name, int flags) {
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s/%s", folder, domain, socket_name);
	return length < (int)sizeof(path) ? display_socket_connect_at(path, flags) : -ENAMETOOLONG;
}

/* One that was started by hand is in the domain's folder; as a service it has its own. */
int display_socket_connect(const char *domain, int flags) {
	int fd = variable_get("GID_RUNTIME_DIR") != NULL
			? -ENOENT
			: connect_to("/run/gid-cluster", domain, "status.sock", flags);
	if (fd >= 0 || fd == -EAGAIN) {
		return fd;
	}
	return connect_to(variable_runtime_folder(), domain, "cluster.sock", flags);
}
