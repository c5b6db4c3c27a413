// SPDX-License-Identifier: MIT
/** The Test Anything Protocol, as meson reads it: one `ok` line a check, the plan at the end. */
#ifndef GID_TESTS_TAP_H
#define GID_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failures;

__attribute__((format(printf, 4, 5))) static inline bool tap_check(
		bool good, const char *file, int line, const char *format, ...) {
	va_list args;
	tap_count++;
	printf("%sok %d - ", good ? "" : "not ", tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (!good) {
		tap_failures++;
		printf("\n# at %s:%d", file, line);
	}
	printf("\n");
	fflush(stdout);
	return good;
}

/* One check, with the sentence that must hold in printf's form. Returns whether it holds. */
#define tap_ok(good, ...) tap_check((good), __FILE__, __LINE__, __VA_ARGS__)

/* Prints the plan; what main() returns. */
static inline int tap_finish(void) {
	printf("1..%d\n", tap_count);
	return tap_failures == 0 ? 0 : 1;
}

#endif
