// SPDX-License-Identifier: MIT
#include "byte_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "closer.h"
#include "socket.h"

/* More than the largest envelope with its message, so that one read brings many. */
#define IN_MAX (UINT64_C(16) << 10)
/* How much of the queue's memory stays allocated when it is empty: enough for usual bursts. */
#define KEPT_MAX (UINT64_C(16) << 10)
#define JOIN_SIZE (sizeof(struct gid_wire_envelope) + sizeof(struct gid_wire_join))

static int handle_end(sd_event_source *source, void *data) {
	struct byte_stream *stream = data;
	stream->handler->closed(stream->data, stream->why);
	return 0;
}

void byte_stream_fail(struct byte_stream *stream, const char *why) {
	if (!stream->failed) {
		stream->failed = true;
		snprintf(stream->why, sizeof(stream->why), "%s", why);
		sd_event_source_set_enabled(stream->io, SD_EVENT_OFF);
		sd_event_source_set_enabled(stream->end, SD_EVENT_ONESHOT);
	}
}

static void fail_errno(struct byte_stream *stream, int error) {
	bool hung_up = error == EPIPE || error == ECONNRESET;
	byte_stream_fail(stream, hung_up ? "hung up" : strerror(error));
}

/* --- sending ---------------------------------------------------------------------------------- */

/* A machine that once stopped reading for a while must not cost the host that memory for good. */
static void shrink_queue(struct byte_stream *stream) {
	if (stream->out_end > KEPT_MAX) {
		madvise(stream->out + KEPT_MAX, BYTE_STREAM_QUEUE_MAX - KEPT_MAX, MADV_DONTNEED);
	}
	stream->out_begin = stream->out_end = 0;
}

static void flush(struct byte_stream *stream) {
	while (stream->out_size > 0) {
		ssize_t put = write(stream->fd, stream->out + stream->out_begin, stream->out_size);
		if (put < 0 && errno == EINTR) {
			continue;
		}
		if (put < 0 && errno == EAGAIN) {
			break;
		}
		if (put <= 0) { /* 0: the port's device is broken */
			fail_errno(stream, put < 0 ? errno : EIO);
			return;
		}
		stream->out_begin += (size_t)put;
		stream->out_size -= (size_t)put;
	}
	if (stream->out_size == 0) {
		shrink_queue(stream);
	}
	sd_event_source_set_io_events(stream->io, EPOLLIN | (stream->out_size > 0 ? EPOLLOUT : 0));
}

static void append(struct byte_stream *stream, const void *data, size_t size) {
	memcpy(stream->out + stream->out_begin + stream->out_size, data, size);
	stream->out_size += size;
	if (stream->out_begin + stream->out_size > stream->out_end) {
		stream->out_end = stream->out_begin + stream->out_size;
	}
}

size_t byte_stream_queued(const struct byte_stream *stream) {
	return stream->out_size;
}

void byte_stream_send(struct byte_stream *stream, uint32_t domain, uint32_t epoch,
		const union gid_wire_message *message) {
	struct gid_wire_envelope envelope = {
			.magic = GID_ENVELOPE_MAGIC,
			.domain = domain,
			.epoch = epoch,
			.size = message->header.size,
	};
	size_t size = sizeof(envelope) + envelope.size;
	if (stream->failed) {
		return;
	}
	if (stream->out_size + size > BYTE_STREAM_QUEUE_MAX) {
		byte_stream_fail(stream, "it does not read what is sent to it");
		return;
	}
	if (stream->out_begin + stream->out_size + size > BYTE_STREAM_QUEUE_MAX) {
		memmove(stream->out, stream->out + stream->out_begin, stream->out_size);
		stream->out_begin = 0;
	}
	append(stream, &envelope, sizeof(envelope));
	append(stream, message, envelope.size);
	flush(stream);
}

/* --- receiving -------------------------------------------------------------------------------- */

/*
 * Reads the envelope and message at the start of `data`. Returns their size; 0: incomplete;
 * -EPROTO.
 */
static ssize_t read_envelope(const uint8_t *data, size_t size, struct gid_wire_envelope *envelope,
		union gid_wire_message *message, const char **why) {
	if (size < sizeof(*envelope)) {
		return 0;
	}
	memcpy(envelope, data, sizeof(*envelope));
	*why = "it sends something that is not an envelope";
	if (!gid_wire_envelope_is_valid(envelope)) {
		return -EPROTO;
	}
	if (size - sizeof(*envelope) < envelope->size) {
		return 0;
	}
	memcpy(message, data + sizeof(*envelope), envelope->size);
	if (gid_wire_check_remote(message, envelope->size, envelope->domain == 0, why) < 0) {
		return -EPROTO;
	}
	return (ssize_t)(sizeof(*envelope) + envelope->size);
}

/* Whether JOIN or JOINED starts here, or may start here if the data is incomplete. */
static bool is_join(const uint8_t *data, size_t size) {
	struct gid_wire_envelope envelope;
	if (size < sizeof(envelope)) {
		static const uint32_t magic = GID_ENVELOPE_MAGIC;
		return memcmp(data, &magic, size < sizeof(magic) ? size : sizeof(magic)) == 0;
	}
	memcpy(&envelope, data, sizeof(envelope));
	if (!gid_wire_envelope_is_valid(&envelope) || envelope.domain != 0 ||
			envelope.size != sizeof(struct gid_wire_join)) {
		return false;
	}
	union gid_wire_message message;
	const char *why;
	return size < JOIN_SIZE ||
			read_envelope(data, size, &envelope, &message, &why) == (ssize_t)JOIN_SIZE;
}

/* The number of bytes before a JOIN or JOINED, complete or not. */
static size_t search(const uint8_t *data, size_t size) {
	size_t at = 0;
	while (at < size && !is_join(data + at, size - at)) {
		at++;
	}
	return at;
}

/* Skips what is no JOIN or JOINED. Returns how many bytes. */
static size_t skip(struct byte_stream *stream, size_t done) {
	size_t skipped = search(stream->in + done, stream->in_size - done);
	if (skipped > 0 && stream->handler->skipped != NULL) {
		stream->handler->skipped(stream->data);
	}
	return skipped;
}

static void handle_bytes(struct byte_stream *stream) {
	size_t done = 0;
	while (!stream->failed && !stream->resting) {
		struct gid_wire_envelope envelope;
		union gid_wire_message message;
		const char *why;
		if (stream->searching) {
			done += skip(stream, done);
		}
		ssize_t used = read_envelope(stream->in + done, stream->in_size - done, &envelope,
				&message, &why);
		if (used == 0) {
			break;
		}
		if (used < 0) {
			stream->searching = true;
			stream->handler->garbled(stream->data, why);
			continue;
		}
		done += (size_t)used;
		stream->handler->envelope(stream->data, &envelope, &message);
	}
	memmove(stream->in, stream->in + done, stream->in_size - done);
	stream->in_size -= done;
}

static int handle_rest(sd_event_source *source, uint64_t now, void *data) {
	struct byte_stream *stream = data;
	stream->resting = false;
	if (!stream->failed) {
		handle_bytes(stream);
	}
	if (!stream->failed && !stream->resting) {
		sd_event_source_set_enabled(stream->io, SD_EVENT_ON);
	}
	return 0;
}

/* A timer, as a deferred source would run before all events that come later. */
void byte_stream_rest(struct byte_stream *stream) {
	stream->resting = true;
	sd_event_source_set_enabled(stream->io, SD_EVENT_OFF);
	sd_event_source_set_time_relative(stream->rest, 0);
	sd_event_source_set_enabled(stream->rest, SD_EVENT_ONESHOT);
}

/* Data from a socket can come with descriptors, which are refused. */
static ssize_t receive(const struct byte_stream *stream, void *data, size_t size) {
	if (stream->is_socket) {
		return gid_socket_read(stream->fd, data, size);
	}
	ssize_t got = read(stream->fd, data, size);
	return got < 0 ? -errno : got;
}

static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct byte_stream *stream = data;
	if ((events & EPOLLOUT) != 0) {
		flush(stream);
	}
	if (stream->failed || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) {
		return 0;
	}
	ssize_t got = receive(stream, stream->in + stream->in_size, IN_MAX - stream->in_size);
	if (got > 0) {
		stream->in_size += (size_t)got;
		handle_bytes(stream);
	} else if (got == 0) {
		byte_stream_fail(stream, "hung up");
	} else if (got == -EPROTO) {
		byte_stream_fail(stream, "protocol violation: descriptors, of which none are due");
	} else if (got != -EAGAIN && got != -EINTR) {
		fail_errno(stream, (int)-got);
	} else if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
		byte_stream_fail(stream, "hung up");
	}
	return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

int byte_stream_init(struct byte_stream *stream, sd_event *event, int fd,
		const struct byte_stream_handler *handler, void *data) {
	*stream = (struct byte_stream){
			.fd = fd, .handler = handler, .data = data, .searching = true};
	struct stat status;
	stream->is_socket = fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
	if (stream->is_socket) {
		gid_socket_refuse_rights(fd);
	}
	stream->in = malloc(IN_MAX);
	/* Its own mapping, so that single pages can be given back. */
	void *out = mmap(NULL, BYTE_STREAM_QUEUE_MAX, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stream->out = out == MAP_FAILED ? NULL : out;
	int error = stream->in == NULL || stream->out == NULL ? -ENOMEM : 0;
	if (error == 0) {
		error = sd_event_add_io(event, &stream->io, fd, EPOLLIN, handle_io, stream);
	}
	if (error >= 0) {
		error = sd_event_add_defer(event, &stream->end, handle_end, stream);
	}
	if (error >= 0) {
		error = sd_event_add_time(
				event, &stream->rest, CLOCK_MONOTONIC, 0, 1, handle_rest, stream);
	}
	if (error < 0) {
		byte_stream_finish(stream);
		return error;
	}
	sd_event_source_set_enabled(stream->end, SD_EVENT_OFF);
	sd_event_source_set_enabled(stream->rest, SD_EVENT_OFF);
	return 0;
}

void byte_stream_finish(struct byte_stream *stream) {
	stream->io = sd_event_source_disable_unref(stream->io);
	stream->end = sd_event_source_disable_unref(stream->end);
	stream->rest = sd_event_source_disable_unref(stream->rest);
	/* Unread data in the socket can hold descriptors. */
	if (stream->is_socket) {
		gid_closer_hang_up(stream->fd);
	} else {
		gid_closer_close(stream->fd);
	}
	stream->fd = -1;
	free(stream->in);
	if (stream->out != NULL) {
		munmap(stream->out, BYTE_STREAM_QUEUE_MAX);
	}
	stream->in = stream->out = NULL;
}
