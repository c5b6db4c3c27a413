// SPDX-License-Identifier: MIT
/* Leases: what becomes of frames that a consumer keeps for too long. */
#include <errno.h>

#include "stream_pair.h"

#define MS 1000000ull
#define LEASE_MS 200l

static void test_lease(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce(LEASE_MS * MS, 8);
	struct gid_consumer *consumer = consume(4, false, false);
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frame, again;
	gid_id gid = gid_slab_gid(slab, 0);
	long start = cockpit_now_ms();
	send_slot(producer, slab, 0);
	send_slot(producer, slab, 1);
	bool good = gid_consumer_receive(consumer, &frame) == 1;
	struct pollfd fd = {gid_producer_get_fd(producer), POLLIN, 0};
	while (heard.released < 2 && poll(&fd, 1, COCKPIT_PATIENCE_MS) > 0) {
		gid_producer_dispatch(producer);
	}
	long took = cockpit_now_ms() - start;
	tap_ok(good && heard.released == 2, "leases ran out by themselves");
	tap_ok(took >= LEASE_MS, "not before their time (%ld ms)", took);
	tap_ok(!gid_slab_is_current(slab, gid), "what was being read has a new generation");
	tap_ok(gid_slab_is_current(slab, gid_slab_gid(slab, 1)) &&
					gid_generation_of(gid_slab_gid(slab, 1)) == 0,
			"what was not read has not");
	tap_ok(gid_consumer_receive(consumer, &again) == -EAGAIN, "the unread one is taken back");
	tap_ok(gid_consumer_release(consumer, &frame) == 0, "a late release does no harm");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/*
 * Sends a slot twice, to two consumers. One holds the first for too long, and who has the second is
 * in time, unless the machine is so busy that it is not: then there is nothing to judge.
 */
static bool is_spoiled_by_another(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *late, struct gid_consumer *in_time, bool *judged) {
	struct gid_frame held, frame;
	gid_id gid = gid_slab_gid(slab, 2);
	send_slot(producer, slab, 2);
	bool good = gid_consumer_receive(late, &held) == 1;
	cockpit_sleep_ms(LEASE_MS * 3 / 4);
	long again = cockpit_now_ms();
	send_slot(producer, slab, 2);
	good &= gid_consumer_receive(in_time, &frame) == 1 &&
			gid_consumer_release(in_time, &frame) == 0;
	good &= gid_consumer_receive(in_time, &frame) == 1;
	cockpit_sleep_ms(LEASE_MS / 2);
	gid_producer_dispatch(producer);
	bool spoiled = !good || !gid_slab_is_current(slab, gid);
	*judged = cockpit_now_ms() - again < LEASE_MS;
	gid_consumer_release(in_time, &frame);
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			gid_slab_holders(slab, 2) > 0 && cockpit_now_ms() < end;
			cockpit_sleep_ms(20)) {
		gid_producer_dispatch(producer);
	}
	while (gid_consumer_receive(late, &frame) == 1) {
		gid_consumer_release(late, &frame);
	}
	gid_producer_dispatch(producer);
	return spoiled;
}

static void test_lease_of_another(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce(LEASE_MS * MS, 8);
	struct gid_consumer *late = consume(4, false, false), *in_time = consume(4, false, false);
	settle(producer);
	bool judged = false, spoiled = false;
	gid_id gid = GID_NONE;
	for (int i = 0; i < 20 && !judged; i++) {
		gid = gid_slab_gid(slab, 2);
		spoiled = is_spoiled_by_another(producer, slab, late, in_time, &judged);
	}
	tap_ok(judged && !spoiled,
			"a lease that runs out does not spoil the slot for who is in time");
	tap_ok(gid_slab_holders(slab, 2) == 0 && !gid_slab_is_current(slab, gid),
			"but once nobody holds it any more");
	gid_consumer_destroy(in_time);
	gid_consumer_destroy(late);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

int main(void) {
	if (stream_pair_init()) {
		test_lease();
		test_lease_of_another();
	}
	return stream_pair_finish();
}
