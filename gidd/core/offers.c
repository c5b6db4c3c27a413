// SPDX-License-Identifier: MIT
#include "offers.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "link.h"
#include "subscriptions.h"

/* Programs can publish and end streams as fast as they like; links hear of it no faster than this.
 */
#define SEND_EVERY_US 100000u

/* --- ours ------------------------------------------------------------------------------------- */

static void send_offers(struct link *link, union gid_wire_message *message, bool more) {
	message->offers.more = more;
	peer_send(&link->peer, message, NULL, 0);
	gid_wire_begin(message, GID_WIRE_OFFERS, 0);
}

/* All of them, also where that is none. */
static void send_list(struct gidd *gidd, struct link *link) {
	const struct stream *stream;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_OFFERS, 0);
	TAILQ_FOREACH(stream, &gidd->streams, entry) {
		if (!access_may_read_stream(gidd->config, gidd->self, link->remote, stream->name)) {
			continue;
		}
		if (message.offers.count == GID_WIRE_OFFERS_MAX) {
			send_offers(link, &message, true);
		}
		strcpy(message.offers.names[message.offers.count++], stream->name);
	}
	send_offers(link, &message, false);
}

static int handle_due(sd_event_source *source, uint64_t now, void *data) {
	struct gidd *gidd = data;
	struct link *link;
	gidd->offers = sd_event_source_disable_unref(gidd->offers);
	TAILQ_FOREACH(link, &gidd->links, entry) {
		if (link->state == LINK_UP && link->takes_offers) {
			send_list(gidd, link);
		}
	}
	return 0;
}

void offers_changed(struct gidd *gidd) {
	if (gidd->offers == NULL && !TAILQ_EMPTY(&gidd->links)) {
		sd_event_add_time_relative(gidd->event, &gidd->offers, CLOCK_MONOTONIC,
				SEND_EVERY_US, SEND_EVERY_US / 10, handle_due, gidd);
	}
}

void offers_finish(struct gidd *gidd) {
	gidd->offers = sd_event_source_disable_unref(gidd->offers);
}

/* --- of others -------------------------------------------------------------------------------- */

static void list_finish(struct link_offers *list) {
	free(list->names);
	*list = (struct link_offers){0};
}

/* An honest domain has no more streams than `most`, which the configuration lets it have. */
static void list_add(
		struct link_offers *list, const struct gid_wire_offers *offers, uint64_t most) {
	uint64_t room = list->count < most ? most - list->count : 0;
	uint64_t count = offers->count < room ? offers->count : room;
	if (count == 0) {
		return;
	}
	void *names = reallocarray(list->names, list->count + count, sizeof(list->names[0]));
	if (names == NULL) {
		return;
	}
	list->names = names;
	memcpy(list->names + list->count, offers->names, count * sizeof(list->names[0]));
	list->count += (uint32_t)count;
}

void offers_heard(struct link *link, const struct gid_wire_offers *offers) {
	list_add(&link->coming_offers, offers, link->remote->quota[QUOTA_STREAMS]);
	if (!offers->more) {
		list_finish(&link->offers);
		link->offers = link->coming_offers;
		link->coming_offers = (struct link_offers){0};
	}
}

void offers_forget(struct link *link) {
	list_finish(&link->offers);
	list_finish(&link->coming_offers);
}

const char *offers_nth(const struct link *link, uint32_t n) {
	return n < link->offers.count ? link->offers.names[n] : NULL;
}
