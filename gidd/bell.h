// SPDX-License-Identifier: MIT
/**
 * Doorbells of subscriptions to other machines. A client rings its end of a socket pair; the other
 * end is here, and the ring goes on as a message. What is rung for at once becomes one message.
 */
#ifndef GIDD_BELL_H
#define GIDD_BELL_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "wire.h"

struct bell;

struct bells {
	TAILQ_HEAD(, bell) list;
	sd_event *event;
	/* The client rang, or hung up: then the bell is gone. */
	void (*rung)(void *data, uint32_t number, bool hung_up);
	void *data;
};

void bells_init(struct bells *bells, sd_event *event,
	void (*rung)(void *data, uint32_t number, bool hung_up), void *data);
/* The clients' ends hang up. */
void bells_finish(struct bells *bells);

/* Takes `fd` over, also on failure, for the subscription of that number on the link. */
int bells_add(struct bells *bells, uint32_t number, int fd);

/* The other side rang, or is gone. One that is over already does not matter. */
void bells_ring(struct bells *bells, uint32_t number);
void bells_hang_up(struct bells *bells, uint32_t number);

#endif
