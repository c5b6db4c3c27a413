// SPDX-License-Identifier: MIT
/**
 * Direct doorbells of a subscription to another machine, which bypass both gidds: one vector of the
 * doorbell device for each direction. gidd gives its client the two eventfds, and listens to
 * neither. The socket pair stays, for the hang-up, and for rings if a direction has no vector.
 *
 * Each end begins by itself, when the subscription is live:
 *
 *     takes a vector; DOORBELL (hear) → client; client → HEARING; VECTOR → the other gidd;
 *     that one: DOORBELL (ring) → its client
 *
 * so nobody rings by a vector before its client listens.
 */
#ifndef GIDD_SUBSCRIPTION_BELLS_H
#define GIDD_SUBSCRIPTION_BELLS_H

#include "doorbell_device.h"

struct client;
struct link;

/* In each subscription, zeroed. */
struct subscription_bells {
	bool hears;	/* a vector is taken, and the client was given its eventfd */
	bool announced; /* the client listens, and the other gidd knows */
	bool relayed;	/* it was rung too often: gidd hears it in the client's place */
	struct doorbell_vector vector;
	uint64_t looked_us, count, sleeps; /* when it was last looked at, and what there was */
	bool rings;			   /* the client was given what rings the other end: */
	uint32_t domain, index;
	int ring_fd;
};

/* Whom it is between, and by which number each of them knows it. */
struct subscription_ends {
	struct client *client; /* of ours */
	uint32_t client_number;
	struct link *link; /* to another machine */
	uint32_t link_number;
};

/*
 * The subscription is live. Does nothing where a client or gidd is too old, or direct doorbells are
 * not allowed.
 */
void subscription_bells_begin(
		struct subscription_bells *bells, const struct subscription_ends *ends);
/* It is over, or its link is lost; also where it never began. */
void subscription_bells_end(struct gidd *gidd, struct subscription_bells *bells);

/* The client listens, or does not any more. */
void subscription_bells_hearing(
		struct subscription_bells *bells, const struct subscription_ends *ends, bool on);
/* The other machine's client listens to that vector. */
void subscription_bells_vector(struct subscription_bells *bells,
		const struct subscription_ends *ends, uint32_t vector);

/*
 * To be called from time to time, with how often the client has slept. A client that is rung far
 * more often gets its rings through gidd from now on. (An honest client asks for that earlier, by
 * itself.)
 */
void subscription_bells_poll(struct subscription_bells *bells, const struct subscription_ends *ends,
		uint64_t sleeps);

#endif
