// SPDX-License-Identifier: MIT
/**
 * Lines for standard error, written by a thread of their own: whoever reads them slowly, or not at
 * all, makes nobody wait. Lines that find no room are counted, and the count is written.
 */
#ifndef CLUSTER_LOG_THREAD_H
#define CLUSTER_LOG_THREAD_H

#include <stdarg.h>

/* Starts the thread. Until then, and where it cannot start, lines are written at once. */
void log_thread_start(void);

/* Writes what is left, for at most a fifth of a second. Lines are written at once from then on. */
void log_thread_stop(void);

/* Adds a line, which gets the time and `label` before it. Any thread; cuts it at 500 bytes. */
void log_thread_add(const char *label, const char *format, va_list args);

#endif
