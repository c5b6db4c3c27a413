// SPDX-License-Identifier: MIT
/*
 * A client's program is told as long as its process lives. Its number may be another's afterwards,
 * and no kernel says so in the same way: this process stands for the one that has the number now.
 */
#include "client_program.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

#define OWN "/proc/self/exe"

static int answer; /* of the kernel to who asks for a pidfd; 0: its own */

/* Of the compositor's own code, as it is linked here. */
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size) {
	if (answer != 0) {
		errno = answer;
		return -1;
	}
	return __real_getsockopt(fd, level, name, value, size);
}

#ifdef __USE_TIME64_REDIRECTS /* its name in glibc where times have 64 bits, and words 32 */
int __real___getsockopt64(int fd, int level, int name, void *value, socklen_t *size);
int __wrap___getsockopt64(int fd, int level, int name, void *value, socklen_t *size);

int __wrap___getsockopt64(int fd, int level, int name, void *value, socklen_t *size) {
	if (answer != 0) {
		errno = answer;
		return -1;
	}
	return __real___getsockopt64(fd, level, name, value, size);
}
#endif

static void test_ended(struct wl_client *client) {
	static const struct {
		int answer;
		const char *what;
	} answers[] = {
			{EINVAL, "of a process that has ended (Linux 6.5)"},
			{ENODATA, "of a peer that never was a process"},
			{ESRCH, "of a process that has ended (Linux 6.16)"},
			{EMFILE, "without a descriptor for that"},
	};
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		answer = answers[i].answer;
		tap_ok(!client_runs_program(client, OWN), "no program is known %s",
				answers[i].what);
	}
	answer = ENOPROTOOPT;
	tap_ok(client_runs_program(client, OWN),
			"where the kernel has no pidfds its number must do");
	answer = 0;
}

int main(void) {
	int ends[2];
	struct wl_display *display = wl_display_create();
	struct wl_client *client = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0
			? wl_client_create(display, ends[0])
			: NULL;
	if (tap_ok(client != NULL, "a client")) {
		tap_ok(client_runs_program(client, OWN) && !client_runs_program(client, "/bin/sh"),
				"it is known by the program that it runs");
		tap_ok(client_pid(client) == getpid() && client_is_of_user(client, getuid()),
				"and so are its process and user");
		test_ended(client);
		wl_client_destroy(client);
		close(ends[1]);
	}
	wl_display_destroy(display);
	return tap_finish();
}
