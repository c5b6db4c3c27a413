// SPDX-License-Identifier: MIT
/*
 * Loaded before a program that locks more memory than it may, and gives up where that is refused:
 * the memory stays unlocked. bench/readers.py has zenoh run with it.
 */
#include <stddef.h>
#include <sys/mman.h>

int mlock(const void *address, size_t size) {
	return 0;
}
