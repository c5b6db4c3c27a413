/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LIB_MAP_CALL_H
#define TESTS_LIB_MAP_CALL_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* mmap() of the kernel, past a library that has one of its own. One of 32 bits is given pages. */
static inline void *map_call(
		void *data, size_t size, int protection, int flags, int fd, off_t offset) {
#ifdef SYS_mmap2
	return (void *)syscall(SYS_mmap2, data, size, protection, flags, fd, (long)(offset >> 12));
#else
	return (void *)syscall(SYS_mmap, data, size, protection, flags, fd, offset);
#endif
}

#endif
