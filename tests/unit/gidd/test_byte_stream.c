// SPDX-License-Identifier: MIT
/*
 * A port of a machine whose device is broken: the kernel then says of each message that it took
 * none of it, and never that it is an error. The stream ends, and gidd goes on.
 */
#include "byte_stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

#define ANSWER_S 10

static int broken = -1; /* this one takes nothing */

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

ssize_t __wrap_write(int fd, const void *data, size_t size) {
	return fd == broken ? 0 : __real_write(fd, data, size);
}

static void handle_envelope(void *data, const struct gid_wire_envelope *envelope,
		const union gid_wire_message *message) {
}

static void handle_garbled(void *data, const char *why) {
}

static void handle_closed(void *data, const char *why) {
	char *reason = data;
	strcpy(reason, why);
}

static const struct byte_stream_handler handler = {
		.envelope = handle_envelope, .garbled = handle_garbled, .closed = handle_closed};

int main(void) {
	sd_event *event;
	int ends[2];
	char why[128] = "";
	struct byte_stream stream;
	union gid_wire_message ping = {
			.header = {.type = GID_WIRE_PING, .size = sizeof(ping.header)}};
	if (sd_event_new(&event) < 0 ||
			socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) <
					0 ||
			byte_stream_init(&stream, event, ends[0], &handler, why) < 0) {
		abort();
	}
	alarm(ANSWER_S); /* who goes round for ever ends here */

	byte_stream_send(&stream, 0, 0, &ping);
	char bytes[2 * sizeof(struct gid_wire_envelope)];
	tap_ok(read(ends[1], bytes, sizeof(bytes)) > 0, "a message goes to who reads");

	broken = ends[0];
	byte_stream_send(&stream, 0, 0, &ping);
	tap_ok(why[0] == '\0', "what a broken port does not take holds nobody up");
	sd_event_run(event, 0);
	tap_ok(strcmp(why, "Input/output error") == 0, "its stream ends (%s)", why);

	broken = -1;
	byte_stream_finish(&stream);
	close(ends[1]);
	sd_event_unref(event);
	return tap_finish();
}
