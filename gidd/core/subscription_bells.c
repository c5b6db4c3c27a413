// SPDX-License-Identifier: MIT
#include "subscription_bells.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "link.h"

/* How many sleeps of a client per second excuse a ring, as a multiple of what gidd itself hears. */
#define SLEEPS_FACTOR 10u

static bool may_go_past(const struct subscription_ends *ends) {
	return ends->client->takes_doorbells && ends->link->takes_vectors &&
			ends->client->peer.gidd->self->direct;
}

static void send_doorbell(
		const struct subscription_ends *ends, enum gid_wire_doorbell_way way, int fd) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_DOORBELL, 0);
	message.doorbell.subscription = ends->client_number;
	message.doorbell.way = way;
	peer_send(&ends->client->peer, &message, &fd, 1);
}

/* --- hearing ---------------------------------------------------------------------------------- */

void subscription_bells_begin(
		struct subscription_bells *bells, const struct subscription_ends *ends) {
	struct link *link = ends->link;
	if (may_go_past(ends) &&
			doorbell_take(link->peer.gidd, link->peer.domain, ends->client->uid,
					&bells->vector) == 0) {
		bells->hears = true;
		link->direct++;
		send_doorbell(ends, GID_WIRE_DOORBELL_HEAR, bells->vector.fd);
	}
}

/* gidd hears the vector from now on, and rings its client, as without a vector. */
static void relay(struct link *link, struct subscription_bells *bells) {
	if (!bells->relayed) {
		bells->relayed = true;
		link->direct--;
		(void)doorbell_relay(link->peer.gidd, &bells->vector);
	}
}

void subscription_bells_hearing(
		struct subscription_bells *bells, const struct subscription_ends *ends, bool on) {
	if (!bells->hears) {
		return;
	}
	if (!on) {
		peer_log(&ends->client->peer, LOG_LEVEL_WARNING,
				"%s rings for nothing: heard by gidd from now on",
				ends->link->remote->name);
		relay(ends->link, bells);
	} else if (!bells->announced) {
		union gid_wire_message message;
		bells->announced = true;
		gid_wire_begin(&message, GID_WIRE_VECTOR, 0);
		message.vector.subscription = ends->link_number;
		message.vector.vector = bells->vector.index;
		peer_send(&ends->link->peer, &message, NULL, 0);
	}
}

/* --- ringing ---------------------------------------------------------------------------------- */

void subscription_bells_vector(struct subscription_bells *bells,
		const struct subscription_ends *ends, uint32_t vector) {
	const struct peer *link = &ends->link->peer;
	if (!bells->rings && may_go_past(ends) &&
			doorbell_open_ringer(link->gidd, link->domain, vector, ends->client->uid,
					&bells->ring_fd) == 0) {
		bells->rings = true;
		bells->domain = link->domain;
		bells->index = vector;
		send_doorbell(ends, GID_WIRE_DOORBELL_RING, bells->ring_fd);
	}
}

/* --- the end ---------------------------------------------------------------------------------- */

void subscription_bells_end(struct gidd *gidd, struct subscription_bells *bells) {
	if (bells->hears) {
		struct link *link = link_find(gidd, bells->vector.domain);
		if (link != NULL) {
			link->direct -= !bells->relayed;
		}
		doorbell_give_back(gidd, &bells->vector);
	}
	if (bells->rings) {
		doorbell_close_ringer(gidd, bells->domain, bells->index, bells->ring_fd);
	}
	*bells = (struct subscription_bells){0};
}

/* --- storms ----------------------------------------------------------------------------------- */

/*
 * How often the eventfd was ever rung. Reads fdinfo: reading the eventfd could block, as other
 * processes share its file description.
 */
static bool read_count(int fd, uint64_t *count) {
	static const char key[] = "eventfd-count:";
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	int info = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (info >= 0) {
		close(info);
	}
	text[got < 0 ? 0 : got] = '\0';
	const char *found = strstr(text, key);
	if (found == NULL) {
		return false;
	}
	*count = strtoull(found + sizeof(key) - 1, NULL, 16);
	return true;
}

void subscription_bells_poll(struct subscription_bells *bells, const struct subscription_ends *ends,
		uint64_t sleeps) {
	uint64_t now = gid_clock_now() / 1000, count;
	if (!bells->announced || bells->relayed || !read_count(bells->vector.fd, &count)) {
		return;
	}
	/* The client may reset the count by reading it: that harms only the client. */
	uint64_t rings = count < bells->count ? count : count - bells->count;
	uint64_t most = ((now - bells->looked_us) / DOORBELL_BURST_US + 1) * DOORBELL_BURST;
	uint64_t asked = sleeps - bells->sleeps;
	asked = asked < most * SLEEPS_FACTOR ? asked : most * SLEEPS_FACTOR;
	bool storm = bells->looked_us != 0 && rings > asked + most;
	bells->looked_us = now;
	bells->count = count;
	bells->sleeps = sleeps;
	if (storm) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_HEARING, 0);
		message.hearing.subscription = ends->client_number;
		peer_send(&ends->client->peer, &message, NULL, 0);
		peer_log(&ends->link->peer, LOG_LEVEL_WARNING,
				"rings %s %llu times too often: heard by gidd from now on",
				ends->client->program, (unsigned long long)(rings - asked));
		relay(ends->link, bells);
	}
}
