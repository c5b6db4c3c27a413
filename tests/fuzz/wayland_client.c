// SPDX-License-Identifier: MIT
#include "wayland_client.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DISPLAY 1u
#define REGISTRY 2u
#define FIRST_OBJECT 3u
#define WORDS_MAX 24u

void wayland_client_send(struct wayland_client *client, uint32_t object, uint32_t opcode,
		const uint32_t *words, uint32_t count, int fd) {
	uint32_t message[2 + WORDS_MAX] = {object, (2 + count) * 4 << 16 | opcode};
	demand(count <= WORDS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		message[2 + i] = words[i];
	}
	struct iovec part = {message, (2 + count) * 4};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		packet.msg_control = &control;
		packet.msg_controllen = sizeof(control);
	}
	/* A server that closed the connection does not read any more. */
	(void)!sendmsg(client->fd, &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
}

uint32_t wayland_client_put_string(uint32_t *words, uint32_t count, const char *text) {
	uint32_t size = (uint32_t)strlen(text) + 1;
	words[count++] = size;
	memset(words + count, 0, (size + 3) / 4 * 4);
	memcpy(words + count, text, size);
	return count + (size + 3) / 4;
}

uint32_t wayland_client_add(struct wayland_client *client, enum object kind) {
	uint32_t id = client->next++;
	client->objects[id % OBJECTS_MAX] = (uint8_t)kind;
	return id;
}

uint32_t wayland_client_pick(struct wayland_client *client, enum object kind) {
	uint32_t start = take(&client->input, OBJECTS_MAX);
	for (uint32_t i = 0; i < OBJECTS_MAX; i++) {
		uint32_t id = (start + i) % OBJECTS_MAX;
		if (id >= FIRST_OBJECT && id < client->next && client->objects[id] == kind) {
			return id;
		}
	}
	return start;
}

void wayland_client_bind(struct wayland_client *client, enum object kind, const char *interface,
		uint32_t version) {
	for (uint32_t i = 0; i < client->global_count; i++) {
		if (strcmp(client->globals[i].interface, interface) == 0) {
			uint32_t words[WORDS_MAX] = {client->globals[i].name};
			uint32_t count = wayland_client_put_string(words, 1, interface);
			words[count++] = version;
			words[count++] = wayland_client_add(client, kind);
			wayland_client_send(client, REGISTRY, 0, words, count, -1);
			return;
		}
	}
}

uint32_t take_number(struct input *input) {
	static const uint32_t numbers[] = {
			0, 1, 4, 64, 256, 4096, 16384, 0x7fffffff, 0x80000000, ~0u};
	uint32_t which = take(input, 16);
	return which < 10 ? numbers[which]
			  : take(input, 256) << 24 | take(input, 256) << 8 | take(input, 256);
}

void wayland_client_send_anything(struct wayland_client *client) {
	uint32_t words[8];
	for (size_t i = 0; i < 8; i++) {
		words[i] = take_number(&client->input);
	}
	uint32_t object = take(&client->input, OBJECTS_MAX), opcode = take(&client->input, 8);
	wayland_client_send(client, object, opcode, words, take(&client->input, 9), -1);
}

/* Request 0 destroys in all protocols that are spoken here, but these have it otherwise or not. */
static bool has_destroy(enum object kind) {
	return kind != NOTHING && kind != COMPOSITOR && kind != SHM;
}

void wayland_client_send_destroy(struct wayland_client *client) {
	enum object kind = 1 + take(&client->input, OBJECT_KINDS - 1);
	uint32_t id = wayland_client_pick(client, kind);
	if (has_destroy(kind)) {
		wayland_client_send(client, id, 0, NULL, 0, -1);
		client->objects[id % OBJECTS_MAX] = NOTHING;
	}
}

static void hear_of_global(struct wayland_client *client, const uint32_t *words, uint32_t size) {
	if (client->global_count == GLOBALS_MAX || size < 16 || words[1] > size - 12 ||
			words[1] > sizeof(client->globals[0].interface)) {
		return;
	}
	struct global *global = &client->globals[client->global_count++];
	global->name = words[0];
	memcpy(global->interface, words + 2, words[1]);
}

static void listen_all(struct wayland_client *client) {
	uint32_t words[1024];
	ssize_t size;
	while ((size = recv(client->fd, words, sizeof(words), MSG_DONTWAIT)) > 0) {
		uint32_t count = (uint32_t)size / 4;
		for (uint32_t at = 0; at + 2 <= count;) {
			uint32_t length = words[at + 1] >> 16;
			if (length < 8 || length / 4 > count - at) {
				break; /* the rest is in the next piece, and needless */
			}
			if (words[at] == REGISTRY && (words[at + 1] & 0xffff) == 0) {
				hear_of_global(client, words + at + 2, length - 8);
			}
			at += length / 4;
		}
	}
}

void wayland_client_dispatch(struct wayland_client *client) {
	wl_event_loop_dispatch(wl_display_get_event_loop(client->display), 0);
	wl_display_flush_clients(client->display);
	listen_all(client);
}

void wayland_client_init(
		struct wayland_client *client, struct wl_display *display, struct input input) {
	int fds[2];
	*client = (struct wayland_client){.input = input, .display = display, .next = FIRST_OBJECT};
	demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	client->fd = fds[0];
	demand(wl_client_create(display, fds[1]) != NULL);
	uint32_t registry = REGISTRY;
	wayland_client_send(client, DISPLAY, 1, &registry, 1, -1);
	wayland_client_dispatch(client);
}

void wayland_client_finish(struct wayland_client *client) {
	close(client->fd);
}

bool wayland_client_goes_on(const struct wayland_client *client) {
	return client->input.size > 0 && client->next < OBJECTS_MAX;
}
