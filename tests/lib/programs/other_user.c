// SPDX-License-Identifier: MIT
/*
 * To be preloaded to a daemon: once there is the file $OTHER_USER, it takes itself for another
 * user's, so that all programs of the user who runs it are strangers to it. Once there is the file
 * $OTHER_PEERS, programs that connect are another user's.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OTHER 54321u

static bool is_there(const char *name) {
	const char *path = getenv(name);
	return path != NULL && access(path, F_OK) == 0;
}

uid_t geteuid(void) {
	return is_there("OTHER_USER") ? OTHER : (uid_t)syscall(SYS_geteuid);
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *size) {
	long ret = syscall(SYS_getsockopt, fd, level, name, value, size);
	if (ret == 0 && level == SOL_SOCKET && name == SO_PEERCRED && is_there("OTHER_PEERS")) {
		((struct ucred *)value)->uid = OTHER;
	}
	return (int)ret;
}
