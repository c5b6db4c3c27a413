// SPDX-License-Identifier: MIT
/** Reads the lines of a configuration within bounds: it may be any file. */
#ifndef INI_LINE_H
#define INI_LINE_H

#include <stdio.h>
#include <sys/types.h>

/*
 * As fgets(), but gives the length, with the line's end and zeroes within it, and skips what has no
 * room. Returns -ENODATA: there is no more; -E2BIG: the line was longer than size - 1 bytes, and
 * the next call reads the next one; -EFBIG: it has no end within a megabyte, so this is no text,
 * and not to be read on.
 */
ssize_t ini_line_read(FILE *file, char *line, size_t size);

#endif
