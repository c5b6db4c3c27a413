// SPDX-License-Identifier: MIT
/* One display has the place of a status at a time: what others do while it takes that. */
#include "cluster/base/status_socket.h"

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

#include "tap.h"

static char path[96];
static struct status_socket other = STATUS_SOCKET_NONE;
/* At which call of the first display the other one begins, and what that is told then. */
static enum { NEVER, BEFORE_UNLINK, BEFORE_LISTEN } moment;
static int told;

/* Which call fails, once, after so many that do not. */
static struct {
	const char *call;
	int after, error;
} fault;

int __real_unlink(const char *name);
int __real_listen(int fd, int backlog);
int __real_socket(int domain, int type, int protocol);
int __real_connect(int fd, const struct sockaddr *address, socklen_t size);
int __real_bind(int fd, const struct sockaddr *address, socklen_t size);
int __real_flock(int fd, int operation);
char *__real_strdup(const char *text);
int __wrap_unlink(const char *name);
int __wrap_listen(int fd, int backlog);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_flock(int fd, int operation);
char *__wrap_strdup(const char *text);

static bool fails(const char *call) {
	if (fault.call == NULL || strcmp(fault.call, call) != 0 || fault.after-- > 0) {
		return false;
	}
	fault.call = NULL;
	errno = fault.error;
	return true;
}

int __wrap_socket(int domain, int type, int protocol) {
	return fails("socket") ? -1 : __real_socket(domain, type, protocol);
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size) {
	return fails("connect") ? -1 : __real_connect(fd, address, size);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size) {
	return fails("bind") ? -1 : __real_bind(fd, address, size);
}

int __wrap_flock(int fd, int operation) {
	return fails("flock") ? -1 : __real_flock(fd, operation);
}

char *__wrap_strdup(const char *text) {
	return fails("strdup") ? NULL : __real_strdup(text);
}

static void let_begin(int now) {
	if ((int)moment == now) {
		moment = NEVER;
		told = status_socket_open(&other, path);
	}
}

int __wrap_unlink(const char *name) {
	let_begin(BEFORE_UNLINK);
	return fails("unlink") ? -1 : __real_unlink(name);
}

int __wrap_listen(int fd, int backlog) {
	let_begin(BEFORE_LISTEN);
	return fails("listen") ? -1 : __real_listen(fd, backlog);
}

static struct sockaddr_un address_of_path(void) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return address;
}

/* Whether who connects comes to this one. */
static bool hears(const struct status_socket *place) {
	struct sockaddr_un address = address_of_path();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	int peer = connected ? accept(place->fd, NULL, NULL) : -1;
	close(peer);
	close(fd);
	return peer >= 0;
}

/* As a display leaves it that was killed. */
static void leave_dead(void) {
	struct sockaddr_un address = address_of_path();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	__real_unlink(path);
	bool bound = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	if (!bound) {
		tap_ok(false, "a dead socket: %s", strerror(errno));
	}
}

static void test_both_at_once(int when, const char *what) {
	struct status_socket first;
	leave_dead();
	moment = when;
	told = 0;
	int error = status_socket_open(&first, path);
	tap_ok(error == 0 && told == -EADDRINUSE && other.fd < 0 && hears(&first),
			"%s: one has it, and hears who asks (%d, %d)", what, error, told);
	status_socket_close(&other);
	tap_ok(hears(&first), "%s: the other one takes nothing with it", what);
	status_socket_close(&first);
	tap_ok(access(path, F_OK) < 0, "%s: nothing is left", what);
}

static void test_one_after_the_other(void) {
	struct status_socket first, second;
	leave_dead();
	tap_ok(status_socket_open(&first, path) == 0 && hears(&first), "after one that was killed");
	tap_ok(status_socket_open(&second, path) == -EADDRINUSE && second.fd < 0 && hears(&first),
			"not beside one that has it");
	status_socket_close(&second);
	status_socket_close(&first);
	tap_ok(status_socket_open(&second, path) == 0 && hears(&second),
			"after one that has ended");
	status_socket_close(&second);
}

static void test_of_others(void) {
	struct sockaddr_un address = address_of_path();
	struct status_socket place;
	struct stat found;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool listens = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			__real_listen(fd, 1) == 0;
	tap_ok(listens && status_socket_open(&place, path) == -EADDRINUSE &&
					access(path, F_OK) == 0,
			"a socket of another program's stays");
	close(fd);
	__real_unlink(path);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	tap_ok(status_socket_open(&place, path) == -EEXIST && access(path, F_OK) == 0,
			"and so does a file");
	__real_unlink(path);
	char lock[128], target[128];
	snprintf(lock, sizeof(lock), "%s.lock", path);
	snprintf(target, sizeof(target), "%s.target", path);
	__real_unlink(lock);
	tap_ok(symlink(target, lock) == 0 && status_socket_open(&place, path) == -ELOOP &&
					stat(target, &found) < 0,
			"a link in place of the lock is not followed");
	status_socket_close(&place);
	__real_unlink(lock);
}

static void test_no_place(void) {
	struct status_socket place;
	char name[160];
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	tap_ok(status_socket_open(&place, name) == -ENAMETOOLONG && place.fd < 0, "a long name");
	tap_ok(status_socket_open(&place, "/nowhere/status.sock") == -ENOENT && place.fd < 0,
			"in no folder");
	status_socket_close(&place);
}

static unsigned count_descriptors(void) {
	unsigned count = 0;
	for (int fd = 0; fd < 64; fd++) {
		count += fcntl(fd, F_GETFD) >= 0;
	}
	return count;
}

/* Whatever the system refuses: nothing is kept, and the next display has the place. */
static void test_refused(void) {
	static const struct {
		const char *call;
		int after, error, told;
		const char *what;
	} refusals[] = {
			{"strdup", 0, ENOMEM, -ENOMEM, "no memory"},
			{"flock", 0, ENOLCK, -ENOLCK, "no lock"},
			{"socket", 0, EMFILE, -EMFILE, "no descriptor to look who listens"},
			{"connect", 0, EACCES, -EACCES, "a socket of somebody else's"},
			{"connect", 0, EAGAIN, -EADDRINUSE, "one that is asked too much at once"},
			{"unlink", 0, EPERM, -EPERM, "a dead one that stays"},
			{"socket", 1, ENFILE, -ENFILE, "no descriptor to listen"},
			{"bind", 0, EROFS, -EROFS, "no room in the folder"},
			{"listen", 0, ENOBUFS, -ENOBUFS, "nobody may listen"},
	};
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct status_socket place;
		leave_dead();
		unsigned before = count_descriptors();
		fault.call = refusals[i].call;
		fault.after = refusals[i].after;
		fault.error = refusals[i].error;
		int error = status_socket_open(&place, path);
		tap_ok(error == refusals[i].told && fault.call == NULL && place.path == NULL &&
						place.fd < 0 && place.lock < 0 &&
						count_descriptors() == before,
				"%s: %d", refusals[i].what, error);
		bool left = access(path, F_OK) == 0;
		tap_ok(left ==
						(strcmp(refusals[i].call, "listen") != 0 &&
								strcmp(refusals[i].call, "bind") !=
										0 &&
								refusals[i].after == 0),
				"%s: of itself it leaves nothing", refusals[i].what);
		tap_ok(status_socket_open(&place, path) == 0 && hears(&place),
				"%s: the next one has it", refusals[i].what);
		status_socket_close(&place);
	}
}

int main(void) {
	char folder[] = "/tmp/status-socket-XXXXXX", lock[128];
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	snprintf(path, sizeof(path), "%s/status.sock", folder);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	test_both_at_once(BEFORE_UNLINK, "as the first one removes a dead socket");
	test_both_at_once(BEFORE_LISTEN, "before the first one listens");
	test_one_after_the_other();
	test_of_others();
	test_no_place();
	test_refused();
	__real_unlink(lock);
	rmdir(folder);
	return tap_finish();
}
