// SPDX-License-Identifier: MIT
/** Which pages this process has: unmapping costs nothing where nobody touched them. */
#ifndef GID_TESTS_PAGES_H
#define GID_TESTS_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* Those there now, as the page tables have them. `pagemap` is that of /proc/self, or -1. */
static inline size_t count_pages(int pagemap, const void *data, size_t size) {
	uint64_t entries[512];
	size_t count = 0, first = (uintptr_t)data / 4096, left = size / 4096;
	while (left > 0) {
		size_t part = left < 512 ? left : 512;
		if (pread(pagemap, entries, part * 8, (off_t)(first * 8)) != (ssize_t)(part * 8)) {
			break;
		}
		for (size_t i = 0; i < part; i++) {
			count += entries[i] >> 63;
		}
		first += part;
		left -= part;
	}
	return count;
}

#endif
