// SPDX-License-Identifier: MIT
/**
 * Doorbells of subscriptions to other machines. A client rings its end of a socket pair; the other
 * end is here, and the ring goes on as a message. What is rung for at once becomes one message.
 */
#ifndef GIDD_DOORBELL_RELAY_H
#define GIDD_DOORBELL_RELAY_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "doorbell.h"
#include "wire.h"

struct relayed;

struct doorbell_relay {
	TAILQ_HEAD(, relayed) list;
	uint32_t ended; /* how many of them are of subscriptions that are over */
	sd_event *event;
	/* The client rang, or hung up: then that one is gone. */
	void (*rung)(void *data, uint32_t number, bool hung_up);
	void *data;
};

void doorbell_relay_init(struct doorbell_relay *relay, sd_event *event,
		void (*rung)(void *data, uint32_t number, bool hung_up), void *data);
/* The clients' ends hang up. */
void doorbell_relay_finish(struct doorbell_relay *relay);

/* Takes over the bell for the subscription of that number on the link; not on failure. */
int doorbell_relay_add(
		struct doorbell_relay *relay, uint32_t number, const struct gid_doorbell *bell);

/* The other side rang, or is gone. One that is over already does not matter. */
void doorbell_relay_ring(struct doorbell_relay *relay, uint32_t number);
void doorbell_relay_hang_up(struct doorbell_relay *relay, uint32_t number);

/*
 * The subscription is over. Its client is to close its end soon. It may keep it for ever: of those
 * that are over some stay open, and with one more the oldest hangs up.
 */
void doorbell_relay_end(struct doorbell_relay *relay, uint32_t number);
/* The subscription is asked for anew, with the client's end, which does not hang up. */
void doorbell_relay_let_go(struct doorbell_relay *relay, uint32_t number);

#endif
