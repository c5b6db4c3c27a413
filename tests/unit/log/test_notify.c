// SPDX-License-Identifier: MIT
/* What a service manager is told that takes its messages late. */
#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tap.h"

static int manager;

/* A socket of the manager without a file, named by $NOTIFY_SOCKET. */
static bool manager_init(void) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(address.sun_family); /* the kernel finds a name */
	char name[sizeof(address.sun_path) + 1] = "@";
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (manager < 0 || bind(manager, (struct sockaddr *)&address, size) < 0) {
		return false;
	}
	size = sizeof(address);
	getsockname(manager, (struct sockaddr *)&address, &size);
	memcpy(name + 1, address.sun_path + 1, size - offsetof(struct sockaddr_un, sun_path) - 1);
	setenv("NOTIFY_SOCKET", name, 1);
	return true;
}

/* Fills the manager's queue. Returns how many messages that took. */
static int fill(const struct notify *notify) {
	int count = 0;
	while (send(notify->fd, "STATUS=", 7, MSG_DONTWAIT) == 7) {
		count++;
	}
	return count;
}

/* Reads all messages. Returns how many are this one. */
static int take(const char *what) {
	char text[64];
	int count = 0;
	ssize_t size;
	while ((size = recv(manager, text, sizeof(text) - 1, 0)) > 0) {
		text[size] = '\0';
		count += strcmp(text, what) == 0;
	}
	return count;
}

int main(void) {
	struct notify notify;
	setenv("WATCHDOG_USEC", "4000000", 1);
	unsetenv("WATCHDOG_PID");
	if (!manager_init()) {
		tap_ok(false, "a service manager");
		return tap_finish();
	}
	notify_init(&notify);
	notify_ready(&notify);
	notify_alive(&notify, 1);
	tap_ok(take("READY=1") == 1,
			"a manager that listens is told once that the program is ready");

	tap_ok(fill(&notify) > 0, "it does not listen, until there is no room");
	notify_ready(&notify);
	notify_alive(&notify, 2);
	take("STATUS=");
	notify_alive(&notify, 3);
	notify_alive(&notify, 4);
	tap_ok(take("READY=1") == 1, "it is told as soon as it listens again, and once");

	notify_alive(&notify, 2000000000);
	fill(&notify);
	notify_alive(&notify, 4000000000);
	take("STATUS=");
	notify_alive(&notify, 4000000001);
	tap_ok(take("WATCHDOG=1") == 1, "a sign of life for which there was no room comes later");
	notify_finish(&notify);

	unsetenv("NOTIFY_SOCKET");
	notify_init(&notify);
	notify_ready(&notify);
	notify_alive(&notify, 5);
	tap_ok(notify.fd < 0 && !notify.owes_ready, "without a manager nobody is told");
	notify_finish(&notify);
	close(manager);
	return tap_finish();
}
