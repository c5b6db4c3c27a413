// SPDX-License-Identifier: MIT
/** Lines on stderr for those who must not wait for who reads them. */
#ifndef GID_LOG_WRITER_H
#define GID_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes a whole line, no longer than what a pipe takes at once where it is said to take any; by
 * one call, so that lines of threads stay whole. False: it would have to wait, or failed.
 */
bool log_write(const char *line, size_t size);

#endif
