// SPDX-License-Identifier: MIT
/* What a consumer holds: leases that it renews, what was taken from it, and copies that stay. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream_pair.h"

#define MS 1000000ull
#define LEASE_MS 200l
#define LONG_LEASE_MS 3000l /* no pause of a busy machine is as long */

struct held {
	struct gid_slab *own, *slab; /* the producer's, and the consumer's view of it */
	struct gid_producer *producer;
	struct gid_consumer *consumer;
	struct gid_frame frame; /* slot 0, received, and not what the stream shows */
	uint64_t renewed[2];	/* its lease, last: before and after the call, ns */
};

static void fill(struct gid_slab *slab, uint32_t slot, int with) {
	memset(gid_slab_data(slab, slot), with, 256 * 16);
}

static bool hold_first(struct held *held, long lease_ms) {
	held->own = make_slab(4);
	held->producer = produce((uint64_t)lease_ms * MS, 8);
	held->consumer = consume(4, false, false);
	settle(held->producer);
	for (uint32_t i = 0; i < 2; i++) {
		fill(held->own, i, 10 + (int)i);
		send_slot(held->producer, held->own, i);
	}
	return tap_ok(gid_consumer_receive(held->consumer, &held->frame) == 1 &&
					gid_slab_import(cluster_domain, held->frame.gid,
							&held->slab) == 0,
			"a frame is held");
}

static void finish(struct held *held) {
	gid_slab_unref(held->slab);
	gid_consumer_destroy(held->consumer);
	gid_producer_destroy(held->producer);
	gid_slab_destroy(held->own, false);
	settle(NULL);
}

static int holds(const struct held *held) {
	return gid_consumer_holds(held->consumer, &held->frame, held->slab, NULL);
}

static void pass_time(struct held *held, long ms, bool renew) {
	for (long end = cockpit_now_ms() + ms; cockpit_now_ms() < end; cockpit_sleep_ms(5)) {
		if (renew) {
			held->renewed[0] = gid_clock_now();
			gid_consumer_renew(held->consumer);
			held->renewed[1] = gid_clock_now();
		}
		gid_producer_dispatch(held->producer);
	}
}

static void test_renewed(void) {
	struct held held;
	struct gid_producer_stats stats;
	struct gid_consumer_stats told;
	unsigned char copy[256 * 16];
	uint64_t until = 0;
	if (!hold_first(&held, LEASE_MS)) {
		return;
	}
	gid_consumer_get_stats(held.consumer, &told);
	tap_ok(told.lease_ns == LEASE_MS * MS && told.credit == 4 && told.unread == 1,
			"the consumer is told of lease and credit, and what is unread");
	tap_ok(gid_consumer_holds(held.consumer, &held.frame, held.slab, &until) == 0 &&
					until == held.frame.submit_time + LEASE_MS * MS,
			"and until when a frame is its own");
	pass_time(&held, 4 * LEASE_MS, true);
	gid_producer_get_stats(held.producer, &stats);
	tap_ok(holds(&held) == 0 && stats.leases_expired == 0,
			"who renews its leases keeps what it holds");
	tap_ok(gid_consumer_holds(held.consumer, &held.frame, held.slab, &until) == 0 &&
					until >= held.renewed[0] + LEASE_MS * MS &&
					until <= held.renewed[1] + LEASE_MS * MS,
			"for a lease each time");
	tap_ok(gid_consumer_keep(held.consumer, &held.frame, held.slab, copy) == 0 &&
					copy[0] == 10 && copy[sizeof(copy) - 1] == 10,
			"and can copy it");
	struct gid_frame unread;
	tap_ok(gid_consumer_receive(held.consumer, &unread) == 1, "what is shown can be received");
	gid_consumer_release(held.consumer, &unread);

	pass_time(&held, 3 * LEASE_MS, false);
	gid_producer_get_stats(held.producer, &stats);
	tap_ok(stats.leases_expired == 1 && holds(&held) == -ESTALE,
			"who does not any more loses it, and knows");
	tap_ok(gid_consumer_keep(held.consumer, &held.frame, held.slab, copy) == -ESTALE,
			"also that a copy came too late");
	gid_consumer_renew(held.consumer);
	for (uint32_t i = 0; i < 80; i++) {
		send_slot(held.producer, held.own, 2 + i % 2);
		while (gid_consumer_receive(held.consumer, &unread) == 1) {
			gid_consumer_release(held.consumer, &unread);
		}
	}
	tap_ok(holds(&held) == -ESTALE, "even when others came to its place");
	finish(&held);
}

/* As that of a program whose threads all stand still for a while. */
static void test_unread_is_not_renewed(void) {
	struct held held;
	struct gid_producer_stats stats;
	if (!hold_first(&held, LEASE_MS)) {
		return;
	}
	send_slot(held.producer, held.own, 2);
	pass_time(&held, 3 * LEASE_MS, true);
	gid_producer_get_stats(held.producer, &stats);
	tap_ok(stats.dropped == 1 && gid_slab_holders(held.own, 1) == 0 && holds(&held) == 0,
			"what was never read goes back all the same");
	finish(&held);
}

static void lack_memory(struct held *held, long ms) {
	for (long end = cockpit_now_ms() + ms; cockpit_now_ms() < end;) {
		gid_producer_lacks_memory(held->producer);
		pass_time(held, 5, true);
	}
}

static void test_memory_is_short(void) {
	struct held held;
	if (!hold_first(&held, LONG_LEASE_MS)) {
		return;
	}
	lack_memory(&held, 100);
	tap_ok(holds(&held) == 0, "a producer that lacks memory waits for a while");
	long since = cockpit_now_ms(), end = since + COCKPIT_PATIENCE_MS;
	send_slot(held.producer, held.own, 2);
	while (holds(&held) == 0 && cockpit_now_ms() < end) {
		lack_memory(&held, 5);
		send_slot(held.producer, held.own, 2); /* a sign of life */
	}
	long waited = cockpit_now_ms() - since;
	tap_ok(waited >= LONG_LEASE_MS, "a lease, from its last other picture on (%ld ms)", waited);
	tap_ok(holds(&held) == -ESTALE && gid_slab_holders(held.own, 0) == 0,
			"but not for longer, whoever says that it lives");
	finish(&held);
}

static void test_over(void) {
	struct held held;
	if (!hold_first(&held, LEASE_MS)) {
		return;
	}
	struct gid_producer *producer = held.producer;
	held.producer = NULL;
	gid_producer_destroy(producer);
	settle(NULL);
	struct gid_frame frame;
	while (gid_consumer_receive(held.consumer, &frame) == 1) {
		gid_consumer_release(held.consumer, &frame);
	}
	tap_ok(holds(&held) == -ENOTCONN && gid_consumer_renew(held.consumer) == -ENOTCONN,
			"with the stream's end there is nothing to renew");
	finish(&held);
}

int main(void) {
	if (stream_pair_init()) {
		test_renewed();
		test_unread_is_not_renewed();
		test_memory_is_short();
		test_over();
	}
	return stream_pair_finish();
}
