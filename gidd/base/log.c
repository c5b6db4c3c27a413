// SPDX-License-Identifier: MIT
#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "gid/gid.h"
#include "journal.h"
#include "log_budget.h"
#include "log_writer.h"

static const struct log_rate rate = {.lines = 200, .line_ns = UINT64_C(50000000)};

/* More users than a domain has. With more, the source with the oldest last line loses its entry. */
#define SOURCES_MAX 64u

struct source_budget {
	log_source source;
	struct log_budget budget;
};

static struct {
	const char *name;
	enum log_level most;
	bool journal, colours;
	struct source_budget budgets[SOURCES_MAX];
} logger = {.name = "gidd", .most = LOG_LEVEL_INFO};

void log_init(const char *name, enum log_level most, bool colours) {
	logger.name = name;
	logger.most = most;
	logger.journal = journal_has_errors();
	logger.colours = colours;
}

void log_start_writer(void) {
	char name[96];
	snprintf(name, sizeof(name), "%s%s", logger.journal ? SD_WARNING : "", logger.name);
	log_writer_start(name);
}

void log_stop_writer(void) {
	log_writer_stop();
}

/* --- budgets ---------------------------------------------------------------------------------- */

/* A new source inherits the spent budget of the source whose entry it takes. */
static struct log_budget *find_budget(log_source source) {
	struct source_budget *oldest = &logger.budgets[0];
	for (unsigned i = 0; i < SOURCES_MAX; i++) {
		struct source_budget *one = &logger.budgets[i];
		if (one->source == source) {
			return &one->budget;
		}
		if (one->budget.spent_until < oldest->budget.spent_until) {
			oldest = one;
		}
	}
	oldest->source = source;
	oldest->budget.left_out = 0;
	return &oldest->budget;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put_line(enum log_level level, const char *text) {
	static const struct {
		const char *journal, *colour;
	} looks[] = {
			[LOG_LEVEL_ERROR] = {SD_ERR, "\033[1;31m"},
			[LOG_LEVEL_WARNING] = {SD_WARNING, "\033[33m"},
			[LOG_LEVEL_INFO] = {SD_INFO, ""},
	};
	const char *before = logger.journal ? looks[level].journal
			: logger.colours    ? looks[level].colour
					    : "";
	const char *after = logger.colours && !logger.journal ? "\033[m" : "";
	char line[LOG_LINE_BYTES];
	int size = snprintf(line, sizeof(line), "%s%s: %s%s\n", before, logger.name, text, after);
	log_write(line, (size_t)size);
}

static void report_suppressed(log_source source, struct log_budget *budget) {
	char text[96], who[32];
	if (budget->left_out == 0) {
		return;
	}
	bool user = source >> 32 != 0;
	snprintf(who, sizeof(who), "%s %u", user ? "user" : "domain", (unsigned)source);
	snprintf(text, sizeof(text), "%" PRIu64 " more lines are left out, all because of %s",
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
		if (!log_budget_take(budget, rate, gid_clock_now())) {
			return;
		}
		report_suppressed(source, budget);
	}
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_line(level, text);
}
