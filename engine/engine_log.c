// SPDX-License-Identifier: MIT
#include "engine_log.h"

#include <gid/gid.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#define LINE_NS 2000000000ull
#define LINES_AT_ONCE 20u

void engine_log(struct engine_log *log, const char *format, ...) {
	uint64_t now = gid_clock_now();
	uint64_t spent = log->spent_until > now ? log->spent_until : now;
	char text[512], left_out[64] = "";
	va_list args;
	if (spent - now > (LINES_AT_ONCE - 1) * LINE_NS) {
		log->left_out++;
		return;
	}
	log->spent_until = spent + LINE_NS;
	if (log->left_out > 0) {
		snprintf(left_out, sizeof(left_out), " (and %" PRIu64 " lines before)",
				log->left_out);
		log->left_out = 0;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* One call, so that lines of threads stay whole. */
	fprintf(stderr, "%sgid-engine[%s]: %s%s\n", getenv("JOURNAL_STREAM") ? SD_INFO : "",
			log->name, text, left_out);
}
