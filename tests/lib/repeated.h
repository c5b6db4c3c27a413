// SPDX-License-Identifier: MIT
/** How often a test of random cases does the same. */
#ifndef GID_TESTS_REPEATED_H
#define GID_TESTS_REPEATED_H

#include <stdint.h>
#include <stdlib.h>

/*
 * So often, and `at_length` times where $GIDWAY_LONG asks for that. Under a sanitizer, which makes
 * it ten times slower, a quarter of it: what that sees shows in any of these cases, and their
 * results are judged without it.
 */
static inline uint32_t repeated(uint32_t times, uint32_t at_length) {
	if (getenv("GIDWAY_LONG") != NULL) {
		return at_length;
	}
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return (times + 3) / 4;
#else
	return times;
#endif
}

#endif
