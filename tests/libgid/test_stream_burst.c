// SPDX-License-Identifier: MIT
/* Frames that come in numbers: many sent, received and released by one call each. */
#include <errno.h>
#include <inttypes.h>

#include "libgid/producer.h"
#include "stream_pair.h"

static uint32_t prepare(struct gid_frame *frames, struct gid_slab *slab, uint32_t count) {
	for (uint32_t i = 0; i < count; i++) {
		frames[i] = (struct gid_frame)GID_FRAME_INIT;
		frames[i].gid = gid_slab_gid(slab, i);
		frames[i].pts = i;
	}
	return count;
}

static void test_flow(void) {
	struct gid_slab *slab = make_slab(GID_BURST_MAX);
	struct gid_producer *producer = produce(0, GID_CREDIT_MAX);
	struct gid_consumer *consumer = consume(GID_BURST_MAX, false, false);
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frames[GID_BURST_MAX], got[GID_BURST_MAX];
	uint32_t count = prepare(frames, slab, GID_BURST_MAX);
	tap_ok(gid_producer_send_burst(producer, frames, 0) == -EINVAL &&
					gid_producer_send_burst(producer, frames,
							GID_BURST_MAX + 1) == -EINVAL &&
					gid_consumer_receive_burst(consumer, got, 0) == -EINVAL,
			"a burst has 1 to %u frames", GID_BURST_MAX);
	tap_ok(gid_consumer_receive_burst(consumer, got, count) == -EAGAIN, "there is none yet");
	frames[3].note = "three";
	frames[3].note_size = 6;
	frames[4].note = "four";
	frames[4].note_size = 5;
	struct gid_producer_stats before, after;
	gid_producer_get_stats(producer, &before);
	tap_ok(gid_producer_send_burst(producer, frames, count) == (int)count, "all are sent");
	gid_producer_get_stats(producer, &after);
	tap_ok(after.doorbells == before.doorbells + 1, "the consumer is woken once");
	tap_ok(is_readable(gid_consumer_get_fd(consumer)), "which its descriptor says");
	bool good = gid_consumer_receive_burst(consumer, got, 10) == 10;
	good &= got[3].note_size == 6 && memcmp(got[3].note, "three", 6) == 0;
	good &= got[4].note_size == 5 && memcmp(got[4].note, "four", 5) == 0;
	tap_ok(good, "as many come as are wanted, each with its own note");
	good = gid_consumer_receive_burst(consumer, &got[10], count) == (int)count - 10;
	for (uint32_t i = 0; i < count; i++) {
		good &= got[i].pts == i && got[i].sequence == i + 1 && got[i].gid == frames[i].gid;
		good &= got[i].submit_time == frames[0].submit_time && frames[i].sequence == i + 1;
	}
	tap_ok(good, "and then the rest, in order");
	struct gid_consumer_stats stats;
	gid_consumer_get_stats(consumer, &stats);
	tap_ok(stats.frames == count && stats.missed == 0 && stats.held == count,
			"all are counted");
	tap_ok(gid_consumer_release_burst(consumer, got, count) == 0, "all go back");
	gid_producer_dispatch(producer);
	tap_ok(heard.released == count && gid_slab_holders(slab, 5) == 0, "and are free");
	tap_ok(gid_consumer_release_burst(consumer, got, count) == -EINVAL, "once only");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Slots that are given right after they were sent are free when all have let go of them. */
static void test_given(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer_options options = {.size = sizeof(options)};
	struct gid_producer *producer = NULL;
	gid_producer_create(open_domain, "movie", &options, &producer);
	struct gid_consumer *one = consume(4, false, false), *other = consume(4, false, false);
	settle(producer);
	struct gid_frame frames[4], got[4];
	gid_id gids[4];
	prepare(frames, slab, 4);
	for (int round = 0; round < 3; round++) {
		bool good = gid_slab_take_burst(slab, gids, 4) == 4;
		for (uint32_t i = 0; i < 4; i++) {
			frames[i].gid = gids[i];
		}
		good &= gid_producer_send_burst(producer, frames, 4) == 4;
		gid_slab_give_burst(slab, gids, 4);
		good &= gid_slab_take(slab) == -EAGAIN && gid_slab_holders(slab, 0) == 2;
		good &= gid_consumer_receive_burst(one, got, 4) == 4;
		gid_consumer_release_burst(one, got, 4);
		gid_producer_dispatch(producer);
		good &= gid_slab_take(slab) == -EAGAIN && gid_slab_holders(slab, 0) == 1;
		good &= gid_consumer_receive_burst(other, got, 4) == 4 &&
				got[3].sequence == 4 * (uint64_t)round + 4;
		gid_consumer_release_burst(other, got, 4);
		gid_producer_dispatch(producer);
		tap_ok(good && gid_slab_holders(slab, 0) == 0,
				"four slots are sent, and free when both have let go: %d", round);
	}
	struct gid_producer_stats stats;
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.frames == 12 && stats.delivered == 24 && stats.held == 0, "all are counted");
	gid_consumer_destroy(other);
	gid_consumer_destroy(one);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* What nobody takes is told like everything else: by `released`. */
static void test_nobody(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	struct gid_frame frames[4];
	memset(&heard, 0, sizeof(heard));
	prepare(frames, slab, 4);
	tap_ok(gid_producer_send_burst(producer, frames, 4) == 4 && heard.released == 4,
			"each slot that nobody took is free at once");
	frames[2].gid = gid_make(1, 77, 0, 0);
	tap_ok(gid_producer_send_burst(producer, frames, 4) == 2 && heard.released == 6,
			"a wrong frame ends the burst before it");
	tap_ok(gid_producer_send_burst(producer, &frames[2], 2) == -EINVAL && heard.released == 6,
			"and says why when it is the first");
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static void test_credit(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *keep = consume(3, false, false), *newest = consume(3, true, false);
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frames[8], got[8];
	prepare(frames, slab, 8);
	tap_ok(gid_producer_send_burst(producer, frames, 8) == 8,
			"more are sent than any may hold");
	bool good = gid_consumer_receive_burst(keep, got, 8) == 3 && got[0].pts == 0;
	tap_ok(good && got[2].pts == 2, "one keeps the first three");
	good = gid_consumer_receive_burst(newest, got, 8) == 3 && got[0].pts == 5;
	tap_ok(good && got[2].pts == 7, "drop-old has the newest three");
	tap_ok(heard.released == 2 && gid_slab_holders(slab, 3) == 0, "two slots are free: %u",
			heard.released);
	struct gid_producer_stats stats;
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.frames == 8 && stats.delivered == 11 && stats.dropped == 10,
			"counted: %" PRIu64 ", %" PRIu64, stats.delivered, stats.dropped);
	gid_consumer_destroy(newest);
	gid_consumer_destroy(keep);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Its callback ends the producer in the midst of a burst. */
static struct gid_producer *doomed;

static void destroy_it(void *data, gid_id gid) {
	heard.released++;
	gid_producer_destroy(doomed);
	doomed = NULL;
}

static void test_end_within(void) {
	struct gid_producer_options options = {
			.size = sizeof(options), .credit_max = 8, .released = destroy_it};
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = NULL;
	gid_producer_create(open_domain, "movie", &options, &producer);
	doomed = producer;
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frames[4];
	prepare(frames, slab, 4);
	tap_ok(gid_producer_send_burst(producer, frames, 4) == 1 && heard.released == 1,
			"a producer that is destroyed meanwhile sends no more");
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static uint32_t told_in_time;

/* Ends the producer at the first slot: after that call nothing of it may be told of any more. */
static void destroy_and_count(void *data, gid_id gid) {
	heard.released++;
	if (doomed != NULL) {
		struct gid_producer *producer = doomed;
		doomed = NULL;
		gid_producer_destroy(producer);
		told_in_time = heard.released;
	}
}

/* All slots of a burst come back at once, by release or as their consumer goes. */
static void test_end_as_they_come_back(bool released) {
	struct gid_producer_options options = {
			.size = sizeof(options), .credit_max = 8, .released = destroy_and_count};
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = NULL;
	gid_producer_create(open_domain, "movie", &options, &producer);
	struct gid_consumer *consumer = consume(4, false, false);
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	told_in_time = 0;
	struct gid_frame frames[4], got[4];
	prepare(frames, slab, 4);
	gid_producer_send_burst(producer, frames, 4);
	gid_consumer_receive_burst(consumer, got, 4);
	if (released) {
		gid_consumer_release_burst(consumer, got, 4);
	} else {
		gid_consumer_destroy(consumer);
	}
	doomed = producer;
	for (int i = 0; i < 4 && doomed != NULL; i++) {
		cockpit_pass_on(open_domain, cluster_domain);
		gid_domain_dispatch(open_domain);
		if (doomed != NULL) {
			gid_producer_dispatch(producer);
		}
	}
	tap_ok(heard.released == 4 && told_in_time == 4,
			"all four are told of before the producer is gone: %u of %u", told_in_time,
			heard.released);
	if (released) {
		gid_consumer_destroy(consumer);
	}
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Its callback sends a frame for each that comes back. */
static struct gid_slab *of_answers;
static struct gid_producer *answering;
static gid_id in_order[4];

static void answer(void *data, gid_id gid) {
	if (heard.released < 4) {
		in_order[heard.released] = gid;
		heard.released++;
		send_slot(answering, of_answers, heard.released - 1);
	}
}

static void test_sends_within(void) {
	struct gid_producer_options options = {
			.size = sizeof(options), .credit_max = 8, .released = answer};
	struct gid_slab *slab = make_slab(4);
	of_answers = make_slab(4);
	gid_producer_create(open_domain, "movie", &options, &answering);
	struct gid_consumer *consumer = consume(8, false, false);
	settle(answering);
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frames[4], got[8];
	prepare(frames, slab, 4);
	gid_producer_send_burst(answering, frames, 4);
	gid_consumer_receive_burst(consumer, got, 4);
	gid_consumer_release_burst(consumer, got, 4);
	gid_producer_dispatch(answering);
	bool good = heard.released == 4;
	for (uint32_t i = 0; i < 4; i++) {
		good &= in_order[i] == frames[i].gid;
	}
	tap_ok(good, "each slot is told of once and in order, though each callback sends a frame");
	good = gid_consumer_receive_burst(consumer, got, 8) == 4;
	uint32_t slots = 0;
	for (uint32_t i = 0; i < 4; i++) {
		good &= got[i].sequence == 5 + i;
		slots |= 1u << gid_slot_of(got[i].gid);
	}
	tap_ok(good && slots == 15, "and these come");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(answering);
	gid_slab_destroy(of_answers, false);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Not all alike: two slabs, the same picture again, an entry without one, a part, a note. */
static void test_mixed(void) {
	struct gid_slab *slabs[] = {make_slab(4), make_slab(4)};
	struct gid_producer *producer = produce(0, 16);
	struct gid_consumer *consumer = consume(16, false, false);
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frames[8], got[8];
	prepare(frames, slabs[0], 4);
	prepare(&frames[4], slabs[1], 4);
	frames[1].gid = frames[0].gid;
	frames[2].damage = (struct gid_box){1, 2, 3, 4};
	frames[3].gid = GID_NONE;
	frames[3].flags = GID_FRAME_FLUSH;
	frames[6].note = "six";
	frames[6].note_size = 4;
	frames[7].dts = 7;
	tap_ok(gid_producer_send_burst(producer, frames, 8) == 8, "eight of all kinds are sent");
	bool good = gid_consumer_receive_burst(consumer, got, 8) == 8;
	for (uint32_t i = 0; i < 8; i++) {
		good &= got[i].sequence == i + 1 && got[i].gid == frames[i].gid &&
				got[i].flags == frames[i].flags && got[i].dts == frames[i].dts &&
				got[i].note_size == frames[i].note_size;
	}
	good &= got[2].damage.height == 4 && memcmp(got[6].note, "six", 4) == 0;
	tap_ok(good, "and come as they were, in order");
	tap_ok(gid_slab_holders(slabs[0], 0) == 2 && gid_slab_holders(slabs[1], 3) == 1,
			"each slot is held as often as it was sent");
	struct gid_producer_stats stats;
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.frames == 7 && stats.delivered == 7, "and counted");
	gid_consumer_release_burst(consumer, got, 8);
	gid_producer_dispatch(producer);
	tap_ok(heard.released == 6, "all are free: %u", heard.released);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slabs[0], false);
	gid_slab_destroy(slabs[1], false);
	settle(NULL);
}

/* Of plain pictures, too: one again, two slabs, and one that is out of date, which ends it. */
static void test_plain(void) {
	struct gid_slab *slabs[] = {make_slab(4), make_slab(4)};
	struct gid_producer *producer = produce(0, 16);
	struct gid_consumer *consumer = consume(16, false, false);
	settle(producer);
	send_slot(producer, slabs[0], 0); /* grants both */
	send_slot(producer, slabs[1], 0);
	struct gid_frame frames[6], got[8];
	prepare(frames, slabs[0], 3);
	prepare(&frames[3], slabs[1], 3);
	frames[1].gid = frames[0].gid;
	frames[5].gid ^= 1;
	tap_ok(gid_producer_send_burst(producer, frames, 6) == 5, "five of six are sent");
	bool good = gid_consumer_receive_burst(consumer, got, 8) == 7;
	for (uint32_t i = 0; i < 5; i++) {
		good &= got[i + 2].sequence == i + 3 && got[i + 2].gid == frames[i].gid;
	}
	tap_ok(good, "and come in order");
	tap_ok(gid_slab_holders(slabs[0], 0) == 3 && gid_slab_holders(slabs[0], 2) == 1 &&
					gid_slab_holders(slabs[1], 1) == 1 &&
					gid_slab_holders(slabs[1], 2) == 0,
			"each slot is held as often as it was sent");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slabs[0], false);
	gid_slab_destroy(slabs[1], false);
	settle(NULL);
}

/* The lease of all but the last one begins with the burst. */
static void test_lease(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(50 * 1000000, 8);
	struct gid_consumer *consumer = consume(8, false, false);
	settle(producer);
	struct gid_frame frames[4], got[4];
	prepare(frames, slab, 4);
	gid_producer_send_burst(producer, frames, 4);
	gid_consumer_receive_burst(consumer, got, 4);
	struct pollfd due = {gid_producer_get_fd(producer), POLLIN, 0};
	struct gid_producer_stats stats = {0};
	for (int i = 0; i < 100 && stats.leases_expired < 3; i++) {
		poll(&due, 1, 100);
		gid_producer_dispatch(producer);
		gid_producer_get_stats(producer, &stats);
	}
	tap_ok(stats.leases_expired == 3 && stats.held == 1 && gid_slab_holders(slab, 3) == 1,
			"the last of four stays, those before are taken back: %" PRIu64,
			stats.leases_expired);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* The oldest of a burst cannot be taken back, for it is being read; those behind it can. */
static void test_reclaim(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumer = consume(8, false, false);
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frames[4], first;
	prepare(frames, slab, 4);
	gid_producer_send_burst(producer, frames, 4);
	bool good = gid_consumer_receive(consumer, &first) == 1;
	for (uint32_t i = 1; i < 4; i++) {
		good &= gid_producer_reclaim(producer, false) == 1 && heard.released == i &&
				heard.last_released == frames[i].gid;
	}
	tap_ok(good, "what is not read of a burst is taken back, in its order: %u", heard.released);
	tap_ok(gid_producer_reclaim(producer, false) == 0 && gid_slab_holders(slab, 0) == 1,
			"what is being read is not");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Entries that no honest producer writes end the subscription, wherever in a burst they are. */
static void test_liar(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumer = consume(4, false, false);
	settle(producer);
	struct gid_frame frames[4], got[4];
	prepare(frames, slab, 4);
	gid_producer_send_burst(producer, frames, 4);
	struct gid_wire_ring *ring = producer->subscriptions->ring.ring;
	ring->frames_ring[2].gid = gid_make(3, 1, 0, 0);
	tap_ok(gid_consumer_receive_burst(consumer, got, 4) == -EPROTO &&
					gid_consumer_get_state(consumer) == GID_CONSUMER_ENDED,
			"a gid of another domain, the third of four");
	tap_ok(gid_consumer_release_burst(consumer, got, 2) == 0, "nothing is held any more");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

int main(void) {
	if (stream_pair_init()) {
		test_flow();
		test_given();
		test_nobody();
		test_credit();
		test_end_within();
		test_end_as_they_come_back(true);
		test_end_as_they_come_back(false);
		test_sends_within();
		test_mixed();
		test_plain();
		test_lease();
		test_reclaim();
		test_liar();
	}
	return stream_pair_finish();
}
