// SPDX-License-Identifier: MIT
/**
 * Memory that no cache has, for measuring: pictures that another core drew, or that were shown some
 * frames ago, are in none of this one.
 */
#ifndef CLUSTER_COLD_MEMORY_H
#define CLUSTER_COLD_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>

#define COLD_MEMORY_LINE 64 /* bytes; caches with longer lines are only flushed more often */

/* Only these architectures let a program flush its caches: elsewhere it does nothing. */
static inline void cold_memory_make(const void *memory, size_t size) {
#if defined(__SSE2__) || defined(__aarch64__)
	const char *bytes = memory;
	for (size_t i = 0; i < size; i += COLD_MEMORY_LINE) {
#if defined(__SSE2__)
		__builtin_ia32_clflush(bytes + i);
#else
		__asm__ volatile("dc civac, %0" : : "r"(bytes + i) : "memory");
#endif
	}
#endif
	atomic_thread_fence(memory_order_seq_cst);
}

#endif
