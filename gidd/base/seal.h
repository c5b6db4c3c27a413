// SPDX-License-Identifier: MIT
/**
 * The sealed phase of the domain: while it lasts nothing new is granted to anybody, and gidd
 * allocates nothing for requests. What was granted before goes on. This is the one place that knows
 * whether the domain is sealed: all code that makes something new asks here.
 *
 * Only programs that may end the phase can still connect. Links that go down stay down.
 */
#ifndef GIDD_SEAL_H
#define GIDD_SEAL_H

#include "gidd.h"

/* Seals later, if the configuration says so. 0 or -errno. */
int seal_init(struct gidd *gidd);
void seal_finish(struct gidd *gidd);

/* Seals or unseals; both may be repeated. `who` is for the log. */
void seal_set(struct gidd *gidd, bool on, const char *who);

bool seal_is_on(const struct gidd *gidd);

/*
 * Whether the message asks for something new, and the domain is sealed: then it is answered with
 * -ESHUTDOWN and a sentence, and nothing more is to be done.
 */
bool seal_refuses(struct peer *peer, const union gid_wire_message *message);

/* Whether a program of that user may seal and unseal, and take what others have. */
bool seal_is_for(uint32_t uid);

/* SEALED, as it is now. */
void seal_put(const struct gidd *gidd, union gid_wire_message *message);

#endif
