// SPDX-License-Identifier: MIT
#include "clipboard_loop.h"

#include <clipboard_format.h>
#include <err.h>
#include <string.h>
#include <sys/epoll.h>

#include "deadline.h"

#define ACCURACY_US 1000

void clipboard_loop_woken(void *data) {
	const struct clipboard_loop *loop = data;
	deadline_set(loop->timer, 0);
}

void clipboard_loop_say(void *data, const char *what) {
	warnx("%s", what);
}

static int handle_timer(sd_event_source *source, uint64_t time, void *data) {
	const struct clipboard_loop *loop = data;
	clipboard_dispatch(loop->clipboard);
	deadline_set(loop->timer, clipboard_deadline(loop->clipboard));
	return 0;
}

static int handle_readable(sd_event_source *source, int fd, uint32_t mask, void *data) {
	return handle_timer(source, 0, data);
}

static bool loop_name(struct clipboard_loop *loop, const char *stream, enum clipboard_end end) {
	char input[INPUT_NAME_SIZE];
	bool shows = end == CLIPBOARD_OF_WHO_SHOWS;
	return input_stream_name(input, stream) &&
			clipboard_stream_name(shows ? loop->ours : loop->theirs, input) &&
			clipboard_stream_name(shows ? loop->theirs : loop->ours, stream);
}

int clipboard_loop_init(struct clipboard_loop *loop, sd_event *event, struct gid_domain *domain,
		const char *stream, enum clipboard_end end, const char *other,
		const struct clipboard_events *events) {
	*loop = (struct clipboard_loop){0};
	if (!loop_name(loop, stream, end)) {
		warnx("--clipboard: the stream's name is too long: 47 bytes at most");
		return -1;
	}
	int result = clipboard_create(
			loop->ours, other, loop->theirs, events, loop, &loop->clipboard);
	if (result == 0) {
		result = sd_event_add_time_relative(event, &loop->timer, CLOCK_MONOTONIC, 0,
				ACCURACY_US, handle_timer, loop);
	}
	if (result >= 0) {
		result = sd_event_add_io(event, &loop->readable, clipboard_get_fd(loop->clipboard),
				EPOLLIN, handle_readable, loop);
	}
	if (result < 0) {
		warnx("event loop: %s", strerror(-result));
		return -1;
	}
	clipboard_set_domain(loop->clipboard, domain);
	return 0;
}

void clipboard_loop_finish(struct clipboard_loop *loop) {
	sd_event_source_disable_unref(loop->readable);
	sd_event_source_disable_unref(loop->timer);
	clipboard_destroy(loop->clipboard);
	*loop = (struct clipboard_loop){0};
}
