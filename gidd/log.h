// SPDX-License-Identifier: MIT
/** Messages for people, on stderr: with colours on a terminal, with levels in the journal. */
#ifndef GIDD_LOG_H
#define GIDD_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* `name` stands before each line; lines above `most` are not written. */
void log_init(const char *name, enum log_level most);

/* A hostile client cannot fill the disk: past 200 lines a second they are counted only. */
__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
