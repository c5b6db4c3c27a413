// SPDX-License-Identifier: MIT
/** Numbers that nobody else has: of lives, and of those who ask. They are no secrets. */
#ifndef GIDD_RANDOM_NUMBER_H
#define GIDD_RANDOM_NUMBER_H

#include <gid/gid.h>
#include <sys/random.h>
#include <unistd.h>

/* Tries: a number is 0 once in 2^64 times, but the kernel may refuse each of them. */
#define RANDOM_NUMBER_TRIES 8

/* Never 0. Without the kernel's help it is a moment's, and a process's. */
static inline uint64_t random_number(void) {
	uint64_t number = 0;
	for (int i = 0; i < RANDOM_NUMBER_TRIES && number == 0; i++) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
			number = 0;
		}
	}
	return number != 0 ? number : (gid_clock_now() << 22 ^ (uint64_t)getpid()) | 1;
}

#endif
