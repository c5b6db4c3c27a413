// SPDX-License-Identifier: MIT
/* What others bring about fills no log: a role's place, which any reader of the screen changes. */
#include "cluster/base/seldom_log.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

#define S UINT64_C(1000000000)

static unsigned lines;
static char last[128];

static void keep(enum wlr_log_importance importance, const char *format, va_list args) {
	vsnprintf(last, sizeof(last), format, args);
	lines++;
}

int main(void) {
	struct log_budget budget = {0};
	unsigned allowed = 0;
	wlr_log_init(WLR_INFO, keep);
	for (int i = 0; i < 100; i++) {
		allowed += seldom_log_may(&budget, WLR_INFO, "role", "camera", 1000 * S);
	}
	tap_ok(allowed == LOG_SELDOM.lines && lines == 0, "of 100 changes at once %u", allowed);
	tap_ok(seldom_log_may(&budget, WLR_INFO, "role", "camera", 1000 * S + LOG_SELDOM.line_ns) &&
					lines == 1 &&
					strstr(last, "role camera: 80 changes") != NULL,
			"later one more, after how many there were: %s", last);
	tap_ok(!seldom_log_may(&budget, WLR_INFO, "role", "camera", 1000 * S + LOG_SELDOM.line_ns),
			"and no second one");
	return tap_finish();
}
