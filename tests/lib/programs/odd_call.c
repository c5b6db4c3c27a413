// SPDX-License-Identifier: MIT
/* To be preloaded: once there is a file ODD_CALL, who sets a timer also asks for its parent. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *before) {
	static const char *path;
	path = path != NULL ? path : getenv("ODD_CALL");
	if (path != NULL) {
		int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
		if (file >= 0) {
			syscall(SYS_getppid);
			close(file);
		}
	}
	return (int)syscall(SYS_timerfd_settime, fd, flags, when, before);
}
