// SPDX-License-Identifier: MIT
/**
 * A peer asks for slabs and streams: a client of this domain, or the link to another domain.
 * Embedded in either.
 */
#ifndef GIDD_PEER_H
#define GIDD_PEER_H

#include <sys/queue.h>
#include <sys/types.h>

#include "log.h"
#include "wire.h"

struct gidd;
struct client;
struct config;
struct import;
struct subscription;
TAILQ_HEAD(imports, import);
TAILQ_HEAD(subscriptions, subscription);

struct peer {
	struct gidd *gidd;
	const struct config *config;
	uint32_t domain;	/* its domain, known by where the connection came in */
	struct client *client;	/* NULL: a link */
	log_source source;	/* the budget for its lines in the log */
	char label[128];	/* for people: "gst-launch-1.0 (pid 42, uid 0)", "domain open" */
	struct imports imports; /* slabs that it was given */
	struct subscriptions consuming; /* subscriptions that it asked for */
	uint64_t asks_paid; /* ns: when its budget for requests to producers is full again */
	/* As packet_stream_send() and packet_stream_fail(). */
	void (*send)(struct peer *peer, const union gid_wire_message *message, const int *fds,
			uint32_t fd_count);
	void (*fail)(struct peer *peer, const char *why);
};

void peer_init(struct peer *peer, struct gidd *gidd, const struct config *config, uint32_t domain);

static inline void peer_send(struct peer *peer, const union gid_wire_message *message,
		const int *fds, uint32_t fd_count) {
	peer->send(peer, message, fds, fd_count);
}

/*
 * Who a process is, for people: "PROGRAM (pid 42, uid 0)". One of another container may have no
 * number in this one: the kernel says 0.
 */
void peer_describe(char *text, size_t size, const char *program, pid_t pid, uid_t uid);

/* Ends the connection: the peer broke the protocol. */
static inline void peer_violation(struct peer *peer, const char *why) {
	peer->fail(peer, why);
}

/* Writes "LABEL: …" into the log. */
__attribute__((format(printf, 3, 4))) void peer_log(
		const struct peer *peer, enum log_level level, const char *format, ...);

/* Answers a request. The sentence says what is wrong and what to do. */
__attribute__((format(printf, 5, 6))) void peer_result(struct peer *peer, uint32_t serial,
		int error, uint32_t value, const char *format, ...);
/*
 * The same where the configuration forbids it: adds a hint if the file has changed since it was
 * read.
 */
__attribute__((format(printf, 4, 5))) void peer_refuse(
		struct peer *peer, uint32_t serial, int error, const char *format, ...);

#endif
