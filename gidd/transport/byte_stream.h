// SPDX-License-Identifier: MIT
/**
 * One byte stream between the hub and a member: envelopes with a message each. A virtio-serial port
 * or a unix socket.
 *
 * A stream can begin in the middle of something: whoever had the port before may have died writing.
 * So each end first searches the bytes for a valid JOIN or JOINED, and does so again when what it
 * reads is no envelope.
 */
#ifndef GIDD_BYTE_STREAM_H
#define GIDD_BYTE_STREAM_H

#include <systemd/sd-event.h>

#include "wire.h"

struct byte_stream_handler {
	/* Envelope and message passed gid_wire_check_remote(); while searching: JOIN or JOINED. */
	void (*envelope)(void *data, const struct gid_wire_envelope *envelope,
			const union gid_wire_message *message);
	/* What came is none: from now on it searches. */
	void (*garbled)(void *data, const char *why);
	/* What came while it searches is not what is searched for. NULL: nobody wants to know. */
	void (*skipped)(void *data);
	/* The stream is over; called once, from the event loop and never from a send. */
	void (*closed)(void *data, const char *why);
};

struct byte_stream {
	int fd;
	const struct byte_stream_handler *handler;
	void *data;
	sd_event_source *io, *end, *rest;
	bool is_socket; /* else a port of the machine */
	bool searching;
	bool resting;
	bool failed;
	char why[128];
	uint8_t *in, *out;
	size_t in_size;		    /* bytes read and not handled */
	size_t out_begin, out_size; /* bytes to be written */
	size_t out_end;		    /* how far `out` was used since all was written last */
};

/* Takes `fd` over, also on failure. */
int byte_stream_init(struct byte_stream *stream, sd_event *event, int fd,
		const struct byte_stream_handler *handler, void *data);
void byte_stream_finish(struct byte_stream *stream);

/* Sends or queues. Never blocks, never calls the handler. */
void byte_stream_send(struct byte_stream *stream, uint32_t domain, uint32_t epoch,
		const union gid_wire_message *message);

/* How much waits for the other end to read, and how much may. */
#define BYTE_STREAM_QUEUE_MAX (UINT64_C(1) << 20)
size_t byte_stream_queued(const struct byte_stream *stream);

/* What this envelope asked for took a while: before the next one is looked at, others have a turn.
 */
void byte_stream_rest(struct byte_stream *stream);

/* Gives the stream up for this reason: `closed` follows from the event loop. */
void byte_stream_fail(struct byte_stream *stream, const char *why);

#endif
