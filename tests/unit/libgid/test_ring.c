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

/* There is one ring for each sleep, and a futex keeps none that comes before the sleep. */
static void test_ring_for_what_is_new(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 3);
	struct gid_wire_frame frame;
	fill_frame(&frame, gid_make(1, 1, 0, 0), 1);
	bool good = gid_ring_send(&pair.producer, &frame, NULL, 1) == 1;
	good &= gid_ring_receive(&pair.consumer, &frame) == 1 &&
			gid_ring_receive(&pair.consumer, &frame) == 0;
	good &= !gid_ring_consumer_sleep(&pair.consumer);
	tap_ok(good && !gid_ring_should_wake_consumer(&pair.producer),
			"a consumer is not rung for a frame that it has seen");
	fill_frame(&frame, gid_make(1, 1, 1, 0), 2);
	good = gid_ring_send(&pair.producer, &frame, NULL, 1) == 1;
	tap_ok(good && gid_ring_should_wake_consumer(&pair.producer) &&
					!gid_ring_should_wake_consumer(&pair.producer),
			"but for the next one, once");
	ring_pair_finish(&pair);
}

/* `note_size` is the last of the second line. */
static void lie_of_note(struct ring_pair *pair, uint64_t place) {
	pair->ring->more_ring[place].words[7] = UINT64_MAX;
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
				memcmp(&pair.consumer.notes[0], note, size) == 0;
		good &= gid_ring_release(&pair.consumer, frame.index) == 0 &&
				gid_ring_collect(&pair.producer, &sent) == 1;
	}
	tap_ok(good, "notes of all sizes come with their frames");
	fill_frame(&frame, gid_make(1, 1, 0, 0), 1);
	gid_ring_send(&pair.producer, &frame, NULL, 1);
	uint64_t place = (pair.producer.tail - 1) % pair.producer.entries;
	lie_of_note(&pair, place);
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == 1,
			"of one that is too long a part is read");
	ring_pair_finish(&pair);
}

/* Some by themselves, with a second line, and the rest together. */
static uint32_t put_many(struct ring_pair *pair, uint64_t first, uint32_t count) {
	uint32_t put = 0;
	for (uint32_t i = 0; i < count / 2; i++) {
		struct gid_wire_frame frame;
		fill_frame(&frame, gid_make(1, 1, (first + i) % 64, 0), first + i);
		put += gid_ring_put(&pair->producer, &frame, NULL, first + i) == 1;
	}
	first += count / 2;
	return put +
			gid_ring_put_lines(&pair->producer, count - count / 2, make_line, &first,
					first);
}

/* Many at once: unseen before they are published, and each as if it had come by itself. */
static void test_burst(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 40);
	struct gid_wire_frame frames[GID_BURST_MAX];
	struct gid_ring_sent sent;
	tap_ok(put_many(&pair, 1, 50) == 40, "a burst has the room that there is credit for");
	tap_ok(gid_ring_receive_burst(&pair.consumer, frames, 99) == 0, "nobody sees it yet");
	gid_ring_publish(&pair.producer);
	int first = gid_ring_receive_burst(&pair.consumer, frames, 99);
	bool good = first == (int)GID_BURST_MAX;
	for (int i = 0; good && i < first; i++) {
		good &= frames[i].sequence == (uint64_t)i + 1;
		good &= frames[i].pts == frames[i].sequence * 5 && frames[i].more == (i < 25);
		good &= gid_ring_put_back(&pair.consumer, frames[i].index) == 0;
	}
	tap_ok(good, "%d come at once, in their order", first);
	tap_ok(gid_ring_put_back(&pair.consumer, frames[0].index) == -EINVAL,
			"each goes back once");
	tap_ok(gid_ring_collect(&pair.producer, &sent) == 0, "the producer does not know it yet");
	gid_ring_publish_releases(&pair.consumer);
	int back = 0;
	while (gid_ring_collect(&pair.producer, &sent) == 1) {
		back++;
	}
	tap_ok(back == first && pair.producer.in_flight == 8, "%d came back", back);
	tap_ok(gid_ring_receive_burst(&pair.consumer, frames, 99) == 8, "the rest comes");
	ring_pair_finish(&pair);
}

/* A second line is written and read only where it says something. */
static void test_second_line(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 4);
	struct gid_wire_frame sent = {.gid = gid_make(1, 1, 0, 0), .sequence = 1, .pts = 5}, frame;
	memset(pair.ring->more_ring, 0x5a, sizeof(pair.ring->more_ring));
	bool good = gid_ring_send(&pair.producer, &sent, NULL, 1) == 1 &&
			gid_ring_receive(&pair.consumer, &frame) == 1;
	tap_ok(good && memcmp(&frame, &sent, sizeof(frame)) == 0 &&
					pair.ring->more_ring[0].words[0] == 0x5a5a5a5a5a5a5a5a,
			"an entry of one line leaves the second one alone");
	good = true;
	for (uint64_t word = 8; word < 16; word++) {
		struct gid_ring_sent back;
		sent = (struct gid_wire_frame){.gid = gid_make(1, 1, 0, 0), .more = 1};
		memcpy((uint64_t *)&sent + word, &(uint64_t){1}, sizeof(uint64_t));
		good &= gid_ring_send(&pair.producer, &sent, NULL, 1) == 1 &&
				gid_ring_receive(&pair.consumer, &frame) == 1;
		sent.index = pair.producer.tail - 1;
		good &= memcmp(&frame, &sent, sizeof(frame)) == 0;
		good &= gid_ring_release(&pair.consumer, frame.index) == 0 &&
				gid_ring_collect(&pair.producer, &back) == 1;
	}
	tap_ok(good, "each word of the second line comes along");
	sent = (struct gid_wire_frame){.gid = gid_make(1, 1, 0, 0), .more = 1};
	gid_ring_send(&pair.producer, &sent, NULL, 1);
	uint64_t place = (pair.producer.tail - 1) % pair.producer.entries;
	pair.ring->frames_ring[place].kind |= UINT64_C(2) << 48;
	struct gid_frame checked;
	tap_ok(gid_ring_receive(&pair.consumer, &frame) == 1 &&
					gid_wire_get_frame(&checked, &frame, 1) == -EPROTO,
			"a third line does not exist");
	ring_pair_finish(&pair);
}

/* As many places as credit needs, of those that there are. */
static void test_entries(void) {
	static const uint32_t credits[] = {1, 8, 9, 16, 17, 32, 33, GID_CREDIT_MAX};
	static const uint32_t expected[] = {16, 16, 32, 32, 64, 64, 64, 64};
	struct ring_pair pair;
	bool good = true;
	for (size_t i = 0; i < sizeof(credits) / sizeof(credits[0]); i++) {
		ring_pair_init(&pair, credits[i]);
		good &= pair.ring->entries == expected[i] && pair.consumer.entries == expected[i];
		ring_pair_finish(&pair);
	}
	tap_ok(good, "a ring is as long as credit needs");
	ring_pair_init(&pair, 4);
	good = true;
	for (uint32_t entries = 0; entries <= 2 * GID_RING_ENTRIES; entries++) {
		bool can_be = entries != 0 && entries <= GID_RING_ENTRIES &&
				(entries & (entries - 1)) == 0;
		pair.ring->entries = entries;
		int error = gid_ring_consumer_init(&pair.consumer, pair.ring, pair.page);
		good &= error == (can_be ? 0 : -EPROTO);
	}
	tap_ok(good, "and a power of two, up to %u", GID_RING_ENTRIES);
	ring_pair_finish(&pair);
}

/* Takes an entry of a burst back while the consumer copies it: as the producer would just then. */
static void test_burst_taken_back(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 8);
	struct gid_wire_frame frames[GID_BURST_MAX], held;
	struct gid_ring_sent taken;
	put_many(&pair, 1, 8);
	gid_ring_publish(&pair.producer);
	bool good = gid_ring_take_back(&pair.producer, 2, &taken) == 1 && taken.index == 0;
	good &= gid_ring_take_back(&pair.producer, 2, &taken) == 1 && taken.index == 1;
	good &= gid_ring_receive_burst(&pair.consumer, frames, 3) == 3 && frames[0].index == 2;
	held = frames[0];
	good &= gid_ring_take_back(&pair.producer, 5, &taken) == 0;
	tap_ok(good, "what was taken back does not come, and what was claimed is not taken back");
	good = gid_ring_take_by_force(&pair.producer, held.index, &taken);
	tap_ok(good && !gid_ring_is_held(&pair.consumer, held.index), "but by force");
	ring_pair_finish(&pair);
}

/* A consumer whose machine is restored as it was before, when the producer's end is over. */
static void test_set_back(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 4);
	struct gid_wire_frame frame, other;
	struct gid_ring_sent released;
	put_many(&pair, 1, 2);
	gid_ring_publish(&pair.producer);
	bool good = gid_ring_receive(&pair.consumer, &frame) == 1 && frame.index == 0;
	struct gid_ring_consumer saved = pair.consumer;
	good &= gid_ring_receive(&pair.consumer, &other) == 1 && other.index == 1;
	good &= gid_ring_release(&pair.consumer, 0) == 0 &&
			gid_ring_release(&pair.consumer, 1) == 0;
	good &= gid_ring_collect(&pair.producer, &released) == 1 &&
			gid_ring_collect(&pair.producer, &released) == 1;
	pair.consumer = saved;
	tap_ok(good && gid_ring_is_held(&pair.consumer, 0), "it believes what the ring says");
	gid_ring_disown(&pair.producer, pair.ring->tail);
	tap_ok(!gid_ring_is_held(&pair.consumer, 0), "which says that nobody holds anything");
	tap_ok(gid_ring_receive(&pair.consumer, &other) == 0, "and that there is nothing to read");
	ring_pair_finish(&pair);
}

/* A burst is checked entry by entry: one that lies ends it, and no more is read than was asked. */
static void test_burst_of_liars(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 8);
	struct gid_wire_frame frames[4];
	memset(frames, 0x5a, sizeof(frames));
	put_many(&pair, 1, 8);
	gid_ring_publish(&pair.producer);
	pair.ring->tail = UINT64_MAX;
	tap_ok(gid_ring_receive_burst(&pair.consumer, frames, 3) == 3 &&
					frames[3].index == 0x5a5a5a5a5a5a5a5a,
			"an endless tail gives as many as were asked for");
	pair.ring->frames_ring[4].index = 5;
	tap_ok(gid_ring_receive_burst(&pair.consumer, frames, 3) == -EPROTO,
			"an entry of another place is no entry");
	ring_pair_finish(&pair);

	ring_pair_init(&pair, 8);
	put_many(&pair, 1, 4);
	gid_ring_publish(&pair.producer);
	lie_of_note(&pair, 1);
	pair.ring->floor = 2;
	int got = gid_ring_receive_burst(&pair.consumer, frames, 4);
	tap_ok(got == 2 && frames[0].index == 2 && frames[1].index == 3,
			"what a floor has passed is passed over, whatever its note says");
	pair.page->head = 9;
	tap_ok(gid_ring_poll_claims(&pair.producer) == -EPROTO,
			"more cannot be claimed than was sent");
	ring_pair_finish(&pair);
}

/* A place without an entry is remembered by an index that no entry has. */
static void test_release_of_none(void) {
	struct ring_pair pair;
	ring_pair_init(&pair, 8);
	struct gid_ring_sent sent;
	put_many(&pair, 1, 4);
	gid_ring_publish(&pair.producer);
	pair.page->releases[0] = GID_RING_NO_INDEX;
	pair.page->release_tail = 1;
	tap_ok(gid_ring_collect(&pair.producer, &sent) == -EPROTO && pair.producer.in_flight == 4 &&
					pair.producer.pictures == 4,
			"what no entry is cannot be given back");
	tap_ok(!gid_ring_take_by_force(&pair.producer, GID_RING_NO_INDEX, &sent), "nor taken back");
	ring_pair_finish(&pair);
}

int main(void) {
	test_burst();
	test_burst_taken_back();
	test_set_back();
	test_burst_of_liars();
	test_release_of_none();
	test_long_hold();
	test_second_line();
	test_entries();
	test_notes();
	test_sleep_in_steps();
	test_ring_for_what_is_new();
	test_drop_old_in_steps();
	return tap_finish();
}
