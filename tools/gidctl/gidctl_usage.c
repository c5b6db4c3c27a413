// SPDX-License-Identifier: MIT
#include "gidctl.h"

#include <stdarg.h>
#include <stdio.h>

int usage_error(const char *format, ...) {
	va_list args;
	fputs("gidctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\nTry `gidctl --help'.\n", stderr);
	return EXIT_USAGE;
}
