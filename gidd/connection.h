// SPDX-License-Identifier: MIT
/**
 * One seqpacket socket with whole, checked messages on it, and a bounded queue of those that the
 * peer has not taken yet. A peer that lets the queue overflow, or that breaks the protocol, loses
 * the connection.
 */
#ifndef GIDD_CONNECTION_H
#define GIDD_CONNECTION_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "wire.h"

struct connection_packet;

struct connection_handler {
	/*
	 * A message that gid_wire_check() found good. Descriptors that are kept are set to -1; the
	 * others are closed afterwards.
	 */
	void (*message)(void *data, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]);
	/* The connection is over; called once, from the event loop and never from a send. */
	void (*closed)(void *data, const char *why);
};

struct connection {
	int fd;
	const struct connection_handler *handler;
	void *data;
	sd_event_source *io, *end;
	TAILQ_HEAD(, connection_packet) queue;
	uint32_t queued, queued_fds;
	bool failed;
	char why[192];
};

/* Takes `fd` over, also on failure. */
int connection_init(struct connection *connection, sd_event *event, int fd,
	const struct connection_handler *handler, void *data);
void connection_finish(struct connection *connection);

/* Sends or queues; the descriptors stay the caller's. Never blocks, never calls the handler. */
void connection_send(struct connection *connection, const union gid_wire_message *message,
	const int *fds, uint32_t fd_count);

/* Gives the connection up for this reason: `closed` follows from the event loop. */
__attribute__((format(printf, 2, 3))) void connection_fail(
	struct connection *connection, const char *format, ...);

#endif
