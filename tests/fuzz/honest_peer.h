// SPDX-License-Identifier: MIT
/**
 * What a client or a link of the target `gidd` says that means well: it answers what it was asked,
 * so that slabs and subscriptions come about, of which others then say anything.
 */
#ifndef FUZZ_HONEST_PEER_H
#define FUZZ_HONEST_PEER_H

#include "fuzz.h"
#include "wire.h"

struct honest_peer {
	struct gid_wire_import asked; /* not answered yet: its serial is not 0 */
	uint32_t offered;	      /* a subscription that is not accepted yet, or 0 */
	uint32_t slab;		      /* of a client: the number that gidd gave */
};

/* What gidd said to it. */
void honest_peer_hear(struct honest_peer *peer, const union gid_wire_message *message);

/* A client's next message. */
void honest_client_speak(
		struct honest_peer *client, struct input *input, union gid_wire_message *message);

/* That of the gidd of domain `number`, to that of domain 2. */
void honest_link_speak(struct honest_peer *link, uint32_t number, struct input *input,
		union gid_wire_message *message);

#endif
