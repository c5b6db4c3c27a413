// SPDX-License-Identifier: MIT
/* Each single lie that an end of a ring can tell the other, and exactly what comes of it. */
#include <errno.h>

#include "lies.h"
#include "tap.h"

static struct ring_pair pair;

/* Both ends with `sent` frames, of which the consumer took and gave back some. */
static void begin(uint32_t sent, uint32_t received, uint32_t released) {
	struct gid_wire_frame frame;
	ring_pair_finish(&pair);
	ring_pair_init(&pair, GID_CREDIT_MAX);
	for (uint64_t i = 0; i < sent; i++) {
		fill_numbered(&frame, i * 7 + 1);
		gid_ring_send(&pair.producer, &frame, NULL, i);
	}
	for (uint64_t i = 0; i < received; i++) {
		gid_ring_receive(&pair.consumer, &frame);
	}
	for (uint64_t i = 0; i < released; i++) {
		gid_ring_release(&pair.consumer, i);
	}
}

static void test_lies_of_consumers(void) {
	struct gid_ring_sent sent;
	begin(8, 4, 0);
	poke(&pair.page->releases[0], 8);
	poke(&pair.page->release_tail, 1);
	tap_ok(gid_ring_collect(&pair.producer, &sent) == -EPROTO,
			"a release of what was never sent");
	begin(8, 4, 0);
	poke(&pair.page->releases[0], UINT64_MAX);
	poke(&pair.page->release_tail, 1);
	tap_ok(gid_ring_collect(&pair.producer, &sent) == -EPROTO, "a release of index 2^64-1");
	begin(8, 4, 0);
	poke(&pair.page->releases[0], 4);
	poke(&pair.page->release_tail, 1);
	tap_ok(gid_ring_collect(&pair.producer, &sent) == -EPROTO,
			"a release of what was not claimed");
	begin(8, 4, 1);
	poke(&pair.page->releases[1], 0);
	poke(&pair.page->release_tail, 2);
	tap_ok(gid_ring_collect(&pair.producer, &sent) == 1 && sent.index == 0 &&
					gid_ring_collect(&pair.producer, &sent) == 0 &&
					pair.producer.in_flight == 7,
			"a second release of one frame does nothing");
	begin(8, 4, 0);
	poke(&pair.page->release_tail, 9);
	tap_ok(gid_ring_collect(&pair.producer, &sent) == -EPROTO, "more releases than frames");
	begin(8, 4, 0);
	poke(&pair.page->release_tail, UINT64_MAX);
	tap_ok(gid_ring_collect(&pair.producer, &sent) == -EPROTO, "2^64-1 releases");
	begin(8, 4, 4);
	while (gid_ring_collect(&pair.producer, &sent) == 1) {
	}
	poke(&pair.page->release_tail, 3);
	tap_ok(gid_ring_collect(&pair.producer, &sent) == -EPROTO, "fewer releases than before");
	begin(8, 4, 0);
	poke(&pair.page->head, 9);
	tap_ok(gid_ring_oldest_unread(&pair.producer, &sent) == -EPROTO,
			"a claim of what was never sent");
	tap_ok(gid_ring_take_back(&pair.producer, 8, &sent) == -EPROTO,
			"the same when it is taken back");
	begin(8, 4, 0);
	gid_ring_poll_claims(&pair.producer);
	poke(&pair.page->head, 3);
	tap_ok(gid_ring_poll_claims(&pair.producer) == -EPROTO, "a claim that is taken back");

	/* More than 256 releases that nobody looked at can only be of a consumer that lies. */
	struct gid_wire_frame frame;
	begin(0, 0, 0);
	for (uint64_t i = 0; i < 300; i++) {
		fill_numbered(&frame, i * 7 + 1);
		gid_ring_send(&pair.producer, &frame, NULL, i);
		gid_ring_oldest(&pair.producer, &sent);
		gid_ring_take_by_force(&pair.producer, sent.index, &sent);
	}
	poke(&pair.page->release_tail, GID_RING_RELEASES + 1);
	tap_ok(gid_ring_collect(&pair.producer, &sent) == -EPROTO, "257 releases at once");

	/* Every `asleep` of a flood rings at most once. */
	begin(1, 0, 0);
	poke(&pair.page->asleep, 7);
	tap_ok(gid_ring_should_wake_consumer(&pair.producer) &&
					!gid_ring_should_wake_consumer(&pair.producer),
			"one doorbell a sleep");
}

static void test_lies_of_producers(void) {
	struct gid_wire_frame frame;
	begin(4, 4, 0);
	poke(&pair.ring->tail, 3);
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == -EPROTO, "fewer frames than before");
	begin(4, 2, 0);
	poke(&pair.ring->floor, 5);
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == -EPROTO,
			"more taken back than were sent");
	begin(4, 2, 0);
	poke(&pair.ring->frames_ring[2].index, 3);
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == -EPROTO,
			"an entry with another's index");
	begin(4, 4, 0);
	poke(&pair.ring->frames_ring[0].index, 64);
	poke(&pair.ring->tail, 65);
	for (uint64_t i = 4; i < 64; i++) {
		poke(&pair.ring->frames_ring[i].index, i);
	}
	int got = 1;
	for (int i = 0; i < 60 && got == 1; i++) {
		got = gid_ring_receive(&pair.consumer, &frame);
		gid_ring_release(&pair.consumer, frame.index);
	}
	tap_ok(got == 1 && gid_ring_receive(&pair.consumer, &frame) == -EPROTO,
			"the place of a frame that is held is filled again");
	begin(0, 0, 0);
	poke(&pair.ring->tail, UINT64_MAX);
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == 1 ||
					pair.consumer.head <= 2 * GID_RING_ENTRIES,
			"2^64-1 frames end after a while");
	begin(0, 0, 0);
	poke(&pair.ring->tail, UINT64_MAX);
	poke(&pair.ring->floor, UINT64_MAX);
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == 0,
			"2^64-1 frames that were all taken back");
	begin(0, 0, 0);
	poke(&pair.ring->tail, UINT64_MAX);
	poke(&pair.ring->floor, UINT64_MAX - 1);
	poke(&pair.ring->frames_ring[62].index, UINT64_MAX - 1);
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == 1 && frame.index == UINT64_MAX - 1 &&
					gid_ring_release(&pair.consumer, UINT64_MAX) == -EINVAL &&
					gid_ring_release(&pair.consumer, frame.index) == 0,
			"the last index there is");
}

int main(void) {
	test_lies_of_consumers();
	test_lies_of_producers();
	ring_pair_finish(&pair);
	return tap_finish();
}
