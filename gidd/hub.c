// SPDX-License-Identifier: MIT
/*
 * The hub of the guests: passes messages on between domains of different machines. Who sends is
 * known by the stream of bytes that it comes in by, and written into the envelope here. Guests are
 * hostile: one that does not read, or says what it may not, loses its own links and nothing else.
 */
#include "hub.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gidd.h"
#include "log.h"
#include "window.h"

#define BACK_OFF_MIN_US 100000u
#define BACK_OFF_MAX_US 3200000u
#define STABLE_US 10000000u /* who was joined for so long begins with the shortest time again */

/* --- saying ----------------------------------------------------------------------------------- */

static uint64_t now_us(struct hub *hub) {
	uint64_t now = 0;
	sd_event_now(hub->gidd->event, CLOCK_MONOTONIC, &now);
	return now;
}

static struct hub_member *other_end(const struct hub_pair *pair, const struct hub_member *member) {
	return pair->ends[pair->ends[0] == member];
}

/* Tells one end whether the other one is there. */
static void tell(struct hub_pair *pair, struct hub_member *member, const char *why) {
	const struct config_domain *peer = other_end(pair, member)->domain;
	union gid_wire_message message;
	if (!member->joined) {
		return;
	}
	if (member->self) {
		if (pair->up) {
			ivshmem_up(pair->hub->gidd, peer->number, pair->epoch);
		} else {
			ivshmem_down(pair->hub->gidd, peer->number, why);
		}
		return;
	}
	gid_wire_begin(&message, GID_WIRE_PEER, 0);
	message.peer.domain = peer->number;
	message.peer.epoch = pair->epoch;
	message.peer.up = pair->up;
	snprintf(message.peer.why, sizeof(message.peer.why), "%s", why);
	trunk_send(&member->trunk, 0, 0, &message);
}

/* --- faults ----------------------------------------------------------------------------------- */

/* `by`: who says so, which is to be believed as far as that domain is; NULL: we saw it. */
static void note_fault(struct hub_pair *pair, const struct hub_member *of,
	const struct hub_member *by, const char *why) {
	struct hub_faults *faults = &pair->faults[pair->ends[1] == of];
	faults->count++;
	snprintf(faults->last, sizeof(faults->last), "%s%s%.100s",
		by == NULL ? "" : by->domain->name, by == NULL ? "" : " says: ", why);
}

/* --- pairs ------------------------------------------------------------------------------------ */

static void pair_up(struct hub_pair *pair) {
	if (pair->up || !pair->ends[0]->joined || !pair->ends[1]->joined) {
		return;
	}
	sd_event_source_set_enabled(pair->again, SD_EVENT_OFF);
	pair->up = true;
	pair->ups++;
	pair->epoch = ++pair->hub->epoch;
	pair->joined_us = now_us(pair->hub);
	window_mark(pair->hub->gidd, pair->ends[0]->domain);
	window_mark(pair->hub->gidd, pair->ends[1]->domain);
	/* Our own domain comes last: it may begin to talk at once. */
	for (int i = 0; i < 2; i++) {
		tell(pair, pair->ends[pair->ends[0]->self ? !i : i], "");
	}
}

static void pair_down(struct hub_pair *pair, const char *why) {
	if (!pair->up) {
		return;
	}
	pair->up = false;
	snprintf(pair->why, sizeof(pair->why), "%s", why);
	log_info("hub: %s and %s are parted: %s", pair->ends[0]->domain->name,
		pair->ends[1]->domain->name, why);
	if (now_us(pair->hub) - pair->joined_us > STABLE_US) {
		pair->back_off_us = BACK_OFF_MIN_US;
	} else if (pair->back_off_us < BACK_OFF_MAX_US) {
		pair->back_off_us *= 2;
	}
	tell(pair, pair->ends[0], why);
	tell(pair, pair->ends[1], why);
	sd_event_source_set_time_relative(pair->again, pair->back_off_us);
	sd_event_source_set_enabled(pair->again, SD_EVENT_ONESHOT);
}

static int handle_again(sd_event_source *source, uint64_t now, void *data) {
	pair_up(data);
	return 0;
}

static struct hub_pair *find_pair(
	struct hub *hub, const struct hub_member *member, uint32_t domain) {
	struct hub_pair *pair;
	TAILQ_FOREACH(pair, &hub->pairs, entry) {
		if ((pair->ends[0] == member || pair->ends[1] == member) &&
			other_end(pair, member)->domain->number == domain) {
			return pair;
		}
	}
	return NULL;
}

void hub_join(struct hub_member *member) {
	struct hub_pair *pair;
	member->joined = true;
	log_info("hub: domain %s is there", member->domain->name);
	TAILQ_FOREACH(pair, &member->hub->pairs, entry) {
		if (pair->ends[0] == member || pair->ends[1] == member) {
			int waits = SD_EVENT_OFF;
			sd_event_source_get_enabled(pair->again, &waits);
			if (waits == SD_EVENT_OFF) {
				pair_up(pair);
			}
		}
	}
}

void hub_leave(struct hub_member *member, const char *why) {
	struct hub_pair *pair;
	if (!member->joined) {
		return;
	}
	member->joined = false;
	log_warning("hub: domain %s is gone: %s", member->domain->name, why);
	TAILQ_FOREACH(pair, &member->hub->pairs, entry) {
		if (pair->ends[0] == member || pair->ends[1] == member) {
			pair_down(pair, why);
		}
	}
}

void hub_note_fault(struct hub_member *member, const char *why) {
	struct hub_pair *pair;
	link_note_fault(member->hub->gidd, member->domain->number, why);
	TAILQ_FOREACH(pair, &member->hub->pairs, entry) {
		if (pair->up && (pair->ends[0] == member || pair->ends[1] == member)) {
			note_fault(pair, member, NULL, why);
		}
	}
}

/* --- routing ---------------------------------------------------------------------------------- */

static void deliver(struct hub_pair *pair, const struct hub_member *from,
	const union gid_wire_message *message) {
	struct hub_member *to = other_end(pair, from);
	uint32_t source = from->domain->number;
	if (to->self) {
		ivshmem_receive(pair->hub->gidd, source, pair->epoch, message);
	} else if (!from->self && trunk_queued(&to->trunk) > TRUNK_QUEUE_MAX / 2) {
		/* Whichever of the two is to blame: the rest of the queue is for others. */
		pair_down(pair, "more is sent than is read");
	} else {
		trunk_send(&to->trunk, source, pair->epoch, message);
	}
}

static void refuse(
	struct hub_pair *pair, struct hub_member *from, const union gid_wire_message *message) {
	union gid_wire_message answer;
	gid_wire_begin(&answer, GID_WIRE_RESULT, message->header.serial);
	answer.result.error = -ENOENT;
	snprintf(answer.result.text, sizeof(answer.result.text),
		"the host's configuration does not share that with domain %s", from->domain->name);
	if (from->self) {
		ivshmem_receive(pair->hub->gidd, other_end(pair, from)->domain->number, pair->epoch,
			&answer);
	} else {
		trunk_send(
			&from->trunk, other_end(pair, from)->domain->number, pair->epoch, &answer);
	}
}

void hub_route(struct hub_member *from, const struct gid_wire_envelope *envelope,
	const union gid_wire_message *message) {
	struct hub_pair *pair = find_pair(from->hub, from, envelope->domain);
	const char *why;
	if (pair == NULL || !pair->up || envelope->epoch != pair->epoch) {
		return; /* said before it heard that the other one is gone */
	}
	switch (hub_check(from->hub->gidd->config, from->domain, other_end(pair, from)->domain,
		message, &why)) {
	case HUB_PASS:
		deliver(pair, from, message);
		break;
	case HUB_REFUSE:
		refuse(pair, from, message);
		break;
	case HUB_BREAK:
		log_warning("hub: domain %s: protocol violation: %s", from->domain->name, why);
		note_fault(pair, from, NULL, why);
		if (other_end(pair, from)->self) {
			link_note_fault(from->hub->gidd, from->domain->number, why);
		}
		pair_down(pair, why);
		break;
	}
}

void hub_peer(struct hub_member *from, const struct gid_wire_peer *peer) {
	struct hub_pair *pair = find_pair(from->hub, from, peer->domain);
	if (pair != NULL && pair->up && peer->epoch == pair->epoch && peer->up == 0) {
		if (peer->fault == 1) {
			note_fault(pair, other_end(pair, from), from, peer->why);
		}
		pair_down(pair, peer->why);
	}
}

/* --- our own domain --------------------------------------------------------------------------- */

static struct hub_member *find_self(struct hub *hub) {
	struct hub_member *member;
	TAILQ_FOREACH(member, &hub->members, entry) {
		if (member->self) {
			break;
		}
	}
	return member;
}

void hub_send(
	struct hub *hub, uint32_t domain, uint32_t epoch, const union gid_wire_message *message) {
	const struct hub_member *self = find_self(hub);
	struct hub_pair *pair = find_pair(hub, self, domain);
	if (pair != NULL && pair->up && pair->epoch == epoch) {
		deliver(pair, self, message);
	}
}

void hub_part(struct hub *hub, uint32_t domain, uint32_t epoch, bool fault, const char *why) {
	const struct hub_member *self = find_self(hub);
	struct hub_pair *pair = find_pair(hub, self, domain);
	if (pair != NULL && pair->up && pair->epoch == epoch) {
		if (fault) {
			note_fault(pair, other_end(pair, self), NULL, why);
		}
		pair_down(pair, why);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

static int pair_create(struct hub *hub, struct hub_member *one, struct hub_member *other) {
	struct hub_pair *pair = calloc(1, sizeof(*pair));
	if (pair == NULL) {
		return -ENOMEM;
	}
	pair->hub = hub;
	pair->ends[0] = one;
	pair->ends[1] = other;
	pair->back_off_us = BACK_OFF_MIN_US;
	snprintf(pair->why, sizeof(pair->why), "not there yet");
	int error = sd_event_add_time_relative(hub->gidd->event, &pair->again, CLOCK_MONOTONIC, 0,
		BACK_OFF_MIN_US / 20, handle_again, pair);
	if (error < 0) {
		free(pair);
		return error;
	}
	sd_event_source_set_enabled(pair->again, SD_EVENT_OFF);
	TAILQ_INSERT_TAIL(&hub->pairs, pair, entry);
	return 0;
}

static int make_pairs(struct hub *hub) {
	struct hub_member *one, *other;
	TAILQ_FOREACH(one, &hub->members, entry) {
		for (other = TAILQ_NEXT(one, entry); other != NULL;
			other = TAILQ_NEXT(other, entry)) {
			int error = config_is_remote(hub->gidd->config, one->domain, other->domain)
				? pair_create(hub, one, other)
				: 0;
			if (error < 0) {
				return error;
			}
		}
	}
	return 0;
}

int hub_open(struct gidd *gidd) {
	struct hub *hub = calloc(1, sizeof(*hub));
	if (hub == NULL) {
		return -ENOMEM;
	}
	hub->gidd = gidd;
	TAILQ_INIT(&hub->members);
	TAILQ_INIT(&hub->pairs);
	gidd->hub = hub;
	int error = window_make_all(gidd);
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &gidd->config->domains, entry) {
		if (error == 0 && config_has_window(gidd->config, domain)) {
			error = hub_member_open(hub, domain);
		}
	}
	return error < 0 ? error : make_pairs(hub);
}

void hub_close(struct hub *hub) {
	struct hub_pair *pair;
	struct hub_member *member;
	while ((pair = TAILQ_FIRST(&hub->pairs)) != NULL) {
		TAILQ_REMOVE(&hub->pairs, pair, entry);
		sd_event_source_disable_unref(pair->again);
		free(pair);
	}
	while ((member = TAILQ_FIRST(&hub->members)) != NULL) {
		TAILQ_REMOVE(&hub->members, member, entry);
		hub_member_close(member);
	}
	free(hub);
}
