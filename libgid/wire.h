// SPDX-License-Identifier: MIT
/**
 * The wire: every byte that crosses between processes, little-endian, each struct pinned.
 * docs/wire.md is its published form. wire.c decodes it: pure, total, fuzzed.
 *
 * Messages go over SOCK_SEQPACKET sockets, one a packet (or over a byte stream, framed by `size`),
 * descriptors beside them in the order that each message names. wire_ring.h has what goes through
 * shared memory.
 */
#ifndef GID_WIRE_H
#define GID_WIRE_H

#include <gid/stream.h>

#define GID_WIRE_VERSION 2u
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
	/*
	 * D, L: the slab is gone for the receiver. To its owner: it must leave its memory, which is
	 * emptied soon. Not answered.
	 */
	GID_WIRE_REVOKED,
	/* C: answered by ALLOCATED (fds[0] a window of the domain, to be written) or RESULT. */
	GID_WIRE_ALLOC,
	GID_WIRE_ALLOCATED,
	/* C: answered by RESULT. */
	GID_WIRE_FREE,
	/* C, L: the sender has let go of a slab. Not answered. */
	GID_WIRE_UNIMPORT,

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
	/*
	 * D: fds[0] an eventfd past gidd, of a subscription to another machine: to hear, answered
	 * by HEARING, or to ring. For those whose HELLO said that they take it.
	 */
	GID_WIRE_DOORBELL,
	/* C, D: whether the client listens to the eventfd. Not answered. */
	GID_WIRE_HEARING,
	/*
	 * L: streams of the sender that there are, and that the receiver may read: all of them, in
	 * as many messages as that takes. For those whose greeting said that they take it. Not
	 * answered.
	 */
	GID_WIRE_OFFERS,

	/* C: answered by REPORT, fds[0] a memfd with JSON text. */
	GID_WIRE_STATUS = 48,
	GID_WIRE_REPORT,
	/* C, by gidd's own user or root alone: the domain is sealed, or not. Answered by RESULT. */
	GID_WIRE_SEAL,
	/*
	 * D: whether the domain is sealed, behind WELCOME and at each change. For those whose HELLO
	 * said that they take it.
	 */
	GID_WIRE_SEALED,

	/* Between gidds of different machines, in envelopes. None is answered but PING, by PONG. */
	GID_WIRE_BELL = 64,
	GID_WIRE_PING,
	GID_WIRE_PONG,
	/* The sender hears the doorbell device. */
	GID_WIRE_DEVICE,
	/* By which vector of it a client of the sender hears. */
	GID_WIRE_VECTOR,

	/* Between a gidd and the hub, in envelopes of domain 0: JOIN is answered by JOINED. */
	GID_WIRE_JOIN = 80,
	GID_WIRE_JOINED,
	/* The hub: whether the peer is there. The gidd: it is to be left, and met anew. */
	GID_WIRE_PEER,
	/*
	 * C, by gidd's own user or root alone: a stream or slab is taken from readers; answered by
	 * RESULT. The hub passes it on to the gidd of its owner, which does not answer.
	 */
	GID_WIRE_WITHDRAW,
	/* To the hub: a piece of a window of the sender's is to be emptied. Answered by PUNCHED. */
	GID_WIRE_PUNCH,
	GID_WIRE_PUNCHED,
	/* The hub: who reads a window of the receiver's, and how much of it may be used. */
	GID_WIRE_OWN_WINDOW,
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
	uint32_t domain; /* L: the sender's number; C: what it takes, as below */
	char name[64];	 /* C: the program's name, for the log */
};

#define GID_WIRE_TAKES_DOORBELLS 1u
#define GID_WIRE_TAKES_SEALED 2u

/* L: in the `window` of WELCOME, and as the name in HELLO: the sender takes OFFERS. */
#define GID_WIRE_TAKES_OFFERS 1u
#define GID_WIRE_NAME_TAKES_OFFERS "gidd/offers"

struct gid_wire_welcome {
	struct gid_wire_header header;
	uint32_t version;
	uint32_t domain;
	char name[64];
	uint64_t window; /* D: bytes of the domain's window, of which memory is asked for; 0: none.
			    L: 0, or GID_WIRE_TAKES_OFFERS */
};

struct gid_wire_result {
	struct gid_wire_header header;
	int32_t error; /* 0 or -errno (Linux x86-64 numbers) */
	uint32_t value;
	char text[192]; /* what is wrong and what to do, for people */
};

struct gid_wire_layout {
	uint32_t fourcc, width, height;
	uint8_t plane_count;
	uint8_t matrix_range; /* of struct gid_colours: 6 bits, and above them 2 */
	uint8_t transfer, primaries;
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

/* Who else is to read the memory: domains of other machines. */
enum gid_wire_readers {
	GID_WIRE_READERS_ANY,	 /* all that this one shares anything with */
	GID_WIRE_READERS_STREAM, /* all that may read its stream `name` */
	GID_WIRE_READERS_DOMAIN, /* one domain alone, by number, else by name; "": its own */
};

struct gid_wire_alloc {
	struct gid_wire_header header;
	uint64_t size; /* bytes; rounded up to whole pages of 4096 */
	uint32_t readers;
	uint32_t domain; /* READERS_DOMAIN: its number, 0: it is named */
	char name[64];
};

struct gid_wire_allocated { /* also FREE, PUNCH, PUNCHED */
	struct gid_wire_header header;
	uint64_t offset; /* in the window, of a page; above GID_WINDOW_SHIFT the window's number */
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

enum gid_wire_doorbell_way {
	GID_WIRE_DOORBELL_HEAR, /* besides the socket */
	GID_WIRE_DOORBELL_RING, /* instead of the socket */
};

struct gid_wire_doorbell {
	struct gid_wire_header header;
	uint32_t subscription;
	uint32_t way; /* enum gid_wire_doorbell_way */
};

struct gid_wire_hearing {
	struct gid_wire_header header;
	uint32_t subscription;
	uint32_t on; /* 0: not any more, as it is rung for nothing. D: always */
};

#define GID_WIRE_OFFERS_MAX 63u

struct gid_wire_offers {
	struct gid_wire_header header;
	uint32_t count; /* of names */
	uint32_t more;	/* 1: another message follows, 0: it is the last */
	char names[GID_WIRE_OFFERS_MAX][64];
};

struct gid_wire_status {
	struct gid_wire_header header;
};

#define GID_WIRE_REPORT_MAX (UINT64_C(64) << 20)

struct gid_wire_report {
	struct gid_wire_header header;
	uint64_t size; /* bytes of JSON text at the start of fds[0]: 1 to GID_WIRE_REPORT_MAX */
};

/* --- between machines ------------------------------------------------------------------------- */

#define GID_ENVELOPE_MAGIC 0x65646967u	       /* "gide" */
#define GID_WINDOW_MAGIC 0x6f646e6977646967ull /* "gidwindo" */
#define GID_WINDOW_VERSION 2u
#define GID_WINDOW_MIN (UINT64_C(1) << 20)
/*
 * A domain has a window for each set of others that read the same. Where a message has no window's
 * descriptor, places in it have the window's number among those of its owner in front.
 */
#define GID_WINDOW_SHIFT 40u
#define GID_WINDOWS_MAX 63u

static inline uint32_t gid_wire_window_number(uint64_t place) {
	return (uint32_t)(place >> GID_WINDOW_SHIFT);
}

static inline uint64_t gid_wire_window_offset(uint64_t place) {
	return place & ((UINT64_C(1) << GID_WINDOW_SHIFT) - 1);
}

static inline uint64_t gid_wire_window_place(uint32_t number, uint64_t offset) {
	return (uint64_t)number << GID_WINDOW_SHIFT | offset;
}

#define GID_BELLS_MAGIC 0x736c6c6562646967ull /* "gidbells" */
#define GID_BELLS_VERSION 1u
#define GID_BELLS_POOL 64u /* vectors of a device for single subscriptions, at most */

/* What goes before each message on a byte stream. */
struct gid_wire_envelope {
	uint32_t magic;
	uint32_t domain; /* to the hub: for whom; from the hub: from whom, as the hub knows; 0: the
			    hub */
	uint32_t epoch;	 /* of the two domains' being joined; 0: the hub */
	uint32_t size;	 /* of the message behind it */
};

struct gid_wire_bell {
	struct gid_wire_header header;
	uint32_t subscription; /* its number on the link */
	uint32_t hung_up;      /* 1: the side that rings is gone */
};

struct gid_wire_ping {
	struct gid_wire_header header;
	uint64_t time; /* the sender's clock, ns */
};

struct gid_wire_pong {
	struct gid_wire_header header;
	uint64_t ping_time; /* as in PING */
	uint64_t time;	    /* the sender's clock, ns */
};

struct gid_wire_device {
	struct gid_wire_header header;
	uint64_t cookie; /* as the device's page has it; not 0 */
};

/* In DEVICE's serial: the sender takes VECTOR. */
#define GID_WIRE_TAKES_VECTORS 1u

struct gid_wire_vector {
	struct gid_wire_header header;
	uint32_t subscription; /* its number on the link */
	uint32_t vector;       /* as the receiver rings it; not 0 */
};

struct gid_wire_join {
	struct gid_wire_header header;
	uint32_t version;
	uint32_t domain; /* JOIN: 0; JOINED: whose stream of bytes this is */
	uint64_t nonce;	 /* the joining gidd's, not 0; JOINED: repeated; or 0: join anew */
};

struct gid_wire_peer {
	struct gid_wire_header header;
	uint32_t domain;
	uint32_t epoch;
	uint32_t up;
	uint32_t fault; /* to the hub: 1: the other one did what no gidd does */
	char why[96];	/* a text, for people */
};

/* A stream of the owner's is taken from readers; or a slab, from all. */
struct gid_wire_withdraw {
	struct gid_wire_header header;
	uint64_t gid;	 /* any of the slab's; 0: it is about streams */
	char owner[64];	 /* a domain's name */
	char reader[64]; /* a domain's name; "": all others */
	char name[64];	 /* of the stream, or a pattern; "": it is about a slab */
};

/* SEAL and SEALED. */
struct gid_wire_seal {
	struct gid_wire_header header;
	uint32_t on; /* 1: it is sealed, or is to be; 0: it is not */
	uint32_t reserved;
	uint64_t since; /* SEALED with `on`: seconds since 1970, not 0; else 0 */
};

/* At most so much in one PUNCH: the hub serves others meanwhile. */
#define GID_WIRE_PUNCH_MAX (UINT64_C(4) << 20)

/* Of all windows of a domain, one after the other. */
struct gid_wire_own_window {
	struct gid_wire_header header;
	uint32_t number; /* among those of the domain */
	uint32_t more;	 /* 1: another one follows, 0: it is the last */
	uint64_t size;
	uint64_t filled;     /* so many bytes of it have pages, and may be used */
	uint8_t readers[32]; /* as in struct gid_wire_window */
};

/* The first page of a window, written by whoever made its file. */
struct gid_wire_window {
	uint64_t magic;
	uint32_t version;
	uint32_t domain; /* who may write the window */
	uint64_t size;	 /* of all of it, bytes */
	uint64_t cookie; /* another one for each life of its owner's machine: life.h */
	char name[64];	 /* the domain's */
	uint32_t number; /* among the windows of the domain */
	uint32_t reserved;
	uint8_t readers[32]; /* who may read it: bit n % 8 of byte n / 8 for domain n */
};

/* The memory of a doorbell device, written by the hub; the device's own guest sees it, nobody else.
 */
struct gid_wire_bells {
	uint64_t magic;
	uint32_t version;
	uint32_t domain; /* whose device it is */
	uint64_t cookie; /* of the hub that wrote it: another one each time that it begins; not 0 */
	uint32_t count;	 /* of vectors */
	uint32_t reserved;
	uint8_t domains[256]; /* vector k is rung by domains[k]; 0 behind the last */
	uint32_t pool;	      /* vectors more that each of these rings, behind all of the others */
	uint32_t reserved1;
};

/* Whether an envelope can be one: its magic, its domain and the size of its message. */
bool gid_wire_envelope_is_valid(const struct gid_wire_envelope *copy);

/* The first page of a window that has `size` bytes, copied out first. */
bool gid_wire_window_is_valid(const struct gid_wire_window *copy, uint64_t size);

/* Whether a copy of a doorbell device's memory is one that a hub writes. */
bool gid_wire_bells_is_valid(const struct gid_wire_bells *copy);

/* --- any message ------------------------------------------------------------------------------ */

/* Any message, big enough for the largest. */
union gid_wire_message {
	struct gid_wire_header header;
	struct gid_wire_hello hello;
	struct gid_wire_welcome welcome;
	struct gid_wire_result result;
	struct gid_wire_export export;
	struct gid_wire_unexport unexport;
	struct gid_wire_grant grant;
	struct gid_wire_import import; /* UNIMPORT, too */
	struct gid_wire_imported imported;
	struct gid_wire_revoked revoked;
	struct gid_wire_publish publish;
	struct gid_wire_unpublish unpublish;
	struct gid_wire_subscribe subscribe;
	struct gid_wire_subscriber subscriber;
	struct gid_wire_subscribed subscribed;
	struct gid_wire_subscription_end subscription_end;
	struct gid_wire_status status;
	struct gid_wire_report report;
	struct gid_wire_seal seal; /* SEALED, too */
	struct gid_wire_alloc alloc;
	struct gid_wire_allocated allocated;
	struct gid_wire_clock clock;
	struct gid_wire_doorbell doorbell;
	struct gid_wire_hearing hearing;
	struct gid_wire_offers offers;
	struct gid_wire_bell bell;
	struct gid_wire_ping ping;
	struct gid_wire_pong pong;
	struct gid_wire_device device;
	struct gid_wire_vector vector;
	struct gid_wire_join join;
	struct gid_wire_peer peer;
	struct gid_wire_withdraw withdraw;
	struct gid_wire_own_window own_window;
	uint8_t bytes[GID_WIRE_MESSAGE_MAX];
};

/* The exact size and number of descriptors of a message type; false for an unknown one. */
bool gid_wire_shape(uint32_t type, uint32_t *size, uint32_t *fd_count);

/* Whether a text is UTF-8 without control characters: programs' names, descriptions. */
bool gid_wire_text_is_valid(const char *text, size_t length);

/* Begins a message: zeroes it, sets type and size. */
void gid_wire_begin(union gid_wire_message *message, uint32_t type, uint32_t serial);

/*
 * Checks a received message completely: exact size, descriptor count, known type, zero reserved
 * fields, terminated and valid names and texts with zeroes behind them, numbers in range, layouts
 * that fit their slots, slots and generation tables that fit in a file. A gid in IMPORT may be
 * anything: it is as unknown as another.
 * After 0 every field may be used as its comment says. -EPROTO with a constant sentence otherwise.
 */
int gid_wire_check(const union gid_wire_message *message, size_t size, uint32_t fd_count,
		const char **why);

/*
 * The same for a message that came in an envelope, between domains or between a gidd and the hub:
 * without descriptors, so that all memory in it must be a range of its sender's window.
 */
int gid_wire_check_remote(
		const union gid_wire_message *message, size_t size, bool hub, const char **why);

void gid_wire_put_layout(struct gid_wire_layout *wire, const struct gid_layout *layout);
void gid_wire_get_layout(struct gid_layout *layout, const struct gid_wire_layout *wire);

_Static_assert(sizeof(struct gid_wire_header) == 16, "wire");
_Static_assert(sizeof(struct gid_wire_hello) == 88, "wire");
_Static_assert(sizeof(struct gid_wire_welcome) == 96, "wire");
_Static_assert(sizeof(struct gid_wire_result) == 216, "wire");
_Static_assert(sizeof(struct gid_wire_layout) == 56, "wire");
_Static_assert(sizeof(struct gid_wire_export) == 2160, "wire");
_Static_assert(sizeof(struct gid_wire_unexport) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_grant) == 32, "wire");
_Static_assert(sizeof(struct gid_wire_import) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_imported) == 2168, "wire");
_Static_assert(sizeof(struct gid_wire_revoked) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_alloc) == 96, "wire");
_Static_assert(sizeof(struct gid_wire_allocated) == 32, "wire");
_Static_assert(sizeof(struct gid_wire_publish) == 80, "wire");
_Static_assert(sizeof(struct gid_wire_unpublish) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_subscribe) == 168, "wire");
_Static_assert(sizeof(struct gid_wire_subscriber) == 56, "wire");
_Static_assert(sizeof(struct gid_wire_subscribed) == 32, "wire");
_Static_assert(sizeof(struct gid_wire_subscription_end) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_clock) == 40, "wire");
_Static_assert(sizeof(struct gid_wire_offers) == 4056, "wire");
_Static_assert(sizeof(struct gid_wire_doorbell) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_hearing) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_status) == 16, "wire");
_Static_assert(sizeof(struct gid_wire_report) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_seal) == 32, "wire");
_Static_assert(sizeof(struct gid_wire_envelope) == 16, "wire");
_Static_assert(sizeof(struct gid_wire_bell) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_ping) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_pong) == 32, "wire");
_Static_assert(sizeof(struct gid_wire_device) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_vector) == 24, "wire");
_Static_assert(sizeof(struct gid_wire_join) == 32, "wire");
_Static_assert(sizeof(struct gid_wire_peer) == 128, "wire");
_Static_assert(sizeof(struct gid_wire_withdraw) == 216, "wire");
_Static_assert(sizeof(struct gid_wire_own_window) == 72, "wire");
_Static_assert(sizeof(struct gid_wire_window) == 136, "wire");
_Static_assert(sizeof(struct gid_wire_bells) == 296, "wire");

#endif
