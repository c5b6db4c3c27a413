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
#define GID_BELLS_MAGIC 0x736c6c6562646967ull /* "gidbells" */
#define GID_BELLS_VERSION 1u

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

/* The first page of a window, written by whoever made its file. */
struct gid_wire_window {
	uint64_t magic;
	uint32_t version;
	uint32_t domain; /* who may write the window */
	uint64_t size;	 /* of all of it, bytes */
	uint64_t cookie; /* another one for each file made */
	char name[64];	 /* the domain's */
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
};

/* Whether an envelope can be one: its magic, its domain and the size of its message. */
bool gid_wire_envelope_is_valid(const struct gid_wire_envelope *copy);

/* The first page of a window that has `size` bytes, copied out first. */
bool gid_wire_window_is_valid(const struct gid_wire_window *copy, uint64_t size);

/* Whether a copy of a doorbell device's memory is one that a hub writes. */
bool gid_wire_bells_is_valid(const struct gid_wire_bells *copy);

_Static_assert(sizeof(struct gid_wire_envelope) == 16, "wire");
_Static_assert(sizeof(struct gid_wire_peer) == 128, "wire");
_Static_assert(sizeof(struct gid_wire_window) == 96, "wire");
_Static_assert(sizeof(struct gid_wire_bells) == 288, "wire");

#endif
