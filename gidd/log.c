// SPDX-License-Identifier: MIT
#include "log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "gid/gid.h"

#define LINES 200u
#define LINE_NS UINT64_C(50000000)
/* More users than a domain has; with more, the one whose last line is oldest gives his place. */
#define SOURCES_MAX 64u

struct log_budget {
	log_source source;
	uint64_t spent_until; /* when all its lines are paid for, ns */
	unsigned long long left_out;
};

static struct {
	const char *name;
	enum log_level most;
	bool journal, colours;
	struct log_budget budgets[SOURCES_MAX];
	unsigned long long unread; /* lines that could not be written without waiting */
} logger = {.name = "gidd", .most = LOG_LEVEL_INFO};

void log_init(const char *name, enum log_level most) {
	logger.name = name;
	logger.most = most;
	logger.journal = getenv("JOURNAL_STREAM") != NULL;
	logger.colours = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
}

/* --- budgets ---------------------------------------------------------------------------------- */

/* A new source pays for what was written by the one whose place it takes. */
static struct log_budget *find_budget(log_source source) {
	struct log_budget *oldest = &logger.budgets[0];
	for (unsigned i = 0; i < SOURCES_MAX; i++) {
		struct log_budget *budget = &logger.budgets[i];
		if (budget->source == source) {
			return budget;
		}
		if (budget->spent_until < oldest->spent_until) {
			oldest = budget;
		}
	}
	oldest->source = source;
	oldest->left_out = 0;
	return oldest;
}

static bool take_line(struct log_budget *budget) {
	uint64_t now = gid_clock_now();
	uint64_t begin = budget->spent_until > now ? budget->spent_until : now;
	if (begin - now > (LINES - 1) * LINE_NS) {
		budget->left_out++;
		return false;
	}
	budget->spent_until = begin + LINE_NS;
	return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/*
 * One line at a time, none larger than what a pipe takes at once where it is said to take any.
 * Whoever reads our log may have stopped.
 */
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
	char line[768];
	int size = snprintf(line, sizeof(line), "%s%s: %s%s\n", before, logger.name, text, after);
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
	if (poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0 ||
			write(STDERR_FILENO, line, (size_t)size) < 0) {
		logger.unread++;
	}
}

static void tell_unread(void) {
	char text[96];
	unsigned long long unread = logger.unread;
	if (unread == 0) {
		return;
	}
	logger.unread = 0;
	snprintf(text, sizeof(text), "%llu lines are lost: nobody took them", unread);
	put_line(LOG_LEVEL_WARNING, text);
	if (logger.unread != 0) {
		logger.unread = unread;
	}
}

static void tell_left_out(struct log_budget *budget) {
	char text[96], who[32];
	if (budget->left_out == 0) {
		return;
	}
	bool user = budget->source >> 32 != 0;
	snprintf(who, sizeof(who), "%s %u", user ? "user" : "domain", (unsigned)budget->source);
	snprintf(text, sizeof(text), "%llu more lines are left out, all because of %s",
			budget->left_out, who);
	budget->left_out = 0;
	put_line(LOG_LEVEL_WARNING, text);
}

void log_line(log_source source, enum log_level level, const char *format, ...) {
	if (level > logger.most) {
		return;
	}
	if (source != LOG_OURSELVES) {
		struct log_budget *budget = find_budget(source);
		if (!take_line(budget)) {
			return;
		}
		tell_left_out(budget);
	}
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tell_unread();
	put_line(level, text);
}
