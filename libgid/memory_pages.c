// SPDX-License-Identifier: MIT
#include "memory_pages.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 6.5, with one number for all architectures. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

/*
 * The kernel answers those who may write the file: everybody, as memfds are made. Its owner can
 * forbid that for the moment of a question, but not for each of so many. What forbids it otherwise,
 * as a security module, forbids it always: then nothing is known.
 *
 * Nor is each answer complete. A kernel that gives up the processor while it counts, and began in
 * the middle of a large page, goes on one large page further, and leaves out what is before that
 * (seen with Linux 6.18). It never counts a page that is not there.
 */
#define QUESTIONS 16

struct range {
	uint64_t offset, size;
};

/* As the kernel has it. */
struct counts {
	uint64_t cached, dirty, in_writeback, evicted, recently_evicted;
};

static bool may_others_write(int fd) {
	struct stat status;
	return fstat(fd, &status) == 0 && (status.st_mode & S_IWOTH) != 0;
}

int gid_memory_check_pages(int fd, uint64_t offset, uint64_t size) {
	bool is_short = false;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), lead = offset % page;
	const uint64_t pages = (lead + size + page - 1) / page;
	const struct range range = {offset - lead, pages * page};
	for (int i = 0; i < QUESTIONS && size > 0; i++) {
		struct counts counts;
		if (syscall(SYS_cachestat, fd, &range, &counts, 0) == 0) {
			if (counts.cached + counts.evicted >= pages) {
				return 0;
			}
			is_short = true;
		} else if (errno != EPERM) {
			return 0;
		} else if (!may_others_write(fd)) {
			return -ENODATA;
		}
	}
	return is_short ? -ENODATA : 0;
}
