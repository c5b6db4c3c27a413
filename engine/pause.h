// SPDX-License-Identifier: MIT
/** A short wait between two looks at memory that another processor writes. */
#ifndef ENGINE_PAUSE_H
#define ENGINE_PAUSE_H

#include <sched.h>

#define PAUSES 64 /* one or two microseconds */

/*
 * Each load takes the cache line away from its writer: a fast reader must not load all the time.
 * And if two processors share a core, the other one can use it meanwhile.
 */
static inline void pause_briefly(void) {
	for (int i = 0; i < PAUSES; i++) {
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("yield");
#endif
	}
}

/*
 * The same where the writer may have to run on this processor: it cannot write while we spin. If
 * nobody else wants the processor, this takes a third of a microsecond more.
 */
static inline void give_way(void) {
	pause_briefly();
	sched_yield();
}

#endif
