// SPDX-License-Identifier: MIT
#include "display_connection.h"

#include <err.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

/* Lists the compositors' sockets, for a message. Returns `text`. */
static const char *list_sockets(char *text, size_t size) {
	char pattern[PATH_MAX];
	const char *folder = getenv("XDG_RUNTIME_DIR");
	bool is_absolute = folder != NULL && folder[0] == '/'; /* else libwayland uses none */
	glob_t found = {0};
	snprintf(pattern, sizeof(pattern), "%s/wayland-*", is_absolute ? folder : "");
	if (is_absolute && glob(pattern, 0, NULL, &found) != 0) {
		found.gl_pathc = 0;
	}
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < found.gl_pathc && used < size; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;
		struct stat status;
		if (stat(found.gl_pathv[i], &status) == 0 && S_ISSOCK(status.st_mode)) {
			used += (size_t)snprintf(text + used, size - used, "%s%s",
					used == 0 ? "; there is: " : " ", name);
		}
	}
	globfree(&found);
	return text;
}

struct wl_display *display_connect(void) {
	struct wl_display *display = wl_display_connect(NULL);
	if (display == NULL) {
		const char *name = getenv("WAYLAND_DISPLAY"), *folder = getenv("XDG_RUNTIME_DIR");
		char sockets[512];
		int error = errno;
		warnx("no compositor at WAYLAND_DISPLAY=%s, XDG_RUNTIME_DIR=%s: %s: "
		      "start one, or name its socket by these variables%s",
				name != NULL ? name : "(unset: wayland-0)",
				folder != NULL ? folder : "(unset)", strerror(error),
				list_sockets(sockets, sizeof(sockets)));
	}
	return display;
}

void display_explain_loss(struct wl_display *display) {
	int error = wl_display_get_error(display);
	if (error == EPROTO) {
		const struct wl_interface *interface = NULL;
		uint32_t code = wl_display_get_protocol_error(display, &interface, NULL);
		warnx("the compositor ended the connection: error %u of %s", code,
				interface != NULL ? interface->name : "an unknown interface");
	} else {
		warnx("the compositor went away (it ended, or was killed)");
	}
}

static int disconnected(sd_event_source *source, struct wl_display *display) {
	display_explain_loss(display);
	return sd_event_exit(sd_event_source_get_event(source), EXIT_FAILURE);
}

/*
 * Reads and dispatches the events that are there. wl_display_dispatch() would poll once more, and
 * wait if there are none. Returns -1: the connection is over.
 */
static int dispatch_events(struct wl_display *display) {
	while (wl_display_prepare_read(display) < 0) {
		if (wl_display_dispatch_pending(display) < 0) {
			return -1;
		}
	}
	return wl_display_read_events(display) < 0 ? -1 : wl_display_dispatch_pending(display);
}

static int handle_events(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct wl_display *display = data;
	if ((events & EPOLLIN) && dispatch_events(display) < 0) {
		return disconnected(source, display);
	}
	if (!(events & EPOLLIN) && (events & (EPOLLHUP | EPOLLERR))) {
		return disconnected(source, display);
	}
	return 0;
}

/* Sends what other sources queued, before the loop sleeps. */
static int prepare_events(sd_event_source *source, void *data) {
	struct wl_display *display = data;
	if (wl_display_dispatch_pending(display) < 0) {
		return disconnected(source, display);
	}
	int result = wl_display_flush(display);
	if (result < 0 && errno != EAGAIN) {
		// The compositor may have said why it hung up: that is read first.
		while (wl_display_dispatch(display) >= 0) {
		}
		return disconnected(source, display);
	}
	sd_event_source_set_io_events(source, result < 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
	return 0;
}

int display_add_to_loop(struct wl_display *display, sd_event *event, sd_event_source **source) {
	int result = sd_event_add_io(
			event, source, wl_display_get_fd(display), EPOLLIN, handle_events, display);
	if (result >= 0) {
		result = sd_event_source_set_prepare(*source, prepare_events);
	}
	if (result < 0) {
		warnx("event loop: %s", strerror(-result));
	}
	return result < 0 ? -1 : 0;
}
