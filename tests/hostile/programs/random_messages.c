// SPDX-License-Identifier: MIT
/*
 * hostile-messages gidd SOCKET | wayland SOCKET | link SOCKET OWN-NUMBER: random messages, as fast
 * as they are taken. Some are noise; most have a true header, so that they get past it. Who hangs
 * up is called again.
 *
 * `gidd`: as a client. `wayland`: as a client of a compositor. `link`: in the place of the gidd of
 * our own domain, whose number that is: listens for another domain's gidd, as the domain with the
 * lower number does, and sends what no gidd would.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ending.h"
#include "random.h"
#include "wire.h"

#define MESSAGES_MAX 100000u /* on one connection */

static struct random dice = {.state = 0x853c49e6748fea9bu};

/* --- messages --------------------------------------------------------------------------------- */

static uint32_t random_type(void) {
	static const uint32_t types[] = {GID_WIRE_HELLO, GID_WIRE_WELCOME, GID_WIRE_RESULT,
			GID_WIRE_EXPORT, GID_WIRE_UNEXPORT, GID_WIRE_GRANT, GID_WIRE_IMPORT,
			GID_WIRE_IMPORTED, GID_WIRE_UNIMPORT, GID_WIRE_REVOKED, GID_WIRE_PUBLISH,
			GID_WIRE_UNPUBLISH, GID_WIRE_SUBSCRIBE, GID_WIRE_SUBSCRIBER,
			GID_WIRE_ACCEPT, GID_WIRE_SUBSCRIBED, GID_WIRE_SUBSCRIPTION_END,
			GID_WIRE_STATUS, GID_WIRE_REPORT};
	return types[random_below(&dice, sizeof(types) / sizeof(types[0]))];
}

/* Small numbers are more often right than large ones. */
static void fill_words(uint8_t *data, size_t size) {
	for (size_t at = 0; at + 4 <= size; at += 4) {
		uint64_t word = random_next(&dice);
		uint32_t value = (uint32_t)(word >> 32) >> (word % 4 * 10);
		memcpy(data + at, &value, 4);
	}
}

static size_t wire_message(uint8_t *data) {
	if (random_below(&dice, 8) == 0) {
		size_t size = random_below(&dice, GID_WIRE_MESSAGE_MAX) + 1;
		random_fill(&dice, data, size);
		return size;
	}
	struct gid_wire_header header = {
			.type = random_type(), .serial = (uint32_t)random_below(&dice, 4)};
	union gid_wire_message message;
	gid_wire_begin(&message, header.type, header.serial);
	header.size = message.header.size;
	fill_words(data, header.size);
	memcpy(data, &header, sizeof(header));
	return header.size;
}

static size_t wire_hello(uint8_t *data, uint32_t domain) {
	union gid_wire_message hello;
	gid_wire_begin(&hello, GID_WIRE_HELLO, 1);
	hello.hello.version = GID_WIRE_VERSION;
	hello.hello.domain = domain;
	memcpy(hello.hello.name, "hostile", sizeof("hostile"));
	memcpy(data, hello.bytes, hello.header.size);
	return hello.header.size;
}

/* An object that may exist, a request that it may have, and noise as its arguments. */
static size_t wayland_message(uint8_t *data) {
	size_t size = 8 + 4 * random_below(&dice, 12);
	fill_words(data, size);
	uint32_t object = (uint32_t)random_below(&dice, 16) + 1;
	uint32_t head = (uint32_t)size << 16 | (uint32_t)random_below(&dice, 8);
	memcpy(data, &object, 4);
	memcpy(data + 4, &head, 4);
	return size;
}

/* wl_display.get_registry as object 2, and sync as object 3. */
static size_t wayland_hello(uint8_t *data) {
	static const uint32_t words[] = {1, 12u << 16 | 1, 2, 1, 12u << 16, 3};
	memcpy(data, words, sizeof(words));
	return sizeof(words);
}

/* --- connections ------------------------------------------------------------------------------ */

struct target {
	const char *path;
	int type; /* of the socket */
	bool wayland, listens;
	uint32_t domain; /* that we claim to be; 0 as a client */
	int listener;
	uint64_t connections, messages, bytes;
};

static int target_socket(const struct target *target, struct sockaddr_un *address) {
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(target->path) >= sizeof(address->sun_path)) {
		return -1;
	}
	strcpy(address->sun_path, target->path);
	return socket(AF_UNIX, target->type | SOCK_CLOEXEC, 0);
}

static int target_listen(struct target *target) {
	struct sockaddr_un address;
	target->listener = target_socket(target, &address);
	unlink(target->path);
	if (target->listener < 0 ||
			bind(target->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
			listen(target->listener, 4) < 0) {
		perror(target->path);
		return -1;
	}
	return 0;
}

static int target_connect(struct target *target) {
	struct sockaddr_un address;
	if (target->listens) {
		poll(&(struct pollfd){.fd = target->listener, .events = POLLIN}, 1, 100);
		return accept4(target->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	}
	int fd = target_socket(target, &address);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void discard_answers(int fd) {
	uint8_t answer[GID_WIRE_MESSAGE_MAX];
	for (unsigned i = 0; i < 64 && recv(fd, answer, sizeof(answer), MSG_DONTWAIT) > 0; i++) {
	}
}

/* Sometimes with a descriptor, which is none that the message means. */
static ssize_t send_message(int fd, const uint8_t *data, size_t size) {
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec part = {(void *)data, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (random_below(&dice, 16) == 0) {
		int input = STDIN_FILENO;
		memcpy(CMSG_DATA(&control.header), &input, sizeof(input));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Until the other side hangs up, or has had enough. */
static void target_attack(struct target *target, int fd) {
	uint8_t data[GID_WIRE_MESSAGE_MAX];
	bool greets = random_below(&dice, 4) != 0;
	size_t size = target->wayland ? wayland_hello(data) : wire_hello(data, target->domain);
	for (unsigned i = 0; i < MESSAGES_MAX && !ending; i++) {
		if (i > 0 || !greets) {
			size = target->wayland ? wayland_message(data) : wire_message(data);
		}
		ssize_t sent = send_message(fd, data, size);
		discard_answers(fd);
		if (sent < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 5);
		} else if (sent < 0) {
			break;
		} else {
			target->messages++;
			target->bytes += (uint64_t)sent;
		}
	}
}

static int parse(struct target *target, int argc, char **argv) {
	if (argc < 3) {
		return -1;
	}
	*target = (struct target){.path = argv[2], .type = SOCK_SEQPACKET, .listener = -1};
	if (strcmp(argv[1], "gidd") == 0 && argc == 3) {
		return 0;
	}
	if (strcmp(argv[1], "wayland") == 0 && argc == 3) {
		target->wayland = true;
		target->type = SOCK_STREAM;
		return 0;
	}
	if (strcmp(argv[1], "link") == 0 && argc == 4) {
		target->listens = true;
		target->domain = (uint32_t)strtoul(argv[3], NULL, 10);
		return target_listen(target);
	}
	return -1;
}

int main(int argc, char **argv) {
	struct target target;
	if (parse(&target, argc, argv) < 0) {
		fprintf(stderr,
				"usage: hostile-messages gidd|wayland SOCKET\n"
				"       hostile-messages link SOCKET OWN-NUMBER\n");
		return EXIT_FAILURE;
	}
	ending_init();
	while (!ending) {
		int fd = target_connect(&target);
		if (fd < 0) {
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
			continue;
		}
		target.connections++;
		target_attack(&target, fd);
		close(fd);
	}
	printf("{\"connections\": %" PRIu64 ", \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64
	       "}\n",
			target.connections, target.messages, target.bytes);
	return EXIT_SUCCESS;
}
