// SPDX-License-Identifier: MIT
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "common/main_loop.h"
#include "options.h"
#include "standard_streams.h"
#include "view.h"

int main(int argc, char **argv) {
	struct options options;
	standard_streams_init();
	options_parse(&options, argc, argv);

	sd_event *event = NULL;
	int result = sd_event_default(&event);
	if (result >= 0) {
		result = sd_event_set_signal_exit(event, true);
	}
	if (result < 0) {
		errx(EXIT_FAILURE, "event loop: %s", strerror(-result));
	}
	struct view view;
	int status = EXIT_FAILURE;
	if (view_init(&view, event, &options) == 0) {
		status = main_loop_run(event);
	}
	view_finish(&view);
	sd_event_unref(event);
	return status;
}
