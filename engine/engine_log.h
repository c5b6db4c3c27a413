// SPDX-License-Identifier: MIT
/**
 * Lines for people, on stderr. What a requester brings about as often as it likes is counted: 20
 * lines at once, and one more every two seconds. No canvas waits for who reads the log: what nobody
 * takes is lost, and counted.
 */
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

#include "log_budget.h"

/* Of one canvas, and of one thread. */
struct engine_log {
	const char *name;
	struct log_budget budget;
};

__attribute__((format(printf, 2, 3))) void engine_log(
		struct engine_log *log, const char *format, ...);

#endif
