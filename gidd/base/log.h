// SPDX-License-Identifier: MIT
/**
 * The log on stderr: with colours on a terminal, with levels in the journal. Logging never waits
 * for whoever reads it: lines for which there is no room are dropped and counted.
 */
#ifndef GIDD_LOG_H
#define GIDD_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

/*
 * Who caused a line. Each source has its own budget: 200 lines at once, then 20 a second; the rest
 * is counted. So nobody can fill the disk, or hide the lines that others caused.
 */
typedef uint64_t log_source;
#define LOG_OURSELVES ((log_source)0) /* is not bounded */

/* Another domain: its gidd, its machine. */
static inline log_source log_domain(uint32_t domain) {
	return domain;
}

/* All programs of a user, who may start as many as he likes. */
static inline log_source log_user(uint32_t uid) {
	return UINT64_C(1) << 32 | uid;
}

/* `name` stands before each line; lines above `most` are not written. The journal has no colours.
 */
void log_init(const char *name, enum log_level most, bool colours);

/* Starts the thread that writes the log; ends it, after it has written what is left. */
void log_start_writer(void);
void log_stop_writer(void);

__attribute__((format(printf, 3, 4))) void log_line(
		log_source source, enum log_level level, const char *format, ...);

#define log_error(...) log_line(LOG_OURSELVES, LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_OURSELVES, LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_OURSELVES, LOG_LEVEL_INFO, __VA_ARGS__)

#endif
