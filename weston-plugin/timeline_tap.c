// SPDX-License-Identifier: MIT
#include "timeline_tap.h"

#include <libweston/libweston.h>
#include <libweston/weston-log.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The only log subscriber that a module can create writes to a FILE. This FILE calls a function,
 * and has no buffer: so each piece that Weston writes arrives as one.
 */
struct timeline_tap {
	timeline_tap_func func;
	void *data;
	struct timeline_reader reader;
	FILE *file;
	struct weston_log_subscriber *subscriber;
};

static ssize_t tap_write(void *cookie, const char *bytes, size_t length) {
	struct timeline_tap *tap = cookie;
	struct timeline_line line;
	timeline_read(&tap->reader, bytes, length, &line);
	if (line.kind != TIMELINE_OTHER) {
		tap->func(tap->data, &line);
	}
	return (ssize_t)length;
}

struct timeline_tap *timeline_tap_create(
		struct weston_compositor *compositor, timeline_tap_func func, void *data) {
	struct timeline_tap *tap = calloc(1, sizeof(*tap));
	if (tap == NULL) {
		return NULL;
	}
	tap->func = func;
	tap->data = data;
	tap->file = fopencookie(tap, "w", (cookie_io_functions_t){.write = tap_write});
	if (tap->file == NULL) {
		goto error_file;
	}
	setvbuf(tap->file, NULL, _IONBF, 0);
	tap->subscriber = weston_log_subscriber_create_log(tap->file);
	if (tap->subscriber == NULL) {
		goto error_subscriber;
	}
	weston_log_subscribe(compositor->weston_log_ctx, tap->subscriber, "timeline");
	return tap;

error_subscriber:
	fclose(tap->file);
error_file:
	free(tap);
	return NULL;
}

void timeline_tap_destroy(struct timeline_tap *tap) {
	if (tap == NULL) {
		return;
	}
	weston_log_subscriber_destroy(tap->subscriber);
	fclose(tap->file);
	free(tap);
}
