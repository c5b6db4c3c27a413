// SPDX-License-Identifier: MIT
#include "engine_log.h"

#include <gid/gid.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define LINE_NS 2000000000ull
#define LINES_AT_ONCE 20u

void engine_log(struct engine_log *log, const char *format, ...) {
	uint64_t now = gid_clock_now();
	uint64_t spent = log->spent_until > now ? log->spent_until : now;
	char text[512], left_out[64] = "", line[768];
	va_list args;
	if (spent - now > (LINES_AT_ONCE - 1) * LINE_NS) {
		log->left_out++;
		return;
	}
	log->spent_until = spent + LINE_NS;
	const uint64_t before = log->left_out;
	log->left_out = 0;
	if (before > 0) {
		snprintf(left_out, sizeof(left_out), " (and %" PRIu64 " lines before)", before);
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	int size = snprintf(line, sizeof(line), "%sgid-engine[%s]: %s%s\n",
			getenv("JOURNAL_STREAM") ? SD_INFO : "", log->name, text, left_out);
	/* Whoever reads the log may have stopped. One call, so that lines of threads stay whole. */
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
	if (poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0 ||
			write(STDERR_FILENO, line, (size_t)size) < 0) {
		log->left_out = before + 1;
	}
}
