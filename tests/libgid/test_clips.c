// SPDX-License-Identifier: MIT
/* A producer that plays short clips, one after the other: each is asked for as soon as the first.
 */
#include <errno.h>

#include "consumer.h"
#include "stream_pair.h"

#define CLIPS 8
#define SOON_NS 100000000ull /* twice the shortest pause */

static bool is_live(struct gid_producer *producer, const struct gid_consumer *consumer) {
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			gid_consumer_get_state(consumer) != GID_CONSUMER_LIVE &&
			cockpit_now_ms() < end;) {
		cockpit_sleep_ms(2);
		settle(producer);
	}
	return gid_consumer_get_state(consumer) == GID_CONSUMER_LIVE;
}

int main(void) {
	if (!stream_pair_init()) {
		return stream_pair_finish();
	}
	struct gid_slab *slab = make_slab(4);
	struct gid_consumer *consumer = consume(4, false, true);
	uint64_t longest = 0;
	int received = 0;
	for (int i = 0; i < CLIPS; i++) {
		struct gid_producer *producer = produce(0, 4);
		struct gid_frame frame;
		if (!is_live(producer, consumer)) {
			break;
		}
		send_slot(producer, slab, 0);
		received += gid_consumer_receive(consumer, &frame) == 1;
		gid_consumer_release(consumer, &frame);
		gid_producer_destroy(producer);
		while (gid_consumer_receive(consumer, &frame) == -EAGAIN &&
				gid_consumer_get_state(consumer) == GID_CONSUMER_LIVE) {
			settle(NULL);
		}
		longest = consumer->back_off > longest ? consumer->back_off : longest;
	}
	tap_ok(received == CLIPS, "a frame of each of %d clips", received);
	tap_ok(longest <= SOON_NS, "the next one is asked for within %llu ns",
			(unsigned long long)longest);
	gid_consumer_destroy(consumer);
	gid_slab_destroy(slab, false);
	return stream_pair_finish();
}
