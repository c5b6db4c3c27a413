// SPDX-License-Identifier: MIT
#include "host_client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gidd_message.h"
#include "socket.h"

static struct {
	int fd; /* -1: not connected */
	const char *runtime;
	uint64_t ring; /* in the window, behind the page; 0: no memory yet */
} self = {.fd = -1};

static int open_window(void) {
	char path[128];
	snprintf(path, sizeof(path), "%s/window/host/0.1", self.runtime);
	return open(path, O_RDWR | O_CLOEXEC);
}

static void say_first(void) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_HELLO, 1);
	message.hello.version = GID_WIRE_VERSION;
	message.hello.domain = GID_WIRE_TAKES_DOORBELLS;
	inside_send(self.fd, &message, NULL, 0);
	gid_wire_begin(&message, GID_WIRE_PUBLISH, 2);
	strcpy(message.publish.name, "film");
	inside_send(self.fd, &message, NULL, 0);
	gid_wire_begin(&message, GID_WIRE_ALLOC, 3); /* page, ring and a slab of one slot */
	message.alloc.size = 16 * 4096;
	inside_send(self.fd, &message, NULL, 0);
}

static void use_memory(uint64_t offset) {
	union gid_wire_message message;
	int window = open_window();
	self.ring = offset + 4096;
	gid_wire_begin(&message, GID_WIRE_EXPORT, 4);
	message.export.memory = GID_MEMORY_WINDOW;
	message.export.offset = offset + 8 * 4096;
	message.export.slot_size = 4096;
	message.export.slot_count = 1;
	message.export.generations = offset + 9 * 4096;
	message.export.layout = inside_layout;
	inside_send(self.fd, &message, &window, 1);
	close(window);
}

void host_client_subscribe(uint32_t number) {
	union gid_wire_message message;
	int pair[2], fds[2] = {open_window(), -1};
	if (self.ring == 0 ||
			socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) <
					0) {
		close(fds[0]);
		return;
	}
	fds[1] = pair[1];
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBE, 5);
	message.subscribe.subscription = number;
	message.subscribe.credit = 1;
	message.subscribe.flags = GID_WIRE_WAIT;
	message.subscribe.window_offset = self.ring - 4096;
	strcpy(message.subscribe.domain_name, "open");
	strcpy(message.subscribe.name, "movie");
	inside_send(self.fd, &message, fds, 2);
	gid_socket_close_fds(fds, 2);
	close(pair[0]); /* hangs up: the guest is to hear of that */
}

void host_client_end(uint32_t number) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
	message.subscription_end.subscription = number;
	message.subscription_end.reason = -EPROTO;
	inside_send(self.fd, &message, NULL, 0);
}

/* A slab in a window of the host's, anywhere. */
static void place_in_window(struct gid_wire_export *export, struct input *input) {
	export->memory = GID_MEMORY_WINDOW;
	export->offset = gid_wire_window_place(take(input, 2), take(input, 64) * UINT64_C(4096));
	export->generations = export->offset + export->slot_count * export->slot_size;
}

void host_client_say(struct input *input) {
	union gid_wire_message message;
	int fds[2], window = self.fd < 0 ? -1 : open_window();
	uint32_t fd_count = gidd_message_make(&message, fds, input);
	if (message.header.type == GID_WIRE_EXPORT && take(input, 2) == 0) {
		place_in_window(&message.export, input);
	}
	if (take(input, 2) == 0) {
		fds[0] = window;
	}
	if (message.header.type == GID_WIRE_FREE && take(input, 2) == 0) {
		message.allocated.offset = self.ring - 4096; /* all that it has */
		message.allocated.size = 16 * 4096;
	}
	inside_send(self.fd, &message, fds, fd_count);
	gid_socket_close_fds(&window, 1);
}

static void hear(const union gid_wire_message *message) {
	union gid_wire_message answer;
	if (message->header.type == GID_WIRE_ALLOCATED) {
		use_memory(message->allocated.offset);
	} else if (message->header.type == GID_WIRE_RESULT && message->header.serial == 4) {
		gid_wire_begin(&answer, GID_WIRE_GRANT, 6);
		answer.grant.slab = message->result.value;
		answer.grant.domain = 1;
		answer.grant.allow = 1;
		if (message->result.error == 0) {
			inside_send(self.fd, &answer, NULL, 0);
		}
	} else if (message->header.type == GID_WIRE_SUBSCRIBER) {
		int window = open_window();
		gid_wire_begin(&answer, GID_WIRE_ACCEPT, 0);
		answer.subscribed.subscription = message->subscriber.subscription;
		answer.subscribed.window_offset = self.ring;
		inside_send(self.fd, &answer, &window, 1);
		close(window);
	}
}

void host_client_listen(void) {
	inside_listen(&self.fd, hear);
}

void host_client_connect(struct gidd *gidd) {
	if (self.fd < 0) {
		self.fd = inside_connect(gidd);
		self.runtime = gidd->runtime;
		self.ring = 0;
		say_first();
	}
}

void host_client_hang_up(void) {
	gid_socket_close_fds(&self.fd, 1);
}
