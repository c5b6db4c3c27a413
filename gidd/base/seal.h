// SPDX-License-Identifier: MIT
/**
 * The sealed phase of the domain: from the seal on, until it is ended, nothing new is granted to
 * anybody, and gidd allocates nothing for it. What was granted before goes on. This is the one
 * place that knows whether it is so; whoever makes something new asks here.
 *
 * Who may still come in is who may end it. Links that go down stay down.
 */
#ifndef GIDD_SEAL_H
#define GIDD_SEAL_H

#include "gidd.h"

/* Seals later, if the configuration says so. 0 or -errno. */
int seal_init(struct gidd *gidd);
void seal_finish(struct gidd *gidd);

/* Seals, or ends that; also again. `who` does it, for the log. */
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
