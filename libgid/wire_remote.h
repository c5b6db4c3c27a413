// SPDX-License-Identifier: MIT
/** What goes between machines besides: envelopes, the messages only they send, windows. See wire.h.
 */
#ifndef GID_WIRE_REMOTE_H
#define GID_WIRE_REMOTE_H

#include "wire_message.h"

#define GID_ENVELOPE_MAGIC 0x65646967u	       /* "gide" */
#define GID_WINDOW_MAGIC 0x6f646e6977646967ull /* "gidwindo" */
#define GID_WINDOW_VERSION 1u
#define GID_WINDOW_MIN (UINT64_C(1) << 20)

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
	uint32_t reserved;
	char why[96]; /* a text, for people */
};

/* The first page of a window, written by whoever made its file. */
struct gid_wire_window {
	uint64_t magic;
	uint32_t version;
	uint32_t domain; /* who may write the window */
	uint64_t size;	 /* of all of it, bytes */
	uint64_t cookie; /* another one for each file made */
	char name[64];	 /* the domain's */
};

/* Whether an envelope can be one: its magic, its domain and the size of its message. */
bool gid_wire_envelope_is_valid(const struct gid_wire_envelope *copy);

/* The first page of a window that has `size` bytes, copied out first. */
bool gid_wire_window_is_valid(const struct gid_wire_window *copy, uint64_t size);

_Static_assert(sizeof(struct gid_wire_envelope) == 16, "wire");
_Static_assert(sizeof(struct gid_wire_peer) == 128, "wire");
_Static_assert(sizeof(struct gid_wire_window) == 96, "wire");

#endif
