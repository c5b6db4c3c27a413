// SPDX-License-Identifier: MIT
/**
 * Sends what an output shows as a stream of our domain, to whoever the configuration of the cockpit
 * lets read it. A thread of ordinary scheduling does all of it, by a connection of its own: the
 * display's thread only hands over what it has composed, and is told when that was copied.
 */
#ifndef CLUSTER_PUBLISHER_H
#define CLUSTER_PUBLISHER_H

#include <stdbool.h>
#include <wlr/types/wlr_buffer.h>

/* Pictures that its readers together may hold. */
#define PUBLISHER_SLOTS 4u

struct publisher;

/* `domain` names our own, NULL: $GID_DOMAIN. NULL for want of memory or threads. */
struct publisher *publisher_create(const char *domain, const char *stream);

/* Waits for what it is copying. Takes NULL. */
void publisher_destroy(struct publisher *publisher);

/* Readable when it can take another picture, or somebody came who has none: publisher_collect(). */
int publisher_get_fd(const struct publisher *publisher);

/* Gives back what was copied. Returns whether a picture is wanted now, though it is no new one. */
bool publisher_collect(struct publisher *publisher);

/* Whether anybody reads the stream. */
bool publisher_has_readers(const struct publisher *publisher);

/*
 * Hands over a picture in memory, of XRGB8888 or ARGB8888, which nobody writes while the buffer is
 * locked: it is, until it was copied. Returns false where it is not taken: nobody reads, or the one
 * before is not copied yet.
 */
bool publisher_offer(struct publisher *publisher, struct wlr_buffer *buffer);

#endif
