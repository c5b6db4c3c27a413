// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

#define LINES_A_SECOND 200u

static struct {
	const char *name;
	enum log_level most;
	bool journal, colours;
	time_t second;
	unsigned lines; /* in this second */
} logger = {.name = "gidd", .most = LOG_LEVEL_INFO};

void log_init(const char *name, enum log_level most) {
	logger.name = name;
	logger.most = most;
	logger.journal = getenv("JOURNAL_STREAM") != NULL;
	logger.colours = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
}

static void put_line(enum log_level level, const char *text) {
	static const struct {
		const char *journal, *colour;
	} looks[] = {
			[LOG_LEVEL_ERROR] = {SD_ERR, "\033[1;31m"},
			[LOG_LEVEL_WARNING] = {SD_WARNING, "\033[33m"},
			[LOG_LEVEL_INFO] = {SD_INFO, ""},
			[LOG_LEVEL_DEBUG] = {SD_DEBUG, "\033[2m"},
	};
	const char *before = logger.journal ? looks[level].journal
			: logger.colours    ? looks[level].colour
					    : "";
	const char *after = logger.colours && !logger.journal ? "\033[m" : "";
	fprintf(stderr, "%s%s: %s%s\n", before, logger.name, text, after);
}

void log_line(enum log_level level, const char *format, ...) {
	if (level > logger.most) {
		return;
	}
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	char text[512];
	if (now.tv_sec != logger.second) {
		if (logger.lines > LINES_A_SECOND) {
			snprintf(text, sizeof(text), "%u more lines are left out",
					logger.lines - LINES_A_SECOND);
			put_line(LOG_LEVEL_WARNING, text);
		}
		logger.second = now.tv_sec;
		logger.lines = 0;
	}
	if (++logger.lines > LINES_A_SECOND) {
		return;
	}
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_line(level, text);
}
