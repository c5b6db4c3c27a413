// SPDX-License-Identifier: MIT
/**
 * Log lines on standard error, for programs that must not wait for whoever reads them: a thread of
 * its own writes them, and may wait. Lines for which there is no room are dropped and counted.
 */
#ifndef GID_LOG_WRITER_H
#define GID_LOG_WRITER_H

#include <stddef.h>

/* The longest line, with its end. */
#define LOG_LINE_BYTES 768

/*
 * Starts the thread. `name` is the prefix of the writer's own messages. Before that, and where the
 * thread cannot start, a line is written at once if that would not wait, and else dropped.
 */
void log_writer_start(const char *name);

/* Writes what is left, for at most a fifth of a second. From then on it is as before the start. */
void log_writer_stop(void);

/* Takes a whole line, with its end; the rest of a longer one is cut off. Any thread. */
void log_write(const char *line, size_t size);

#endif
