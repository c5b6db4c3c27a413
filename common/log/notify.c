// SPDX-License-Identifier: MIT
#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_to(const char *path) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = path != NULL ? strlen(path) : 0;
	if (length == 0 || length >= sizeof(address.sun_path)) {
		return -1;
	}
	memcpy(address.sun_path, path, length);
	if (path[0] == '@') {
		address.sun_path[0] = '\0'; /* abstract: it has no file */
	}
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, size) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void notify_init(struct notify *notify) {
	const char *watchdog = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	bool ours = pid == NULL || strtol(pid, NULL, 10) == (long)getpid();
	*notify = (struct notify){.fd = connect_to(getenv("NOTIFY_SOCKET"))};
	if (watchdog != NULL && ours) {
		notify->interval_ns = strtoull(watchdog, NULL, 10) * 1000 / 4;
	}
}

void notify_finish(struct notify *notify) {
	if (notify->fd >= 0) {
		close(notify->fd);
	}
	notify->fd = -1;
}

static bool notify_send(const struct notify *notify, const char *what) {
	return notify->fd >= 0 &&
			send(notify->fd, what, strlen(what), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void notify_ready(struct notify *notify) {
	notify->owes_ready = notify->fd >= 0 && !notify_send(notify, "READY=1");
}

void notify_alive(struct notify *notify, uint64_t now) {
	if (notify->owes_ready) {
		notify_ready(notify);
	}
	if (notify->interval_ns != 0 && now >= notify->next && notify_send(notify, "WATCHDOG=1")) {
		notify->next = now + notify->interval_ns;
	}
}
