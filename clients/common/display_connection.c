// SPDX-License-Identifier: MIT
#include "display_connection.h"

#include <err.h>
#include <errno.h>
#include <gid/gid.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>

/* How long a compositor may take to begin; and to handle what is sent to it last. */
#define ANSWER_NS 60000000000ull
#define LAST_ANSWER_NS 1000000000ull

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
	const struct wl_interface *interface = NULL;
	uint32_t code = wl_display_get_protocol_error(display, &interface, NULL);
	/* Those of wl_display itself, as that it has no memory, are no EPROTO. */
	if (wl_display_get_error(display) == EPROTO || interface != NULL) {
		warnx("the compositor ended the connection: error %u of %s", code,
				interface != NULL ? interface->name : "an unknown interface");
	} else {
		warnx("the compositor went away (it ended, or was killed)");
	}
}

/* --- before and after the loop ---------------------------------------------------------------- */

static int prepare_read(struct wl_display *display, struct wl_event_queue *queue) {
	return queue != NULL ? wl_display_prepare_read_queue(display, queue)
			     : wl_display_prepare_read(display);
}

static int dispatch_pending(struct wl_display *display, struct wl_event_queue *queue) {
	return queue != NULL ? wl_display_dispatch_queue_pending(display, queue)
			     : wl_display_dispatch_pending(display);
}

/*
 * Dispatches what is there, or what comes until `end`, ns. `signals` are blocked meanwhile; NULL:
 * those that are. Returns -1: the connection is over.
 */
static int dispatch_until(struct wl_display *display, struct wl_event_queue *queue, uint64_t end,
		const sigset_t *signals) {
	struct pollfd poll = {.fd = wl_display_get_fd(display), .events = POLLIN};
	uint64_t now = gid_clock_now(), left = now < end ? end - now : 0;
	struct timespec patience = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
	if (prepare_read(display, queue) < 0) {
		return dispatch_pending(display, queue);
	}
	wl_display_flush(display);
	if (ppoll(&poll, 1, &patience, signals) <= 0) {
		wl_display_cancel_read(display);
		return 0;
	}
	return wl_display_read_events(display) < 0 ? -1 : dispatch_pending(display, queue);
}

/* Those that are blocked, but for the two that ask for the end. */
static sigset_t signals_of_waiting(void) {
	sigset_t signals;
	sigprocmask(SIG_SETMASK, NULL, &signals);
	sigdelset(&signals, SIGINT);
	sigdelset(&signals, SIGTERM);
	return signals;
}

int display_dispatch_until(struct wl_display *display, uint64_t end) {
	const sigset_t signals = signals_of_waiting();
	return dispatch_until(display, NULL, end, &signals);
}

static void handle_answer(void *data, struct wl_callback *callback, uint32_t serial) {
	bool *answered = data;
	*answered = true;
}

static const struct wl_callback_listener answer_listener = {.done = handle_answer};

static struct wl_callback *ask(struct wl_display *display, struct wl_event_queue *queue) {
	struct wl_display *wrapper = wl_proxy_create_wrapper(display);
	if (queue != NULL) {
		wl_proxy_set_queue((struct wl_proxy *)wrapper, queue);
	}
	struct wl_callback *callback = wl_display_sync(wrapper);
	wl_proxy_wrapper_destroy(wrapper);
	return callback;
}

/* As wl_display_roundtrip(). Returns 1; 0: there was no answer until `end`; -1: it is over. */
static int roundtrip_until(struct wl_display *display, struct wl_event_queue *queue, uint64_t end,
		const sigset_t *signals) {
	bool answered = false;
	struct wl_callback *callback = ask(display, queue);
	wl_callback_add_listener(callback, &answer_listener, &answered);
	int result = 0;
	while (!answered && result >= 0 && gid_clock_now() < end) {
		result = dispatch_until(display, queue, end, signals);
	}
	wl_callback_destroy(callback);
	return result < 0 ? -1 : answered;
}

int display_roundtrip(struct wl_display *display, struct wl_event_queue *queue) {
	const sigset_t signals = signals_of_waiting();
	int result = roundtrip_until(display, queue, gid_clock_now() + ANSWER_NS, &signals);
	if (result < 0) {
		display_explain_loss(display);
	} else if (result == 0) {
		warnx("the compositor has answered nothing for %llu s: is it stopped?",
				ANSWER_NS / 1000000000);
	}
	return result == 1 ? 0 : -1;
}

void display_settle(struct wl_display *display) {
	roundtrip_until(display, NULL, gid_clock_now() + LAST_ANSWER_NS, NULL);
}

/* --- on the loop ------------------------------------------------------------------------------ */

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
