// SPDX-License-Identifier: MIT
/**
 * A client of the host in the target `hub`: has a stream and a slab to be asked for, and asks for
 * the guests'.
 */
#ifndef FUZZ_HOST_CLIENT_H
#define FUZZ_HOST_CLIENT_H

#include "fuzz.h"
#include "inside.h"

/* Nothing where it is connected. */
void host_client_connect(struct gidd *gidd);
void host_client_hang_up(void);

/* Asks for the stream of a guest, and hangs its doorbell up. */
void host_client_subscribe(uint32_t number);

/* Ends one as if its producer had broken the rules. */
void host_client_end(uint32_t number);

/* Any message. */
void host_client_say(struct input *input);

/* Takes all that gidd said, and answers. */
void host_client_listen(void);

#endif
