// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "capture.h"
#include "common/display_connection.h"
#include "common/main_loop.h"
#include "standard_streams.h"

static int list(void) {
	struct wl_display *display = display_connect();
	struct screens screens;
	if (display == NULL) {
		return EXIT_FAILURE;
	}
	int error = screens_init(&screens, display);
	if (error == 0) {
		screens_print(&screens);
		screens_finish(&screens);
	}
	wl_display_disconnect(display);
	return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
	struct capture_options options;
	struct capture capture;
	sd_event *event;
	int status = EXIT_FAILURE;
	standard_streams_init();
	capture_options_parse(&options, argc, argv);
	if (options.list) {
		return list();
	}
	if (sd_event_default(&event) < 0) {
		return EXIT_FAILURE;
	}
	sd_event_set_signal_exit(event, true);
	if (capture_init(&capture, &options, event) == 0) {
		status = main_loop_run(event);
		capture_report(&capture);
		capture_finish(&capture);
	}
	sd_event_unref(event);
	return status;
}
