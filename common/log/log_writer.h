// SPDX-License-Identifier: MIT
/**
 * Lines on standard error, for programs that must not wait for who reads them: a thread of its own
 * writes them, and may wait. Lines that find no room are lost, and how many is told.
 */
#ifndef GID_LOG_WRITER_H
#define GID_LOG_WRITER_H

#include <stddef.h>

/* The longest line, with its end. */
#define LOG_LINE_BYTES 768

/*
 * Starts the thread. `name` stands before what the writer tells itself. Until then, and where the
 * thread cannot start, a line is written at once, if that would not wait.
 */
void log_writer_start(const char *name);

/* Writes what is left, for at most a fifth of a second. From then on it is as before the start. */
void log_writer_stop(void);

/* Takes a whole line, with its end; the rest of a longer one is cut off. Any thread. */
void log_write(const char *line, size_t size);

#endif
