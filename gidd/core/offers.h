// SPDX-License-Identifier: MIT
/**
 * What streams there are for others: tells the gidds of those who may read ours which there are,
 * and knows from them which we may read. Names alone: who wants one subscribes to it.
 */
#ifndef GIDD_OFFERS_H
#define GIDD_OFFERS_H

#include "gidd.h"

struct link;

/* A stream of ours came or went, or others may read it now: all links hear of it soon. */
void offers_changed(struct gidd *gidd);
void offers_finish(struct gidd *gidd);

/* OFFERS from the other domain; and the link is lost, which takes with it what it told. */
void offers_heard(struct link *link, const struct gid_wire_offers *offers);
void offers_forget(struct link *link);

/* The n-th stream that the other domain has for us now; NULL: there are no more. */
const char *offers_nth(const struct link *link, uint32_t n);

#endif
