// SPDX-License-Identifier: MIT
/**
 * The messages between clients and their gidd, and between gidds: little-endian, each struct
 * pinned. See wire.h.
 */
#ifndef GID_WIRE_MESSAGE_H
#define GID_WIRE_MESSAGE_H

#include <gid/stream.h>

#define GID_WIRE_VERSION 1u
#define GID_WIRE_MESSAGE_MAX 4096u /* bytes, with header */
#define GID_WIRE_FDS_MAX 2u

/* Flags of SUBSCRIBE and SUBSCRIBER. */
#define GID_WIRE_DROP_OLD 1u
#define GID_WIRE_WAIT 2u
/*
 * Of a client's SUBSCRIBE alone: it is live, made by a gidd that is no more. fds[1] is the
 * producer's ring. No producer is asked: gidd only counts it, against the same limits.
 */
#define GID_WIRE_LIVE 8u
#define GID_WIRE_SUBSCRIBE_FLAGS 11u
/* Of SUBSCRIBER alone: the consumer is on another machine, and sees only memory in windows. */
#define GID_WIRE_REMOTE 4u
#define GID_WIRE_SUBSCRIBER_FLAGS 15u

/* C: client to its gidd. D: gidd to a client. L: between gidds, either way. */
enum gid_wire_type {
	/* C, L: first message of a connection. Answered by WELCOME or RESULT. */
	GID_WIRE_HELLO = 1,
	GID_WIRE_WELCOME,
	/* C, L, D: the answer to a request that has nothing more to say. */
	GID_WIRE_RESULT,

	/* C: fds[0] the memory. Answered by RESULT with `value` the slab's number. */
	GID_WIRE_EXPORT = 16,
	/* C: answered by RESULT. */
	GID_WIRE_UNEXPORT,
	/* C: answered by RESULT. */
	GID_WIRE_GRANT,
	/* C, L: answered by IMPORTED (fds[0] the memory) or RESULT. */
	GID_WIRE_IMPORT,
	GID_WIRE_IMPORTED,
	/* D, L: the slab is gone for the receiver. Not answered. */
	GID_WIRE_REVOKED,
	/* C: answered by ALLOCATED (fds[0] the domain's window, to be written) or RESULT. */
	GID_WIRE_ALLOC,
	GID_WIRE_ALLOCATED,
	/* C: answered by RESULT. */
	GID_WIRE_FREE,

	/* C: answered by RESULT with `value` the stream's number. */
	GID_WIRE_PUBLISH = 32,
	GID_WIRE_UNPUBLISH,
	/*
	 * C, L: fds[0] the consumer's page (read-only), fds[1] the producer's end of the doorbell.
	 * Answered by RESULT: an error, or 0 with `value` 1 once the producer was asked, or `value`
	 * 0 for a subscription that waits for its stream. SUBSCRIBED or SUBSCRIPTION_END follows
	 * later.
	 */
	GID_WIRE_SUBSCRIBE,
	/* D to the producer: the same fds. Answered by ACCEPT, or SUBSCRIPTION_END to refuse. */
	GID_WIRE_SUBSCRIBER,
	/* C from the producer, L: fds[0] the producer's ring (read-only). */
	GID_WIRE_ACCEPT,
	/* D to the consumer: fds[0] the producer's ring (read-only). */
	GID_WIRE_SUBSCRIBED,
	/* C, D, L, from either side: over. Not answered. */
	GID_WIRE_SUBSCRIPTION_END,
	/* D: the clock of another machine, as far as it is known. Not answered. */
	GID_WIRE_CLOCK,

	/* C: answered by REPORT, fds[0] a memfd with JSON text. */
	GID_WIRE_STATUS = 48,
	GID_WIRE_REPORT,

	/* Between gidds of different machines, in envelopes. None is answered but PING, by PONG. */
	GID_WIRE_BELL = 64,
	GID_WIRE_PING,
	GID_WIRE_PONG,
	/* The sender hears the doorbell device. */
	GID_WIRE_DEVICE,

	/* Between a gidd and the hub, in envelopes of domain 0: JOIN is answered by JOINED. */
	GID_WIRE_JOIN = 80,
	GID_WIRE_JOINED,
	/* The hub: whether the peer is there. The gidd: it is to be left, and met anew. */
	GID_WIRE_PEER,
	GID_WIRE_TYPE_END,
};

struct gid_wire_header {
	uint32_t type;
	uint32_t size;	 /* of the whole message */
	uint32_t serial; /* of the request, chosen by its sender; an answer repeats it; else 0 */
	uint32_t reserved;
};

struct gid_wire_hello {
	struct gid_wire_header header;
	uint32_t version;
	uint32_t domain; /* L: the sender's number; C: 0 */
	char name[64];	 /* C: the program's name, for the log */
};

struct gid_wire_welcome {
	struct gid_wire_header header;
	uint32_t version;
	uint32_t domain;
	char name[64];
	uint64_t
		window; /* D: bytes of the domain's window, of which memory is asked for; 0: none */
};

struct gid_wire_result {
	struct gid_wire_header header;
	int32_t error; /* 0 or -errno (Linux x86-64 numbers) */
	uint32_t value;
	char text[192]; /* what is wrong and what to do, for people */
};

struct gid_wire_layout {
	uint32_t fourcc, width, height, plane_count;
	uint64_t modifier;
	struct {
		uint32_t offset, stride;
	} planes[4];
};

/* Exporting again after a restart of gidd names the old number in `slab`; else it is 0. */
struct gid_wire_export {
	struct gid_wire_header header;
	uint32_t slab;
	uint32_t memory; /* enum gid_memory */
	uint64_t offset;
	uint64_t slot_size;
	uint32_t slot_count;
	uint32_t description_size;
	uint64_t generations; /* offset in the file of the generation table, 0: none */
	struct gid_wire_layout layout;
	char description[2048];
};

struct gid_wire_unexport {
	struct gid_wire_header header;
	uint32_t slab;
	uint32_t reserved;
};

struct gid_wire_grant {
	struct gid_wire_header header;
	uint32_t slab;
	uint32_t domain;
	uint32_t allow; /* 1: grant, 0: revoke */
	uint32_t reserved;
};

struct gid_wire_import {
	struct gid_wire_header header;
	uint64_t gid;
};

/* As EXPORT, with the slab's number in `slab` and its domain's in `domain`. */
struct gid_wire_imported {
	struct gid_wire_header header;
	uint32_t domain;
	uint32_t slab;
	uint32_t memory;
	uint32_t slot_count;
	uint64_t offset;
	uint64_t slot_size;
	uint64_t generations;
	uint32_t description_size;
	uint32_t reserved;
	struct gid_wire_layout layout;
	char description[2048];
};

struct gid_wire_revoked {
	struct gid_wire_header header;
	uint64_t gid; /* any of the slab's */
};

struct gid_wire_alloc {
	struct gid_wire_header header;
	uint64_t size; /* bytes; rounded up to whole pages of 4096 */
};

struct gid_wire_allocated { /* also FREE */
	struct gid_wire_header header;
	uint64_t offset; /* in the window, of a page, not 0 */
	uint64_t size;	 /* whole pages; zeroes */
};

struct gid_wire_publish {
	struct gid_wire_header header;
	char name[64];
};

struct gid_wire_unpublish {
	struct gid_wire_header header;
	uint32_t stream;
	uint32_t reserved;
};

/*
 * `subscription` is the consumer side's number for it on this connection, and names it in
 * ACCEPT/SUBSCRIBED/SUBSCRIPTION_END there. gidd translates numbers from hop to hop.
 * A connection may carry subscriptions in both directions. So that no number means two of them,
 * those that gidd gives to its clients, and on links the domain with the lower number, have
 * GID_WIRE_LOWER_SIDE set; those that a client gives, or the higher domain, have not.
 */
#define GID_WIRE_LOWER_SIDE 0x80000000u

struct gid_wire_subscribe {
	struct gid_wire_header header;
	uint32_t subscription;
	uint32_t domain; /* L: the owner's number; C: 0 and the name below, "" for its own */
	uint32_t credit;
	uint32_t flags; /* GID_WIRE_DROP_OLD, GID_WIRE_WAIT, GID_WIRE_LIVE */
	char domain_name[64];
	char name[64];
	uint64_t window_offset; /* of the page, where fds[0] is a window; 0: it is a memfd */
};

struct gid_wire_subscriber {
	struct gid_wire_header header;
	uint32_t subscription;
	uint32_t stream;
	uint32_t domain; /* the consumer's */
	uint32_t credit;
	uint32_t flags; /* C: with GID_WIRE_LIVE */
	uint32_t reserved;
	uint64_t window_offset; /* as in SUBSCRIBE */
	uint64_t ring_offset;	/* C: likewise of the ring; else 0 */
};

struct gid_wire_subscribed { /* also ACCEPT */
	struct gid_wire_header header;
	uint32_t subscription;
	uint32_t domain; /* the producer's, as gidd knows it: what gids must be of; ACCEPT: 0 */
	uint64_t window_offset; /* of the ring, where fds[0] is a window; 0: it is a memfd */
};

struct gid_wire_subscription_end {
	struct gid_wire_header header;
	uint32_t subscription;
	int32_t reason; /* -errno; 0: the producer ended the stream */
};

/* Times of that domain plus `offset` are ours, give or take `error`, all in ns. */
struct gid_wire_clock {
	struct gid_wire_header header;
	uint32_t domain;
	uint32_t reserved;
	int64_t offset;
	uint64_t error;
};

struct gid_wire_status {
	struct gid_wire_header header;
};

struct gid_wire_report {
	struct gid_wire_header header;
	uint64_t size; /* bytes of JSON text at the start of fds[0] */
};

_Static_assert(sizeof(struct gid_wire_header) == 16, "wire");
_Static_assert(sizeof(struct gid_wire_hello) == 88, "wire");
_Static_assert(sizeof(struct gid_wire_welcome) == 96, "wire");
_Static_assert(sizeof(struct gid_wire_result) == 216, "wire");
_Static_assert(sizeof(struct gid_wire_layout) == 56, "wire");
_Static_assert(sizeof(struct gid_wire_export) == 2160, "wire");
_Static_assert(sizeof(struct gid_wire_imported) == 2168, "wire");
_Static_assert(sizeof(struct gid_wire_subscribe) == 168, "wire");
_Static_assert(sizeof(struct gid_wire_subscriber) == 56, "wire");
_Static_assert(sizeof(struct gid_wire_subscribed) == 32, "wire");

#endif
