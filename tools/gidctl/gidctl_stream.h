// SPDX-License-Identifier: MIT
/** A stream that gidctl reads itself, as any other consumer. */
#ifndef GIDCTL_STREAM_H
#define GIDCTL_STREAM_H

#include <gid/stream.h>

#include "gidctl.h"

struct stream {
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	const char *owner; /* the domain whose stream it is */
	const char *name;
};

/*
 * Subscribes to the stream that the words behind the command name, [DOMAIN] STREAM; there is one.
 * From then on SIGINT and SIGTERM end the waiting for frames. Returns false after a message.
 */
bool stream_init(struct stream *stream, const struct options *options);
void stream_finish(struct stream *stream);

/*
 * Waits for a frame, for `seconds` at most; 0: for five seconds, and as long as the stream has a
 * producer that does not say that there is none, which is told. It is to be released. False, after
 * a message: none came. False without one: we are to end, which `stream_is_ending` says.
 */
bool stream_next(struct stream *stream, double seconds, struct gid_frame *frame);
bool stream_is_ending(void);

#endif
