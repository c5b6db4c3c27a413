// SPDX-License-Identifier: MIT
#include "engine_log.h"

#include <gid/gid.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "journal.h"
#include "log_writer.h"

void engine_log(struct engine_log *log, const char *format, ...) {
	char text[512], left_out[64] = "", line[LOG_LINE_BYTES];
	va_list args;
	if (!log_budget_take(&log->budget, LOG_SELDOM, gid_clock_now())) {
		return;
	}
	const uint64_t before = log->budget.left_out;
	log->budget.left_out = 0;
	if (before > 0) {
		snprintf(left_out, sizeof(left_out), " (and %" PRIu64 " lines before)", before);
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	int size = snprintf(line, sizeof(line), "%sgid-engine[%s]: %s%s\n",
			journal_has_errors() ? SD_INFO : "", log->name, text, left_out);
	log_write(line, (size_t)size);
}
