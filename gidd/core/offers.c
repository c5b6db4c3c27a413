// SPDX-License-Identifier: MIT
#include "offers.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "link.h"
#include "seal.h"
#include "subscriptions.h"

/* Programs can publish and end streams as fast as they like; links are told at this interval. */
#define SEND_EVERY_US 100000u

/* --- our streams ------------------------------------------------------------------------------ */

static void send_offers(struct link *link, union gid_wire_message *message, bool more) {
	message->offers.more = more;
	peer_send(&link->peer, message, NULL, 0);
	gid_wire_begin(message, GID_WIRE_OFFERS, 0);
}

/* Sends the list even if it is empty. */
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
	TAILQ_FOREACH(link, &gidd->links, entry) {
		if (link->state == LINK_UP && link->takes_offers) {
			send_list(gidd, link);
		}
	}
	return 0;
}

/* The timer is created once: a stream may end while the seal forbids allocations. */
void offers_changed(struct gidd *gidd) {
	int state = SD_EVENT_ONESHOT;
	if (TAILQ_EMPTY(&gidd->links)) {
		return;
	}
	if (gidd->offers == NULL) {
		sd_event_add_time_relative(gidd->event, &gidd->offers, CLOCK_MONOTONIC,
				SEND_EVERY_US, SEND_EVERY_US / 10, handle_due, gidd);
		return;
	}
	sd_event_source_get_enabled(gidd->offers, &state);
	if (state == SD_EVENT_OFF) {
		sd_event_source_set_time_relative(gidd->offers, SEND_EVERY_US);
		sd_event_source_set_enabled(gidd->offers, SD_EVENT_ONESHOT);
	}
}

void offers_finish(struct gidd *gidd) {
	gidd->offers = sd_event_source_disable_unref(gidd->offers);
}

/* --- streams of other domains ----------------------------------------------------------------- */

static void list_finish(struct link_offers *list) {
	free(list->names);
	*list = (struct link_offers){0};
}

/* A link keeps the memory of both lists from one OFFERS to the next. False: out of memory. */
static bool list_reserve(struct link_offers *list, uint64_t count, bool sealed) {
	if (count <= list->room) {
		return true;
	}
	void *names = sealed ? NULL : reallocarray(list->names, count, sizeof(list->names[0]));
	if (names == NULL) {
		return false;
	}
	list->names = names;
	list->room = (uint32_t)count;
	return true;
}

/* An honest domain has at most `most` streams, its limit in the configuration. */
static void list_add(struct link_offers *list, const struct gid_wire_offers *offers, uint64_t most,
		bool sealed) {
	uint64_t left = list->count < most ? most - list->count : 0;
	uint64_t count = offers->count < left ? offers->count : left;
	if (count > 0 && list_reserve(list, list->count + count, sealed)) {
		memcpy(list->names + list->count, offers->names, count * sizeof(list->names[0]));
		list->count += (uint32_t)count;
	}
}

/* While sealed, names without room are dropped: nobody could subscribe to those streams. */
void offers_heard(struct link *link, const struct gid_wire_offers *offers) {
	bool sealed = seal_is_on(link->peer.gidd);
	list_add(&link->coming_offers, offers, link->remote->quota[QUOTA_STREAMS], sealed);
	if (!offers->more) {
		struct link_offers old = link->offers;
		link->offers = link->coming_offers;
		link->coming_offers = old;
		link->coming_offers.count = 0;
		(void)list_reserve(&link->coming_offers, link->offers.room, sealed);
	}
}

void offers_forget(struct link *link) {
	list_finish(&link->offers);
	list_finish(&link->coming_offers);
}

const char *offers_nth(const struct link *link, uint32_t n) {
	return n < link->offers.count ? link->offers.names[n] : NULL;
}
