// SPDX-License-Identifier: MIT
#include "large_pages.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "realtime.h"
#include "thread.h"

/* Linux 6.1. It needs no setting of the system: only `deny` of shmem_enabled is in its way. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Memory that is larger by this part of it is as good. */
#define LITTLE 32
/* So many at once, in the end: each call may wait for other processors. */
#define PIECE_MOST 4
/*
 * A call that took more was the last one: of the processor, as where the kernel has to move others'
 * pages to have a large one, or of time. It takes a tenth of that where there is nothing to wait
 * for.
 */
#define WORK_NS (UINT64_C(10) * 1000 * 1000)
#define WAIT_NS (UINT64_C(200) * 1000 * 1000)

size_t gid_large_page_size(void) {
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return page * (page / sizeof(uint64_t));
}

uint64_t gid_large_round(uint64_t size) {
	const uint64_t large = gid_large_page_size();
	const uint64_t more = -size % large;
	return more <= size / LITTLE && size <= UINT64_MAX - more ? size + more : size;
}

void *gid_large_map(size_t size, int prot, int flags, int fd, uint64_t offset) {
	const size_t large = gid_large_page_size();
	char *room = MAP_FAILED;
	if (size >= large && size <= SIZE_MAX - large) {
		room = mmap(NULL, size + large, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	if (room == MAP_FAILED) {
		return mmap(NULL, size, prot, flags, fd, (off_t)offset);
	}
	const size_t lead = ((size_t)offset - (uintptr_t)room) % large;
	void *data = mmap(room + lead, size, prot, flags | MAP_FIXED, fd, (off_t)offset);
	if (data == MAP_FAILED) {
		const int error = errno;
		munmap(room, size + large);
		errno = error;
		return MAP_FAILED;
	}
	if (lead > 0) {
		munmap(room, lead);
	}
	/* What is mapped ends at a page, and so does the room. */
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t end = (lead + size + page - 1) & ~(page - 1);
	munmap(room + end, size + large - end);
	return data;
}

/* One page of each is enough for the kernel to get the others, zeroed, with the large one. */
static bool make_piece(char *data, size_t size, size_t large) {
	for (size_t at = 0; at < size; at += large) {
		if (madvise(data + at, 1, MADV_POPULATE_WRITE) < 0) {
			return false;
		}
	}
	return madvise(data, size, MADV_COLLAPSE) == 0;
}

/* Few first, which tells how long it takes. */
size_t gid_large_make(void *data, size_t size) {
	const size_t large = gid_large_page_size(), whole = size - size % large;
	if (whole == 0 || (uintptr_t)data % large != 0 || gid_is_realtime()) {
		return 0;
	}
	size_t done = 0, piece = large;
	bool is_quick = true;
	while (is_quick && done < whole) {
		const uint64_t work = gid_thread_used(), begin = gid_clock_now();
		piece = piece < whole - done ? piece : whole - done;
		if (!make_piece((char *)data + done, piece, large)) {
			break;
		}
		is_quick = gid_thread_used() - work < WORK_NS && gid_clock_now() - begin < WAIT_NS;
		done += piece;
		piece = piece < PIECE_MOST * large ? piece * 2 : piece;
	}
	return done;
}
