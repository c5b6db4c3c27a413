// SPDX-License-Identifier: MIT
/**
 * Whether another machine keeps the rules in the memory that it alone writes: its rings, its pages,
 * the first page of its window. One that does not loses its link.
 *
 * gidd judges by what it sees itself, of bytes that nobody but that machine can have written: a
 * word that never changes is another one, a counter goes back, or past what it may not pass. It
 * looks whenever it asks for the other's time, and when a client of ours ends a subscription with
 * -EPROTO. What the client says is no evidence, only a reason to look.
 *
 * A piece of memory may be in other use already, and rightly so, when the word that its
 * subscription is over is still on its way. So what was seen only counts once a PING that was sent
 * after it is answered and no such word came before the answer; or ten later ones were not
 * answered.
 */
#ifndef GIDD_SUSPECT_H
#define GIDD_SUSPECT_H

#include <stdint.h>

struct link;
struct subscription;

/* Of a link: what was seen, and is not certain yet. */
struct suspect {
	uint32_t subscription; /* its number on the link; 0: nothing was seen */
	uint64_t since;	       /* ns */
	uint32_t rounds;       /* that were asked since, and not answered */
	char why[96];
};

/* Looks at everything that the link's other end shares with us: before each PING. */
void suspect_look(struct link *link);
/* The same for one subscription, which a client of ours has found broken. */
void suspect_look_at(struct link *link, struct subscription *subscription);

/* The other end says that a subscription is over, by its number on the link. */
void suspect_ended(struct link *link, uint32_t number);
/* It has answered a PING of that time: now what was seen is certain, and the link is dropped. */
void suspect_answered(struct link *link, uint64_t ping_time);

#endif
