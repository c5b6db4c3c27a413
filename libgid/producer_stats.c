// SPDX-License-Identifier: MIT
/** What can be asked of a producer, and what it is told to count. */
#include "producer.h"

bool gid_producer_needs_window(const struct gid_producer *producer) {
	const struct gid_subscription *sub = producer->subscriptions;
	while (sub != NULL && (sub->dead || !sub->remote)) {
		sub = sub->next;
	}
	return sub != NULL;
}

uint32_t gid_producer_consumers(const struct gid_producer *producer) {
	return producer->consumers;
}

void gid_producer_count_copy(struct gid_producer *producer, uint64_t bytes) {
	producer->stats.copied_frames++;
	producer->stats.copied_bytes += bytes;
}

uint32_t gid_producer_room(const struct gid_producer *producer) {
	uint32_t least = UINT32_MAX;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint32_t room = sub->dead ? UINT32_MAX : gid_ring_room(&sub->ring);
		least = room < least ? room : least;
	}
	return least;
}

uint32_t gid_producer_unread(const struct gid_producer *producer) {
	uint32_t most = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint32_t unread = sub->dead ? 0 : gid_ring_unread(&sub->ring);
		most = unread > most ? unread : most;
	}
	return most;
}

static bool is_in_flight(const struct gid_subscription *until, const struct gid_subscription *first,
	gid_id gid, uint32_t before) {
	for (const struct gid_subscription *sub = first; sub != NULL; sub = sub->next) {
		uint32_t end = sub == until ? before : GID_RING_ENTRIES;
		for (uint32_t i = 0; i < end; i++) {
			if (sub->ring.sent[i].in_flight && sub->ring.sent[i].gid == gid) {
				return true;
			}
		}
		if (sub == until) {
			break;
		}
	}
	return false;
}

/* Slots that at least one consumer has: each counts where it is first found. */
static uint32_t count_held(const struct gid_producer *producer) {
	uint32_t count = 0;
	for (const struct gid_subscription *sub = producer->subscriptions; sub != NULL;
		sub = sub->next) {
		for (uint32_t i = 0; i < GID_RING_ENTRIES && sub->ring.pictures > 0; i++) {
			const struct gid_ring_sent *sent = &sub->ring.sent[i];
			count += sent->in_flight && sent->gid != GID_NONE &&
				!is_in_flight(sub, producer->subscriptions, sent->gid, i);
		}
	}
	return count;
}

void gid_producer_get_stats(
	const struct gid_producer *producer, struct gid_producer_stats *stats) {
	*stats = producer->stats;
	stats->consumers = producer->consumers;
	stats->held = count_held(producer);
}
