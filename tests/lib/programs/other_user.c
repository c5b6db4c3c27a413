// SPDX-License-Identifier: MIT
/*
 * To be preloaded to a daemon: once there is the file $OTHER_USER, it takes itself for another
 * user's, so that all programs of the user who runs it are strangers to it.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OTHER 54321u

uid_t geteuid(void) {
	const char *path = getenv("OTHER_USER");
	return path != NULL && access(path, F_OK) == 0 ? OTHER : (uid_t)syscall(SYS_geteuid);
}
