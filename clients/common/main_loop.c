// SPDX-License-Identifier: MIT
#include "main_loop.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

int main_loop_run(sd_event *event) {
	int ret = sd_event_loop(event);
	if (ret < 0) {
		warnx("event loop: %s", strerror(-ret));
		return EXIT_FAILURE;
	}
	return ret;
}
