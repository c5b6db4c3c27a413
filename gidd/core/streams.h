// SPDX-License-Identifier: MIT
/**
 * The streams of this domain, and who asks for a stream: finds whoever has it, here or in another
 * domain, and waits for it where that is wanted.
 *
 * Functions named for a message take it from a peer, and answer it. Descriptors are taken over by
 * setting them to -1 in the caller's array.
 */
#ifndef GIDD_STREAMS_H
#define GIDD_STREAMS_H

#include "subscriptions.h"

void stream_init(struct gidd *gidd);
void stream_close(struct gidd *gidd);

void stream_publish(struct client *client, const struct gid_wire_publish *request);
void stream_unpublish(struct client *client, const struct gid_wire_unpublish *request);
/* The client is gone: as a producer. */
void stream_destroy_all_of(struct client *client);

/* Whether one that the client publishes was taken from the reader, which may not read it. */
bool stream_is_withdrawn(const struct client *client, const struct config_domain *reader);

/* SUBSCRIBE: from a client, or from a link for a stream of this domain. */
void stream_subscribe(
		struct peer *consumer, const struct gid_wire_subscribe *request, int fds[static 2]);
/*
 * SUBSCRIBER: a producer tells of a subscription that is live already, and older than this gidd.
 * What may not go on is ended.
 */
void stream_subscribe_live(struct client *producer, const struct gid_wire_subscriber *request,
		int fds[static 2]);

/* The link is there: asks the other domain for all that waited. Or it is lost. */
void stream_link_up(struct gidd *gidd, struct peer *link);
void stream_link_down(struct gidd *gidd, struct peer *link);

#endif
