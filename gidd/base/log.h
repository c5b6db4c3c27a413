// SPDX-License-Identifier: MIT
/**
 * Messages for people, on stderr: with colours on a terminal, with levels in the journal. Nobody
 * waits for who reads them: what nobody takes is lost, and counted.
 */
#ifndef GIDD_LOG_H
#define GIDD_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

/*
 * Who brought it about. Each has a budget of its own: 200 lines at once, and 20 a second from then
 * on; the rest is counted. So nobody fills the disk, and nobody's flood hides what others did.
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

/* From now on a thread writes them; and no more, once what was left is written. */
void log_start_writer(void);
void log_stop_writer(void);

__attribute__((format(printf, 3, 4))) void log_line(
		log_source source, enum log_level level, const char *format, ...);

#define log_error(...) log_line(LOG_OURSELVES, LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_OURSELVES, LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_OURSELVES, LOG_LEVEL_INFO, __VA_ARGS__)

#endif
