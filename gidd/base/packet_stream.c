// SPDX-License-Identifier: MIT
#include "packet_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "closer.h"
#include "socket.h"
#include "untaken.h"

/*
 * More than a client needs that reads its socket at all; limits what a stopped client costs. It has
 * room for the messages that all slabs of a few domains are gone: other domains choose when those
 * come, and a busy compositor must not lose its connection by them.
 */
#define QUEUE_BYTES_MAX ((size_t)1 << 20)
#define QUEUE_FDS_MAX 128u
/* With more descriptors of one giver still being closed, nothing is received from him. */
#define UNCLOSED_MAX 64u
/*
 * Closed connections of one giver whose peers did not take the descriptors sent to them. Each can
 * hold as much memory as a status report.
 */
#define LEFT_MAX 64u
/* The interval of retries, for unclosed and for untaken descriptors. */
#define PAUSE_US 20000
/* The messages that one connection handles before others get their turn. */
#define BATCH 16

struct packet_stream_packet {
	TAILQ_ENTRY(packet_stream_packet) entry;
	int fds[GID_WIRE_FDS_MAX];
	uint32_t fd_count;
	uint32_t size;
	char data[];
};

static bool lets_wait = true;

void packet_stream_let_wait(bool lets) {
	lets_wait = lets;
}

static size_t packet_cost(uint32_t size) {
	return sizeof(struct packet_stream_packet) + size;
}

static void packet_destroy(struct packet_stream_packet *packet) {
	gid_socket_close_fds(packet->fds, packet->fd_count);
	free(packet);
}

static struct packet_stream_packet *packet_create(
		const union gid_wire_message *message, const int *fds, uint32_t fd_count) {
	struct packet_stream_packet *packet = malloc(packet_cost(message->header.size));
	if (packet == NULL) {
		return NULL;
	}
	packet->fd_count = 0;
	packet->size = message->header.size;
	memcpy(packet->data, message, message->header.size);
	for (uint32_t i = 0; i < fd_count; i++) {
		int fd = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
		if (fd < 0) {
			packet_destroy(packet);
			return NULL;
		}
		packet->fds[packet->fd_count++] = fd;
	}
	return packet;
}

static int handle_end(sd_event_source *source, void *data) {
	struct packet_stream *connection = data;
	uint64_t before = gid_closer_charge(connection->giver);
	connection->handler->closed(connection->data, connection->why);
	gid_closer_charge(before);
	return 0;
}

static bool has_many_unclosed(uint64_t giver) {
	return gid_closer_pending_of(giver) > UNCLOSED_MAX;
}

const char *packet_stream_refuses(uint64_t giver) {
	if (has_many_unclosed(giver) && gid_closer_is_stuck(giver)) {
		return "too many descriptors of its user or domain take too long to be closed";
	}
	return untaken_left_of(giver) > LEFT_MAX
			? "too many connections of its user or domain are over, and do not take "
			  "what was sent to them"
			: NULL;
}

void packet_stream_fail(struct packet_stream *connection, const char *format, ...) {
	if (connection->failed) {
		return;
	}
	connection->failed = true;
	va_list args;
	va_start(args, format);
	vsnprintf(connection->why, sizeof(connection->why), format, args);
	va_end(args);
	sd_event_source_set_enabled(connection->io, SD_EVENT_OFF);
	sd_event_source_set_enabled(connection->end, SD_EVENT_ONESHOT);
}

/* --- out -------------------------------------------------------------------------------------- */

static void watch(struct packet_stream *connection) {
	bool sends = !TAILQ_EMPTY(&connection->queue) && connection->try_again == NULL;
	sd_event_source_set_io_events(connection->io, EPOLLIN | (sends ? EPOLLOUT : 0));
}

/* -EAGAIN: the socket is full. -ETOOMANYREFS: too many sent descriptors are not taken yet. */
static int send_now(struct packet_stream *connection, const void *data, size_t size, const int *fds,
		uint32_t fd_count) {
	if (fd_count > 0 && !untaken_may_add(connection->untaken, fd_count)) {
		return -ETOOMANYREFS;
	}
	int error = gid_socket_send(connection->fd, data, size, fds, fd_count);
	if (error == 0) {
		untaken_add(connection->untaken, fd_count);
	}
	return error;
}

static void try_again_later(struct packet_stream *connection);

static void flush(struct packet_stream *connection) {
	struct packet_stream_packet *packet;
	while ((packet = TAILQ_FIRST(&connection->queue)) != NULL) {
		int error = send_now(connection, packet->data, packet->size, packet->fds,
				packet->fd_count);
		if (error == -ETOOMANYREFS) {
			try_again_later(connection);
			return;
		}
		if (error == -EAGAIN) {
			break;
		}
		if (error < 0) {
			packet_stream_fail(connection, "cannot send: %s", strerror(-error));
			return;
		}
		TAILQ_REMOVE(&connection->queue, packet, entry);
		connection->queued_bytes -= packet_cost(packet->size);
		connection->queued_fds -= packet->fd_count;
		untaken_unqueue(connection->untaken, packet->fd_count);
		packet_destroy(packet);
	}
	watch(connection);
}

static int handle_try_again(sd_event_source *source, uint64_t now, void *data) {
	struct packet_stream *connection = data;
	connection->try_again = sd_event_source_disable_unref(source);
	if (!connection->failed) {
		flush(connection);
	}
	return 0;
}

/* No event reports that a peer took descriptors, so a timer retries. */
static void try_again_later(struct packet_stream *connection) {
	int error = connection->try_again != NULL
			? 0
			: sd_event_add_time_relative(sd_event_source_get_event(connection->io),
					  &connection->try_again, CLOCK_MONOTONIC, PAUSE_US, 0,
					  handle_try_again, connection);
	if (error < 0) {
		packet_stream_fail(connection, "cannot wait: %s", strerror(-error));
	} else {
		watch(connection);
	}
}

void packet_stream_send(struct packet_stream *connection, const union gid_wire_message *message,
		const int *fds, uint32_t fd_count) {
	if (connection->failed) {
		return;
	}
	int error = -EAGAIN;
	if (TAILQ_EMPTY(&connection->queue)) {
		error = send_now(connection, message, message->header.size, fds, fd_count);
		if (error == 0) {
			return;
		}
		if (error == -EPIPE || error == -ECONNRESET) {
			packet_stream_fail(connection, "hung up");
			return;
		}
		if (error != -EAGAIN && error != -ETOOMANYREFS) {
			packet_stream_fail(connection, "cannot send: %s", strerror(-error));
			return;
		}
	}
	const size_t cost = packet_cost(message->header.size);
	if (!lets_wait || connection->queued_bytes + cost > QUEUE_BYTES_MAX ||
			connection->queued_fds + fd_count > QUEUE_FDS_MAX ||
			(fd_count > 0 && !untaken_may_queue(connection->untaken, fd_count))) {
		packet_stream_fail(connection, "does not read what is sent to it");
		return;
	}
	struct packet_stream_packet *packet = packet_create(message, fds, fd_count);
	if (packet == NULL) {
		packet_stream_fail(connection, "cannot queue: %s", strerror(errno));
		return;
	}
	TAILQ_INSERT_TAIL(&connection->queue, packet, entry);
	connection->queued_bytes += cost;
	connection->queued_fds += fd_count;
	untaken_queue(connection->untaken, fd_count);
	if (error == -ETOOMANYREFS) {
		try_again_later(connection);
	} else {
		watch(connection);
	}
}

bool packet_stream_has_queue(const struct packet_stream *connection) {
	return !TAILQ_EMPTY(&connection->queue);
}

bool packet_stream_is_unread(const struct packet_stream *connection) {
	return packet_stream_has_queue(connection) || untaken_is_unread(connection->fd);
}

/* --- in --------------------------------------------------------------------------------------- */

/* Returns whether more messages may be waiting. */
static bool receive(struct packet_stream *connection) {
	union gid_wire_message message;
	message.header = (struct gid_wire_header){0};
	int fds[GID_WIRE_FDS_MAX];
	uint32_t fd_count;
	const char *why;
	ssize_t size = gid_socket_receive(
			connection->fd, &message, sizeof(message), fds, &fd_count);
	if (size == -EAGAIN) {
		return false;
	}
	if (size == -EMFILE) {
		bool answered = connection->handler->starved != NULL &&
				connection->handler->starved(connection->data, &message.header);
		if (!answered) {
			packet_stream_fail(connection,
					"gidd has no descriptor left for those that it sent");
		}
		return !connection->failed;
	}
	if (size == -EPROTO) {
		packet_stream_fail(connection,
				"protocol violation: a message that is too large, or "
				"with too many descriptors");
		return false;
	}
	if (size <= 0) {
		packet_stream_fail(connection, "%s", size == 0 ? "hung up" : strerror((int)-size));
		return false;
	}
	if (gid_wire_check(&message, (size_t)size, fd_count, &why) < 0) {
		packet_stream_fail(connection, "protocol violation: %s", why);
	} else {
		connection->handler->message(connection->data, &message, fds);
	}
	gid_socket_close_fds(fds, GID_WIRE_FDS_MAX);
	return !connection->failed;
}

static int handle_pause(sd_event_source *source, uint64_t now, void *data) {
	struct packet_stream *connection = data;
	connection->pause = sd_event_source_disable_unref(source);
	sd_event_source_set_enabled(
			connection->io, connection->failed ? SD_EVENT_OFF : SD_EVENT_ON);
	return 0;
}

/* Also ignores a hang-up meanwhile: epoll would report it without end. */
static void pause_taking(struct packet_stream *connection) {
	int error = sd_event_add_time_relative(sd_event_source_get_event(connection->io),
			&connection->pause, CLOCK_MONOTONIC, PAUSE_US, 0, handle_pause, connection);
	if (error < 0) {
		packet_stream_fail(connection, "cannot wait: %s", strerror(-error));
	} else {
		sd_event_source_set_enabled(connection->io, SD_EVENT_OFF);
	}
}

static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct packet_stream *connection = data;
	uint64_t before = gid_closer_charge(connection->giver);
	if ((events & EPOLLOUT) != 0) {
		flush(connection);
	}
	if (!connection->failed && has_many_unclosed(connection->giver)) {
		if (gid_closer_is_stuck(connection->giver)) {
			packet_stream_fail(connection,
					"too many descriptors of its user or domain take "
					"too long to be closed");
		} else {
			pause_taking(connection);
		}
	} else if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
		for (int i = 0; i < BATCH && !connection->failed && receive(connection); i++) {
		}
	}
	gid_closer_charge(before);
	return 0;
}

int packet_stream_init(struct packet_stream *connection, sd_event *event, int fd, uint64_t giver,
		const struct packet_stream_handler *handler, void *data) {
	*connection = (struct packet_stream){
			.fd = fd, .giver = giver, .handler = handler, .data = data};
	TAILQ_INIT(&connection->queue);
	connection->untaken = untaken_create(event, fd, giver);
	if (connection->untaken == NULL) {
		packet_stream_finish(connection);
		return -ENOMEM;
	}
	int error = sd_event_add_io(event, &connection->io, fd, EPOLLIN, handle_io, connection);
	if (error < 0) {
		packet_stream_finish(connection);
		return error;
	}
	error = sd_event_add_defer(event, &connection->end, handle_end, connection);
	if (error < 0) {
		packet_stream_finish(connection);
		return error;
	}
	sd_event_source_set_enabled(connection->end, SD_EVENT_OFF);
	return 0;
}

void packet_stream_finish(struct packet_stream *connection) {
	connection->io = sd_event_source_disable_unref(connection->io);
	connection->end = sd_event_source_disable_unref(connection->end);
	connection->pause = sd_event_source_disable_unref(connection->pause);
	connection->try_again = sd_event_source_disable_unref(connection->try_again);
	struct packet_stream_packet *packet;
	while ((packet = TAILQ_FIRST(&connection->queue)) != NULL) {
		TAILQ_REMOVE(&connection->queue, packet, entry);
		packet_destroy(packet);
	}
	uint64_t before = gid_closer_charge(connection->giver);
	if (connection->untaken != NULL) {
		untaken_unqueue(connection->untaken, connection->queued_fds);
		untaken_hang_up(connection->untaken);
	} else {
		gid_closer_hang_up(connection->fd);
	}
	gid_closer_charge(before);
	connection->untaken = NULL;
	connection->fd = -1;
}
