// SPDX-License-Identifier: MIT
/*
 * To be preloaded: a kernel that lets whoever has a descriptor to read make its mapping writable.
 * Nothing is written there; it only says that it could be.
 */
#include <stddef.h>
#include <sys/mman.h>

int mprotect(void *data, size_t size, int protection) {
	return 0;
}
