// SPDX-License-Identifier: MIT
#include "trunk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

/* More than the largest envelope with its message, so that a read is worth its while. */
#define IN_MAX (UINT64_C(16) << 10)
/* Of the queue's pages, what is kept once all was read: enough for what is usually said at once. */
#define KEPT_MAX (UINT64_C(16) << 10)
#define JOIN_SIZE (sizeof(struct gid_wire_envelope) + sizeof(struct gid_wire_join))

static int handle_end(sd_event_source *source, void *data) {
	struct trunk *trunk = data;
	trunk->handler->closed(trunk->data, trunk->why);
	return 0;
}

void trunk_fail(struct trunk *trunk, const char *why) {
	if (!trunk->failed) {
		trunk->failed = true;
		snprintf(trunk->why, sizeof(trunk->why), "%s", why);
		sd_event_source_set_enabled(trunk->io, SD_EVENT_OFF);
		sd_event_source_set_enabled(trunk->end, SD_EVENT_ONESHOT);
	}
}

static void fail_errno(struct trunk *trunk) {
	bool hung_up = errno == EPIPE || errno == ECONNRESET;
	trunk_fail(trunk, hung_up ? "hung up" : strerror(errno));
}

/* --- out -------------------------------------------------------------------------------------- */

/* A machine that once did not read for a while shall not cost the host that memory for good. */
static void shrink_queue(struct trunk *trunk) {
	if (trunk->out_end > KEPT_MAX) {
		madvise(trunk->out + KEPT_MAX, TRUNK_QUEUE_MAX - KEPT_MAX, MADV_DONTNEED);
	}
	trunk->out_begin = trunk->out_end = 0;
}

static void flush(struct trunk *trunk) {
	while (trunk->out_size > 0) {
		ssize_t put = write(trunk->fd, trunk->out + trunk->out_begin, trunk->out_size);
		if (put < 0 && errno == EINTR) {
			continue;
		}
		if (put < 0 && errno == EAGAIN) {
			break;
		}
		if (put < 0) {
			fail_errno(trunk);
			return;
		}
		trunk->out_begin += (size_t)put;
		trunk->out_size -= (size_t)put;
	}
	if (trunk->out_size == 0) {
		shrink_queue(trunk);
	}
	sd_event_source_set_io_events(trunk->io, EPOLLIN | (trunk->out_size > 0 ? EPOLLOUT : 0));
}

static void append(struct trunk *trunk, const void *data, size_t size) {
	memcpy(trunk->out + trunk->out_begin + trunk->out_size, data, size);
	trunk->out_size += size;
	if (trunk->out_begin + trunk->out_size > trunk->out_end) {
		trunk->out_end = trunk->out_begin + trunk->out_size;
	}
}

size_t trunk_queued(const struct trunk *trunk) {
	return trunk->out_size;
}

void trunk_send(struct trunk *trunk, uint32_t domain, uint32_t epoch,
	const union gid_wire_message *message) {
	struct gid_wire_envelope envelope = {
		.magic = GID_ENVELOPE_MAGIC,
		.domain = domain,
		.epoch = epoch,
		.size = message->header.size,
	};
	size_t size = sizeof(envelope) + envelope.size;
	if (trunk->failed) {
		return;
	}
	if (trunk->out_size + size > TRUNK_QUEUE_MAX) {
		trunk_fail(trunk, "it does not read what is sent to it");
		return;
	}
	if (trunk->out_begin + trunk->out_size + size > TRUNK_QUEUE_MAX) {
		memmove(trunk->out, trunk->out + trunk->out_begin, trunk->out_size);
		trunk->out_begin = 0;
	}
	append(trunk, &envelope, sizeof(envelope));
	append(trunk, message, envelope.size);
	flush(trunk);
}

/* --- in --------------------------------------------------------------------------------------- */

/* The envelope and message at the start of `data`: their size, 0: more must come, or -EPROTO. */
static ssize_t read_envelope(const uint8_t *data, size_t size, struct gid_wire_envelope *envelope,
	union gid_wire_message *message, const char **why) {
	if (size < sizeof(*envelope)) {
		return 0;
	}
	memcpy(envelope, data, sizeof(*envelope));
	*why = "what comes is no envelope";
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

/* Whether it may be what is searched for; with all of it there, whether it is. */
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

/* How many bytes lie before what is searched for, or may become it. */
static size_t search(const uint8_t *data, size_t size) {
	size_t at = 0;
	while (at < size && !is_join(data + at, size - at)) {
		at++;
	}
	return at;
}

static void handle_bytes(struct trunk *trunk) {
	size_t done = 0;
	while (!trunk->failed) {
		struct gid_wire_envelope envelope;
		union gid_wire_message message;
		const char *why;
		if (trunk->searching) {
			done += search(trunk->in + done, trunk->in_size - done);
		}
		ssize_t used = read_envelope(
			trunk->in + done, trunk->in_size - done, &envelope, &message, &why);
		if (used == 0) {
			break;
		}
		if (used < 0) {
			trunk->searching = true;
			trunk->handler->garbled(trunk->data, why);
			continue;
		}
		done += (size_t)used;
		trunk->handler->envelope(trunk->data, &envelope, &message);
	}
	memmove(trunk->in, trunk->in + done, trunk->in_size - done);
	trunk->in_size -= done;
}

static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct trunk *trunk = data;
	if ((events & EPOLLOUT) != 0) {
		flush(trunk);
	}
	if (trunk->failed || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) {
		return 0;
	}
	ssize_t got = read(fd, trunk->in + trunk->in_size, IN_MAX - trunk->in_size);
	if (got > 0) {
		trunk->in_size += (size_t)got;
		handle_bytes(trunk);
	} else if (got == 0) {
		trunk_fail(trunk, "hung up");
	} else if (errno != EAGAIN && errno != EINTR) {
		fail_errno(trunk);
	} else if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
		trunk_fail(trunk, "hung up");
	}
	return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

int trunk_init(struct trunk *trunk, sd_event *event, int fd, const struct trunk_handler *handler,
	void *data) {
	*trunk = (struct trunk){.fd = fd, .handler = handler, .data = data, .searching = true};
	trunk->in = malloc(IN_MAX);
	/* A mapping of its own, so that its pages can be given back one by one. */
	void *out = mmap(NULL, TRUNK_QUEUE_MAX, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	trunk->out = out == MAP_FAILED ? NULL : out;
	int error = trunk->in == NULL || trunk->out == NULL ? -ENOMEM : 0;
	if (error == 0) {
		error = sd_event_add_io(event, &trunk->io, fd, EPOLLIN, handle_io, trunk);
	}
	if (error >= 0) {
		error = sd_event_add_defer(event, &trunk->end, handle_end, trunk);
	}
	if (error < 0) {
		trunk_finish(trunk);
		return error;
	}
	sd_event_source_set_enabled(trunk->end, SD_EVENT_OFF);
	return 0;
}

void trunk_finish(struct trunk *trunk) {
	trunk->io = sd_event_source_disable_unref(trunk->io);
	trunk->end = sd_event_source_disable_unref(trunk->end);
	if (trunk->fd >= 0) {
		close(trunk->fd);
		trunk->fd = -1;
	}
	free(trunk->in);
	if (trunk->out != NULL) {
		munmap(trunk->out, TRUNK_QUEUE_MAX);
	}
	trunk->in = trunk->out = NULL;
}
