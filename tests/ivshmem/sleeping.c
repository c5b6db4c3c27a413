// SPDX-License-Identifier: MIT
/*
 * To be preloaded: the machine was suspended as often as $GIDWAY_SLEPT, a file, says.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int open(const char *path, int flags, ...) {
	va_list words;
	va_start(words, flags);
	mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(words, mode_t) : 0;
	va_end(words);
	const char *slept = getenv("GIDWAY_SLEPT");
	if (slept != NULL && strcmp(path, "/sys/power/suspend_stats/success") == 0) {
		path = slept;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
