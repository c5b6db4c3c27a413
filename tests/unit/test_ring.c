// SPDX-License-Identifier: MIT
/* Both ends of a ring, step by step, without any concurrency. */
#include <errno.h>

#include "ring_pair.h"
#include "tap.h"

/* A frame that is held for long stops nothing: its place is left out. */
static void test_long_hold(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 4);
	struct gid_wire_frame frame, held[2];
	struct gid_ring_sent sent;
	bool good = true;
	for (uint64_t sequence = 1; sequence <= 1000; sequence++) {
		fill_frame(&frame, gid_make(1, 1, sequence % 8, 0), sequence);
		good &= gid_ring_send(&pair.producer, &frame, NULL, sequence) == 1;
		good &= gid_ring_receive(&pair.consumer, &frame) == 1 && frame.sequence == sequence;
		if (sequence <= 2) {
			held[sequence - 1] = frame;
		} else {
			good &= gid_ring_release(&pair.consumer, frame.index) == 0;
			good &= gid_ring_collect(&pair.producer, &sent) == 1 &&
					sent.index == frame.index;
		}
	}
	tap_ok(good && pair.consumer.held == 2 && pair.producer.in_flight == 2,
			"998 frames pass by two that are held");
	good = gid_ring_release(&pair.consumer, held[1].index) == 0 &&
			gid_ring_release(&pair.consumer, held[0].index) == 0 &&
			gid_ring_release(&pair.consumer, held[0].index) == -EINVAL;
	good &= gid_ring_collect(&pair.producer, &sent) == 1 && sent.time == 2;
	good &= gid_ring_collect(&pair.producer, &sent) == 1 && sent.time == 1;
	tap_ok(good && pair.producer.in_flight == 0, "and these two can be given back, once");
	ring_pair_finish(&pair);
}

/* What a consumer that slept while its frames were replaced finds, without any concurrency. */
static void test_drop_old_in_steps(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 3);
	struct gid_wire_frame frame;
	struct gid_ring_sent oldest, taken;
	uint32_t dropped = 0;
	for (uint64_t sequence = 1; sequence <= 1000; sequence++) {
		fill_frame(&frame, gid_make(1, 1, sequence % 8, 0), sequence);
		if (gid_ring_send(&pair.producer, &frame, NULL, sequence) == 0) {
			gid_ring_oldest_unread(&pair.producer, &oldest);
			dropped += gid_ring_take_back(&pair.producer, oldest.index + 1, &taken) ==
					1;
			gid_ring_send(&pair.producer, &frame, NULL, sequence);
		}
	}
	bool good = dropped == 997;
	for (uint64_t sequence = 998; sequence <= 1000; sequence++) {
		good &= gid_ring_receive(&pair.consumer, &frame) == 1 && frame.sequence == sequence;
	}
	good &= gid_ring_receive(&pair.consumer, &frame) == 0;
	tap_ok(good, "a consumer that slept finds the newest three of a thousand");
	fill_frame(&frame, gid_make(1, 1, 0, 0), 1001);
	tap_ok(gid_ring_send(&pair.producer, &frame, NULL, 1001) == 0 &&
					gid_ring_oldest_unread(&pair.producer, &oldest) == 0,
			"what it holds is not dropped: it misses the next");
	fill_frame(&frame, GID_NONE, 1002);
	tap_ok(gid_ring_send(&pair.producer, &frame, NULL, 1002) == 1 &&
					gid_ring_receive(&pair.consumer, &frame) == 1 &&
					frame.sequence == 1002,
			"but it hears of the end, which needs no credit");
	ring_pair_finish(&pair);
}

/* What comes between the last look and the sleep has not rung: falling asleep must see it. */
static void test_sleep_in_steps(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 3);
	struct gid_wire_frame frame;
	struct gid_ring_sent sent;
	fill_frame(&frame, gid_make(1, 1, 0, 0), 1);
	bool good = gid_ring_receive(&pair.consumer, &frame) == 0;
	fill_frame(&frame, gid_make(1, 1, 0, 0), 1);
	good &= gid_ring_send(&pair.producer, &frame, NULL, 1) == 1;
	tap_ok(good && !gid_ring_should_wake_consumer(&pair.producer) &&
					gid_ring_consumer_sleep(&pair.consumer),
			"a consumer does not sleep over a frame that did not ring");
	gid_ring_consumer_wake(&pair.consumer);
	good = gid_ring_receive(&pair.consumer, &frame) == 1 &&
			gid_ring_collect(&pair.producer, &sent) == 0;
	good &= gid_ring_release(&pair.consumer, frame.index) == 0;
	tap_ok(good && !gid_ring_should_wake_producer(&pair.consumer) &&
					gid_ring_producer_sleep(&pair.producer),
			"nor a producer over a release");
	ring_pair_finish(&pair);
}

/* Beside their entries, and whole. */
static void test_notes(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 4);
	struct gid_wire_frame frame;
	struct gid_ring_sent sent;
	bool good = true;
	for (uint32_t size = 0; size <= GID_NOTE_MAX; size++) {
		uint8_t note[GID_NOTE_MAX];
		memset(note, (int)size, sizeof(note));
		fill_frame(&frame, gid_make(1, 1, size % 8, 0), size + 1);
		frame.note_size = size;
		good &= gid_ring_send(&pair.producer, &frame, note, 1) == 1;
		good &= gid_ring_receive(&pair.consumer, &frame) == 1 && frame.note_size == size &&
				memcmp(&pair.consumer.note, note, size) == 0;
		good &= gid_ring_release(&pair.consumer, frame.index) == 0 &&
				gid_ring_collect(&pair.producer, &sent) == 1;
	}
	tap_ok(good, "notes of all sizes come with their frames");
	fill_frame(&frame, gid_make(1, 1, 0, 0), 1);
	gid_ring_send(&pair.producer, &frame, NULL, 1);
	uint64_t place = (pair.producer.tail - 1) % GID_RING_ENTRIES;
	pair.ring->frames_ring[place].note_size = UINT32_MAX;
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == 1,
			"of one that is too long a part is read");
	ring_pair_finish(&pair);
}

int main(void) {
	test_long_hold();
	test_notes();
	test_sleep_in_steps();
	test_drop_old_in_steps();
	return tap_finish();
}
