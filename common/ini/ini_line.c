// SPDX-License-Identifier: MIT
#include "ini_line.h"

#include <errno.h>

#define SKIPPED_MAX ((size_t)1 << 20)

ssize_t ini_line_read(FILE *file, char *line, size_t size) {
	size_t length = 0;
	int c = 0;
	while (c != '\n' && length < SKIPPED_MAX && (c = getc(file)) != EOF) {
		if (length + 1 < size) {
			line[length] = (char)c;
		}
		length++;
	}
	if (length == 0) {
		return -ENODATA;
	}
	if (length == SKIPPED_MAX && c != '\n') {
		return -EFBIG;
	}
	line[length < size ? length : size - 1] = '\0';
	return length < size ? (ssize_t)length : -E2BIG;
}
