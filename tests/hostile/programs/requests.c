// SPDX-License-Identifier: MIT
/*
 * hostile-requests MODE SOCKET: one kind of request to a gidd, as fast as it takes them. Who hangs
 * up is called again.
 *
 * `status`: for its status, whose answers are never read. `live`: subscriptions of our own stream
 * that are said to be live already, by another domain. `traps`: memory to export that is a
 * descriptor whose last close blocks for seconds.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ending.h"
#include "memory.h"
#include "socket.h"
#include "traps.h"
#include "wire.h"
#include "wire_ring.h"

#define MEMORY_BYTES ((size_t)1 << 20) /* more than a ring, or a page of a consumer */
#define OTHER_DOMAIN 2u
#define CONNECT_NS UINT64_C(100000000)

struct requests {
	const char *path;
	int fd, memory;
	uint32_t serial, stream;
	uint64_t connections, sent;
};

static int requests_send(struct requests *requests, union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	int ret = gid_socket_send(
			requests->fd, message->bytes, message->header.size, fds, fd_count);
	requests->sent += ret >= 0;
	return ret;
}

static void begin(struct requests *requests, union gid_wire_message *message, uint32_t type) {
	gid_wire_begin(message, type, ++requests->serial);
}

static int send_status(struct requests *requests) {
	union gid_wire_message message;
	begin(requests, &message, GID_WIRE_STATUS);
	return requests_send(requests, &message, NULL, 0);
}

static int send_live(struct requests *requests) {
	union gid_wire_message message;
	int fds[] = {requests->memory, requests->memory};
	begin(requests, &message, GID_WIRE_SUBSCRIBER);
	message.subscriber.subscription = requests->serial;
	message.subscriber.stream = requests->stream;
	message.subscriber.domain = OTHER_DOMAIN;
	message.subscriber.credit = 4;
	message.subscriber.flags = GID_WIRE_LIVE;
	return requests_send(requests, &message, fds, 2);
}

static int send_trap(struct requests *requests) {
	union gid_wire_message message;
	begin(requests, &message, GID_WIRE_EXPORT);
	message.export.memory = GID_MEMORY_MEMFD;
	message.export.slot_size = 4096;
	message.export.slot_count = 1;
	int ret = traps_send(requests->fd, message.bytes, message.header.size);
	requests->sent += ret == 0;
	return ret;
}

static const struct mode {
	const char *name;
	int (*send)(struct requests *requests);
	bool reads; /* the answers */
} modes[] = {{"status", send_status, false}, {"live", send_live, true}, {"traps", send_trap, true}};
#define MODES (sizeof(modes) / sizeof(modes[0]))

/* The value of a RESULT, or -1. Answers to what was asked before are left out. */
static int64_t receive_result(struct requests *requests, uint32_t serial) {
	union gid_wire_message answer;
	int fds[GID_SOCKET_FDS_MAX];
	uint32_t fd_count;
	while (gid_socket_wait(requests->fd, POLLIN, gid_clock_now() + CONNECT_NS) != 0) {
		ssize_t size = gid_socket_receive(
				requests->fd, answer.bytes, sizeof(answer), fds, &fd_count);
		if (size <= 0) {
			return -1;
		}
		gid_socket_close_fds(fds, fd_count);
		if (answer.header.serial == serial && answer.header.type == GID_WIRE_RESULT) {
			return (int64_t)answer.result.value;
		}
	}
	return -1;
}

/* As a client, with a stream of its own where one is needed. */
static int requests_connect(struct requests *requests, bool publishes) {
	union gid_wire_message message;
	requests->fd = gid_socket_connect(requests->path, gid_clock_now() + CONNECT_NS);
	if (requests->fd < 0) {
		return requests->fd;
	}
	requests->connections++;
	begin(requests, &message, GID_WIRE_HELLO);
	message.hello.version = GID_WIRE_VERSION;
	memcpy(message.hello.name, "hostile", sizeof("hostile"));
	int ret = requests_send(requests, &message, NULL, 0);
	if (ret >= 0 && publishes) {
		begin(requests, &message, GID_WIRE_PUBLISH);
		memcpy(message.publish.name, "safety/live", sizeof("safety/live"));
		ret = requests_send(requests, &message, NULL, 0);
		requests->stream = (uint32_t)receive_result(requests, requests->serial);
	}
	return ret;
}

static void discard_answers(int fd) {
	union gid_wire_message answer;
	int fds[GID_SOCKET_FDS_MAX];
	uint32_t count;
	while (gid_socket_receive(fd, answer.bytes, sizeof(answer), fds, &count) > 0) {
		gid_socket_close_fds(fds, count);
	}
}

/* Until it hangs up, or has had enough. */
static void requests_attack(struct requests *requests, const struct mode *mode) {
	int ret = requests_connect(requests, mode->send == send_live);
	while (!ending && (ret >= 0 || ret == -EAGAIN)) {
		ret = mode->send(requests);
		if (mode->reads) {
			discard_answers(requests->fd);
		}
		if (ret == -EAGAIN) {
			poll(&(struct pollfd){requests->fd, POLLOUT, 0}, 1, 5);
		}
	}
	if (requests->fd >= 0) {
		close(requests->fd);
	} else {
		poll(NULL, 0, 1);
	}
}

int main(int argc, char **argv) {
	struct requests requests = {0};
	unsigned mode = 0;
	while (argc == 3 && mode < MODES && strcmp(argv[1], modes[mode].name) != 0) {
		mode++;
	}
	if (argc != 3 || mode == MODES) {
		fprintf(stderr, "usage: hostile-requests status|live|traps SOCKET\n");
		return EXIT_FAILURE;
	}
	struct gid_memory_own memory;
	requests.path = argv[2];
	if (gid_memory_create(&memory, "gid-hostile", MEMORY_BYTES) < 0) {
		return EXIT_FAILURE;
	}
	requests.memory = memory.fd;
	ending_init();
	while (!ending) {
		requests_attack(&requests, &modes[mode]);
	}
	printf("{\"connections\": %" PRIu64 ", \"sent\": %" PRIu64 "}\n", requests.connections,
			requests.sent);
	return EXIT_SUCCESS;
}
