// SPDX-License-Identifier: MIT
/** How many descriptors this process has of a file: with the last one its memory is freed. */
#ifndef GID_TESTS_DESCRIPTORS_H
#define GID_TESTS_DESCRIPTORS_H

#include <sys/stat.h>

#define DESCRIPTORS_MAX 1024 /* those of higher numbers are not counted */

static inline unsigned count_descriptors(const struct stat *of) {
	unsigned count = 0;
	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++) {
		struct stat status;
		count += fstat(fd, &status) == 0 && status.st_ino == of->st_ino &&
				status.st_dev == of->st_dev;
	}
	return count;
}

#endif
