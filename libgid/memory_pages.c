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

/*
 * The kernel is asked for so much at a time: at the border of a large page, so that it begins in
 * the middle of none. A piece that lacks pages ends the search, and only that is asked for again:
 * its owner chose how many pages come before it.
 */
#define PIECE (UINT64_C(4) << 20)

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

/* Of whole pages. */
static int check_piece(int fd, const struct range *range, uint64_t page) {
	bool is_short = false;
	for (int i = 0; i < QUESTIONS; i++) {
		struct counts counts;
		if (syscall(SYS_cachestat, fd, range, &counts, 0) == 0) {
			if (counts.cached + counts.evicted >= range->size / page) {
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

int gid_memory_check_pages(int fd, uint64_t offset, uint64_t size) {
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), last = offset + size - 1;
	const uint64_t end = size == 0 ? 0 : last - last % page + page;
	for (uint64_t at = offset - offset % page, next; at < end; at = next) {
		next = at - at % PIECE + PIECE;
		next = next < end ? next : end;
		int error = check_piece(fd, &(struct range){at, next - at}, page);
		if (error < 0) {
			return error;
		}
	}
	return 0;
}
