// SPDX-License-Identifier: MIT
#include "memory_pages.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
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
#define LEAST_PAGE 4096

struct range {
	uint64_t offset, size;
};

/* As the kernel has it. */
struct counts {
	uint64_t cached, dirty, in_writeback, evicted, recently_evicted;
};

/*
 * How many pages are not ready to be read: they are missing, or swapped out, or were allocated and
 * never written or read. The latter count as cached, but go where a fallocate() of their owner's
 * fails, in spite of all seals. 0 where the kernel does not tell.
 */
static uint64_t count_unready(void *data, uint64_t size, uint64_t page) {
	unsigned char ready[PIECE / LEAST_PAGE];
	uint64_t unready = 0;
	if (mincore(data, (size_t)size, ready) < 0) {
		return 0;
	}
	for (uint64_t i = 0; i < size / page; i++) {
		unready += (ready[i] & 1) == 0;
	}
	return unready;
}

/* `view`: where the range is mapped; NULL: nowhere. */
static uint64_t find_unready(int fd, const struct range *range, void *view, uint64_t page) {
	if (view != NULL) {
		return count_unready(view, range->size, page);
	}
	void *data = mmap(
			NULL, (size_t)range->size, PROT_READ, MAP_SHARED, fd, (off_t)range->offset);
	uint64_t unready = data != MAP_FAILED ? count_unready(data, range->size, page) : 0;
	if (data != MAP_FAILED) {
		munmap(data, (size_t)range->size);
	}
	return unready;
}

/*
 * Nobody can say meanwhile who may ask. To who may not, mincore() says that all pages are ready. A
 * change of the mode is a change of this time.
 */
static bool is_unchanged(int fd, const struct stat *before) {
	struct stat now;
	return fstat(fd, &now) == 0 && now.st_mode == before->st_mode &&
			now.st_ctim.tv_sec == before->st_ctim.tv_sec &&
			now.st_ctim.tv_nsec == before->st_ctim.tv_nsec;
}

/* Of whole pages. */
static int check_piece(int fd, const struct range *range, void *view, uint64_t page) {
	bool is_short = false;
	for (int i = 0; i < QUESTIONS; i++) {
		struct stat status;
		struct counts counts;
		if (fstat(fd, &status) < 0) {
			return 0;
		}
		if (syscall(SYS_cachestat, fd, range, &counts, 0) == 0) {
			if (counts.cached + counts.evicted >= range->size / page &&
					find_unready(fd, range, view, page) <= counts.evicted &&
					is_unchanged(fd, &status)) {
				return 0;
			}
			is_short = true;
		} else if (errno != EPERM) {
			return 0;
		} else if ((status.st_mode & S_IWOTH) == 0) {
			return -ENODATA;
		}
	}
	return is_short ? -ENODATA : 0;
}

int gid_memory_check_pages(int fd, uint64_t offset, uint64_t size, const void *view) {
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), last = offset + size - 1;
	const uint64_t begin = offset - offset % page;
	const uint64_t end = size == 0 ? 0 : last - last % page + page;
	char *data = view != NULL ? (char *)view - offset % page : NULL;
	for (uint64_t at = begin, next; at < end; at = next) {
		next = at - at % PIECE + PIECE;
		next = next < end ? next : end;
		int error = check_piece(fd, &(struct range){at, next - at},
				data != NULL ? data + (at - begin) : NULL, page);
		if (error < 0) {
			return error;
		}
	}
	return 0;
}
