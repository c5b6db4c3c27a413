// SPDX-License-Identifier: MIT
#include "write_all.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t size) {
	const char *at = bytes;
	while (size > 0) {
		ssize_t wrote = write(fd, at, size);
		if (wrote < 0 && errno != EINTR) {
			return -errno;
		}
		at += wrote > 0 ? wrote : 0;
		size -= wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}
