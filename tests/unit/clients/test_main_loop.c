// SPDX-License-Identifier: MIT
/* A program ends with the status that its loop was left with, and with 1 where the loop fails. */
#include "common/main_loop.h"

#include <stdlib.h>

#include "tap.h"

int main(void) {
	sd_event *event;
	if (sd_event_new(&event) < 0) {
		return 1;
	}
	sd_event_exit(event, 7);
	tap_ok(main_loop_run(event) == 7, "a loop that is left gives its status");
	tap_ok(main_loop_run(event) == EXIT_FAILURE,
			"a loop that cannot run gives 1, and no negative error");
	sd_event_unref(event);
	return tap_finish();
}
