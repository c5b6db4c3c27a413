// SPDX-License-Identifier: MIT
/*
 * A part of each library that is to be preloaded (LD_PRELOAD): says that it is there, by a line
 * with the program's name in the file $GIDWAY_PRELOADED. ld.so goes on without a library that it
 * does not load. By system calls, for the library's own functions stand before those of libc.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void say_loaded(void) {
	const char *path = getenv("GIDWAY_PRELOADED");
	if (path == NULL) {
		return;
	}
	char line[64];
	int length = snprintf(line, sizeof(line), "%.60s\n", program_invocation_short_name);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
	(void)!syscall(SYS_write, fd, line, (size_t)length);
	syscall(SYS_close, fd);
}
