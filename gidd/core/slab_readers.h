// SPDX-License-Identifier: MIT
/**
 * Which slabs programs may have whose user may not read all streams, by read= of the configuration.
 *
 * A slab belongs to no stream: its owner sends frames of it in any. But the ring of a subscription
 * names the slabs that its reader was sent, and nobody but the producer writes it. So a program
 * gets a slab if the ring of a stream that programs of its user read names it, and if the producer
 * could give it away: it is its own, or gidd gave it to the producer. Otherwise two users, neither
 * of whom may read a third one's slab, could do so together.
 */
#ifndef GIDD_SLAB_READERS_H
#define GIDD_SLAB_READERS_H

#include "slabs.h"

/* `gid` is of any domain; `slab` what is known of it, NULL: nothing. */
bool slab_may_go_to(struct client *client, gid_id gid, const struct slab *slab);

/* Whether the client's user has a part in it already: by exporting it, or by an import. */
bool slab_is_known_to(const struct client *client, const struct slab *slab);

/*
 * The configuration was read again, `older` is what it was. Programs are to let go of slabs that
 * they may not have any more. And owners leave the memory beside windows in which they may have
 * sent frames to users, or other domains, who may not read them any more: of these it is not
 * believed that they let go. Returns how many pieces of memory that is. Before grants are revoked.
 */
uint32_t slab_take_from_clients(struct gidd *gidd, const struct config *older);

#endif
