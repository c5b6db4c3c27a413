// SPDX-License-Identifier: MIT
/*
 * Linked into each library for LD_PRELOAD: its constructor adds a line with the program's name to
 * the file $GIDWAY_PRELOADED, as ld.so silently skips a library that it cannot load. Uses system
 * calls, because the library replaces functions of libc.
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
