// SPDX-License-Identifier: MIT
/**
 * A seqpacket socket for whole, checked messages, with a bounded queue of messages that the peer
 * has not taken yet. A peer that lets the queue overflow, or breaks the protocol, loses the
 * connection.
 */
#ifndef GIDD_PACKET_STREAM_H
#define GIDD_PACKET_STREAM_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "wire.h"

struct packet_stream_packet;
struct untaken;

struct packet_stream_handler {
	/*
	 * A message that gid_wire_check() found good. Descriptors that are kept are set to -1; the
	 * others are closed afterwards.
	 */
	void (*message)(void *data, const union gid_wire_message *message,
			int fds[static GID_WIRE_FDS_MAX]);
	/*
	 * A message of which gidd has no room for the descriptors: unchecked but for its type,
	 * which may be any. NULL: the connection is given up, which it is as well if this returns
	 * false.
	 */
	bool (*starved)(void *data, const struct gid_wire_header *header);
	/* The connection is over; called once, from the event loop and never from a send. */
	void (*closed)(void *data, const char *why);
};

struct packet_stream {
	int fd;
	/* Who is charged for descriptors that come by it, for closer.h: a log_source. */
	uint64_t giver;
	const struct packet_stream_handler *handler;
	void *data;
	sd_event_source *io, *end;
	sd_event_source *pause;	    /* NULL, or until more is taken */
	sd_event_source *try_again; /* NULL, or until what is queued is sent */
	TAILQ_HEAD(, packet_stream_packet) queue;
	size_t queued_bytes;
	uint32_t queued_fds;
	struct untaken *untaken; /* descriptors that are on their way to the peer */
	bool failed;
	char why[192];
};

/* Takes `fd` over, also on failure. */
int packet_stream_init(struct packet_stream *connection, sd_event *event, int fd, uint64_t giver,
		const struct packet_stream_handler *handler, void *data);
void packet_stream_finish(struct packet_stream *connection);

/*
 * Why nothing is received from a giver now, or NULL. While many of his descriptors cannot be
 * closed, each stays open in gidd; if they only take their time, his connections wait. Nothing is
 * received either while much of what was sent to him is not taken.
 */
const char *packet_stream_refuses(uint64_t giver);

/*
 * Whether messages that a peer does not take at once are queued, which is the default. If not, the
 * connection ends, and nothing is allocated. For all connections.
 */
void packet_stream_let_wait(bool lets);

/* Sends or queues; the descriptors stay the caller's. Never blocks, never calls the handler. */
void packet_stream_send(struct packet_stream *connection, const union gid_wire_message *message,
		const int *fds, uint32_t fd_count);

/* Whether messages are queued for the peer. */
bool packet_stream_has_queue(const struct packet_stream *connection);

/* Whether the peer has not yet read all that was sent. */
bool packet_stream_is_unread(const struct packet_stream *connection);

/* Ends the connection for this reason: `closed` follows from the event loop. */
__attribute__((format(printf, 2, 3))) void packet_stream_fail(
		struct packet_stream *connection, const char *format, ...);

#endif
