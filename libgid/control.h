// SPDX-License-Identifier: MIT
/**
 * What the parts of libgid need of the connection to gidd: requests, posts, and being told of
 * events and restarts. Implemented by domain.c and request.c; used by slabs, imports and streams.
 */
#ifndef GID_CONTROL_H
#define GID_CONTROL_H

#include "wire.h"

/*
 * Something that hears from gidd. Embedded in its owner, which adds and removes it. Order matters
 * after a restart of gidd: slabs register again before streams, hence the two kinds.
 */
struct gid_endpoint {
	struct gid_endpoint *prev, *next;
	enum { GID_ENDPOINT_SLAB, GID_ENDPOINT_STREAM } kind;
	/*
	 * A message that answers no request. Returns whether it was this endpoint's; then the
	 * descriptors in `fds` that it kept are set to -1, and the others are closed by the caller.
	 */
	bool (*message)(struct gid_endpoint *endpoint, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]);
	/* gidd is back and knows nothing of us: register again. */
	void (*reconnected)(struct gid_endpoint *endpoint);
	/* The domain is being destroyed before its owner: to be removed. May be NULL. */
	void (*domain_destroyed)(struct gid_endpoint *endpoint);
};

void gid_endpoint_add(struct gid_domain *domain, struct gid_endpoint *endpoint);
void gid_endpoint_remove(struct gid_domain *domain, struct gid_endpoint *endpoint);

/*
 * Sends a request (its serial is set here) with `fd_count` descriptors, which stay the caller's,
 * and waits at most 2 s for the answer, or $GID_ANSWER_SECONDS. Events that come meanwhile are kept for
 * gid_domain_dispatch(). Returns 0 with `*answer` (and the descriptors in `answer_fds`, now the
 * caller's; may be NULL where none can come), or -errno, where a RESULT with an error counts as
 * one and its text becomes gid_domain_error().
 */
int gid_domain_request(struct gid_domain *domain, union gid_wire_message *request, const int *fds,
	uint32_t fd_count, union gid_wire_message *answer, int answer_fds[GID_WIRE_FDS_MAX]);

/*
 * Called from gid_domain_dispatch() with 0 and the answer, with the error of a RESULT and that, or
 * with -ENOTCONN or -ETIMEDOUT and no answer. Descriptors that it keeps it sets to -1.
 */
typedef void (*gid_answer_func)(void *data, int error, const union gid_wire_message *answer,
	int fds[static GID_WIRE_FDS_MAX]);

/* The same without waiting for the answer. Data that goes away cancels first. */
int gid_domain_request_async(struct gid_domain *domain, union gid_wire_message *request,
	const int *fds, uint32_t fd_count, gid_answer_func answered, void *data);
void gid_domain_request_cancel(struct gid_domain *domain, void *data);

/*
 * Sends without an answer being awaited: one that comes is dropped. A gidd that does not make room
 * for it within 100 ms counts as gone away, as with all that is sent.
 */
int gid_domain_post(struct gid_domain *domain, union gid_wire_message *message, const int *fds,
	uint32_t fd_count);

/* Remembers the sentence for gid_domain_error() and returns `error`. */
int gid_domain_fail(struct gid_domain *domain, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* For names that are not valid, which are not repeated: they may hold anything. */
#define GID_STREAM_NAME_RULE                                                                       \
	"the name of a stream or a domain has 1 to 63 of the letters a-z A-Z 0-9 - _ . and / "     \
	"between others"

/* Another descriptor inside the domain's epoll descriptor: `ready` runs from dispatch. */
int gid_domain_watch(struct gid_domain *domain, int fd, void (*ready)(void *data), void *data);
void gid_domain_unwatch(struct gid_domain *domain, int fd);

#endif
