// SPDX-License-Identifier: MIT
#include "suspect.h"

#include <stdio.h>
#include <string.h>

#include "link.h"
#include "socket.h"
#include "subscription.h"
#include "window.h"

#define ROUNDS_MAX 10u /* as many as who says nothing at all gets */

/* In the order of the loads: a counter that is loaded first cannot pass one that is loaded later.
 */
static uint64_t look(const uint64_t *word) {
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static bool goes_on(uint64_t *seen, uint64_t now) {
	bool forward = now >= *seen;
	*seen = now;
	return forward;
}

/* What is wrong with a producer's ring, or NULL. */
static const char *judge_ring(struct subscription *subscription) {
	const struct gid_wire_ring *ring = subscription->ring;
	uint64_t floor = look(&ring->floor), tail = look(&ring->tail);
	uint32_t entries = __atomic_load_n(&ring->entries, __ATOMIC_RELAXED);
	uint32_t closed = __atomic_load_n(&ring->closed, __ATOMIC_RELAXED);
	if (look(&ring->magic) != GID_RING_MAGIC || entries != GID_RING_ENTRIES || closed > 1) {
		return "is none";
	}
	if (floor > tail) {
		return "has its floor above its tail";
	}
	bool forward = goes_on(&subscription->seen[0], floor);
	return goes_on(&subscription->seen[1], tail) && forward ? NULL : "goes back";
}

/* What is wrong with a consumer's page, or NULL. It begins with zeroes. */
static const char *judge_page(struct subscription *subscription) {
	const struct gid_wire_page *page = subscription->page;
	uint64_t head = look(&page->head), releases = look(&page->release_tail);
	uint64_t magic = look(&page->magic);
	if (magic != GID_RING_MAGIC && (magic != 0 || head != 0 || releases != 0)) {
		return "is none";
	}
	bool forward = goes_on(&subscription->seen[0], head);
	return goes_on(&subscription->seen[1], releases) && forward ? NULL : "goes back";
}

/* By its number on the link, which is 0 for one that is not the other end's at all. */
static uint32_t judge(
	const struct link *link, struct subscription *subscription, char *why, size_t size) {
	const struct peer *peer = &link->peer;
	const char *what = "ring", *wrong = NULL;
	uint32_t number = 0;
	if (subscription->via == peer && subscription->ring != NULL) {
		number = subscription_number_on_link(subscription, peer);
		wrong = judge_ring(subscription);
	} else if (subscription->consumer == peer) {
		number = subscription->consumer_number;
		what = "page";
		wrong = judge_page(subscription);
	}
	if (wrong == NULL) {
		return 0;
	}
	snprintf(why, size, "broken memory: the %s of %.32s %s", what, subscription->name, wrong);
	return number;
}

void suspect_look_at(struct link *link, struct subscription *subscription) {
	struct suspect *suspect = &link->suspect;
	if (!link->kind->windows_only || link->state != LINK_UP || suspect->subscription != 0) {
		return;
	}
	suspect->subscription = judge(link, subscription, suspect->why, sizeof(suspect->why));
	suspect->since = gid_socket_now();
	suspect->rounds = 0;
}

void suspect_look(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	const char *why = link->state == LINK_UP ? window_judge(gidd, link->peer.domain) : NULL;
	struct subscription *subscription;
	if (link->suspect.subscription != 0 && ++link->suspect.rounds > ROUNDS_MAX) {
		why = link->suspect.why;
	}
	if (why != NULL) {
		link_fault(link, why);
		return;
	}
	TAILQ_FOREACH(subscription, &gidd->registry.subscriptions, entry) {
		suspect_look_at(link, subscription);
	}
}

void suspect_ended(struct link *link, uint32_t number) {
	if (link->suspect.subscription == number) {
		link->suspect.subscription = 0;
	}
}

void suspect_answered(struct link *link, uint64_t ping_time) {
	if (link->suspect.subscription != 0 && ping_time >= link->suspect.since) {
		link->suspect.subscription = 0;
		link_fault(link, link->suspect.why);
	}
}
