// SPDX-License-Identifier: MIT
/** A guest of the target `hub`: says anything, and hears whether what the hub says is right. */
#ifndef FUZZ_HUB_GUEST_H
#define FUZZ_HUB_GUEST_H

#include "fuzz.h"
#include "wire.h"

#define GUESTS 2
#define WINDOW_SIZE (1u << 20)
#define HOST 3 /* its domain; guests have the numbers below it */

struct guest {
	int fd; /* our end, -1: hung up */
	uint32_t number;
	uint32_t epochs[HOST + 1];    /* by peer; 0: not joined */
	uint32_t greeted, subscribed; /* the epochs in which that was said to the host */
	uint32_t asked;		      /* serial of the last request that came */
	uint32_t offered;	      /* number of the last subscription that was asked for */
	uint64_t cookie;	      /* of the host's doorbell device, as it says */
	uint8_t *window;	      /* its own, all of it; NULL: not opened yet */
	bool has_written;	      /* into it */
	uint8_t in[8192];
	size_t in_size;
};

/* Nothing where it is connected. `runtime` is the cockpit's folder, with the guest's window. */
void guest_connect(struct guest *guest, const char *runtime);
void guest_hang_up(struct guest *guest);

void guest_put(struct guest *guest, const void *data, size_t size);
void guest_join(struct guest *guest, uint64_t nonce);
/* As an honest gidd: so that what comes after it is looked at. */
void guest_greet(struct guest *guest);
/* Likewise: the ring that the host asked for, and a page of its own for the host's stream. */
void guest_accept(struct guest *guest);
void guest_subscribe(struct guest *guest);
/* Likewise: that it has the doorbell device of the host. */
void guest_take_device(struct guest *guest);
/* Likewise: a PING that was sent just now. */
void guest_answer(struct guest *guest);
/* A message from the input, in an envelope. */
void guest_put_message(struct guest *guest, struct input *input);

/* A word or a whole ring into its own window. */
void guest_write(struct guest *guest, struct input *input);
/* The window as it was at first, but for its first page. */
void guest_clear(struct guest *guest);

/* Takes all that the hub said: envelopes and messages that are valid, or it traps. */
void guest_listen(struct guest *guest);

#endif
