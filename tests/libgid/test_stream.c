// SPDX-License-Identifier: MIT
/* Streams between two domains with real gidds, both ends in this process, step by step. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>

#include "stream_pair.h"

static void test_flow(void) {
	struct gid_slab *slab = make_slab(4), *seen = NULL;
	struct gid_producer *producer = produce(0, 0);
	memset(&heard, 0, sizeof(heard));
	tap_ok(send_slot(producer, slab, 0) == 0, "nobody gets a frame that nobody subscribed to");
	struct gid_consumer *consumer = consume(4, false, false);
	settle(producer);
	tap_ok(heard.joined == 1 && heard.state == GID_CONSUMER_LIVE, "both hear of each other");

	struct gid_frame frame;
	memset(gid_slab_data(slab, 1), 0x42, 4096);
	tap_ok(gid_consumer_receive(consumer, &frame) == -EAGAIN, "no frame yet");
	tap_ok(!is_readable(gid_consumer_get_fd(consumer)), "and nothing to read");
	tap_ok(send_slot(producer, slab, 1) == 1, "one consumer gets the next");
	tap_ok(is_readable(gid_consumer_get_fd(consumer)), "its descriptor says so");
	tap_ok(gid_consumer_receive(consumer, &frame) == 1 && frame.pts == 1 &&
					frame.sequence == 2 && frame.gid == gid_slab_gid(slab, 1),
			"it is the frame");
	tap_ok(!is_readable(gid_consumer_get_fd(consumer)), "and nothing to read again");
	tap_ok(gid_slab_import(cluster_domain, frame.gid, &seen) == 0 &&
					memcmp(gid_slab_view(seen, 1), gid_slab_data(slab, 1),
							4096) == 0,
			"the stream has granted the slab");
	tap_ok(gid_slab_holders(slab, 1) == 1, "its slot has a holder");
	tap_ok(gid_consumer_release(consumer, &frame) == 0 && heard.released == 0, "released");
	tap_ok(gid_consumer_release(consumer, &frame) == -EINVAL, "once only");
	tap_ok(is_readable(gid_producer_get_fd(producer)), "the producer's descriptor says so");
	gid_producer_dispatch(producer);
	tap_ok(heard.released == 1 && heard.last_released == frame.gid &&
					gid_slab_holders(slab, 1) == 0,
			"the slot is free");
	tap_ok(!is_readable(gid_producer_get_fd(producer)), "and nothing to read for the producer");

	struct gid_slab *late = make_slab(1), *late_seen = NULL;
	tap_ok(send_slot(producer, late, 0) == 1 && gid_consumer_receive(consumer, &frame) == 1 &&
					gid_slab_import(cluster_domain, frame.gid, &late_seen) == 0,
			"a slab that comes later is granted, too");
	gid_slab_unref(late_seen);
	gid_slab_destroy(late, false);
	tap_ok(gid_consumer_release(consumer, &frame) == 0, "a frame of a slab that is gone");
	gid_producer_dispatch(producer);
	tap_ok(heard.released == 1, "is forgotten");

	struct gid_frame end = GID_FRAME_INIT;
	end.flags = GID_FRAME_EOS;
	send_slot(producer, slab, 2);
	tap_ok(gid_producer_send(producer, &end) == 1, "the end is sent");
	gid_producer_destroy(producer);
	tap_ok(heard.released == 2, "the producer's end brings back what was not read");
	tap_ok(gid_consumer_receive(consumer, &frame) == 1 && (frame.flags & GID_FRAME_EOS) != 0,
			"the consumer hears the last word");
	tap_ok(gid_consumer_receive(consumer, &frame) == -EPIPE &&
					heard.state == GID_CONSUMER_ENDED && heard.reason == 0,
			"and that the stream ended in good order");
	gid_consumer_destroy(consumer);
	settle(NULL);
	gid_slab_unref(seen);
	gid_slab_destroy(slab, false);
}

static void test_credit(void) {
	struct gid_slab *slab = make_slab(16);
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *keep = consume(3, false, false), *newest = consume(3, true, false);
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	for (uint32_t i = 0; i < 10; i++) {
		int expected = i < 3 ? 2 : 1;
		if (send_slot(producer, slab, i) != expected) {
			tap_ok(false, "frame %u goes to %d", i, expected);
		}
	}
	tap_ok(heard.released == 4, "slots that both dropped are free: %u", heard.released);
	struct gid_frame frame;
	bool good = true;
	for (uint32_t i = 0; i < 3; i++) {
		good &= gid_consumer_receive(keep, &frame) == 1 && frame.pts == i;
	}
	tap_ok(good && gid_consumer_receive(keep, &frame) == -EAGAIN, "one keeps the first three");
	for (uint32_t i = 7; i < 10; i++) {
		good &= gid_consumer_receive(newest, &frame) == 1 && frame.pts == i;
	}
	tap_ok(good && gid_consumer_receive(newest, &frame) == -EAGAIN,
			"drop-old has the newest three");
	struct gid_producer_stats stats;
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.frames == 10 && stats.dropped == 14 && stats.delivered == 13 &&
					stats.held == 6,
			"counted: %" PRIu64 " frames, %" PRIu64 " delivered, %" PRIu64
			" dropped, %u held",
			stats.frames, stats.delivered, stats.dropped, stats.held);
	tap_ok(gid_producer_reclaim(producer, false) == 0, "what is being read is not reclaimed");
	uint32_t before = heard.released;
	tap_ok(gid_producer_reclaim(producer, true) == 1 && heard.released == before + 1 &&
					gid_slot_of(heard.last_released) == 0,
			"but by force, the oldest first");
	tap_ok(!gid_slab_is_current(slab, heard.last_released), "and its gid is out of date");
	tap_ok(send_slot(producer, slab, 0) == 1, "its slot can be sent by its new gid");
	gid_consumer_destroy(newest);
	gid_consumer_destroy(keep);
	settle(producer);
	tap_ok(gid_producer_consumers(producer) == 0, "both are gone");
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.held == 0, "and hold nothing");
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
}

static void test_reconnect(void) {
	memset(&heard, 0, sizeof(heard));
	struct gid_consumer *consumer = consume(4, false, true);
	settle(NULL);
	struct gid_frame frame, old = {0};
	tap_ok(gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING &&
					gid_consumer_receive(consumer, &frame) == -EAGAIN,
			"a consumer that reconnects waits for its stream");
	struct gid_slab *slab = make_slab(8);
	for (int round = 0; round < 3; round++) {
		struct gid_producer *producer = produce(0, 8);
		for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
				heard.state != GID_CONSUMER_LIVE && cockpit_now_ms() < end;
				cockpit_sleep_ms(20)) {
			settle(producer);
		}
		tap_ok(send_slot(producer, slab, (uint32_t)round) == 1 &&
						gid_consumer_receive(consumer, &frame) == 1 &&
						frame.pts == (uint64_t)round,
				"round %d: the frame comes", round);
		if (round > 0) {
			tap_ok(gid_consumer_release(consumer, &old) == 0 &&
							gid_slab_holders(slab, (uint32_t)round) ==
									1,
					"a frame of the subscription before is no frame of this one");
		}
		old = frame;
		gid_producer_destroy(producer);
		tap_ok(gid_consumer_receive(consumer, &frame) == -EAGAIN &&
						heard.state == GID_CONSUMER_WAITING &&
						gid_consumer_receive(consumer, &frame) == -EAGAIN,
				"its end is a state, and no error: it waits again");
	}
	struct gid_consumer_stats stats;
	gid_consumer_get_stats(consumer, &stats);
	tap_ok(stats.reconnects == 2 && stats.frames == 3, "counted");
	gid_consumer_destroy(consumer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static void test_refusals(void) {
	struct gid_consumer *consumer = NULL;
	struct gid_consumer_options options = {.size = sizeof(options)};
	struct gid_producer *producer = produce(0, 0), *second = NULL;
	tap_ok(gid_consumer_create(cluster_domain, "open", "camera/rear", &options, &consumer) ==
					-ENOENT,
			"no such stream: %s", gid_domain_error(cluster_domain));
	tap_ok(gid_consumer_create(cluster_domain, "open", "secret", &options, &consumer) ==
					-ENOENT,
			"not to be read here: %s", gid_domain_error(cluster_domain));
	tap_ok(gid_consumer_create(cluster_domain, "open", "a b", &options, &consumer) == -EINVAL,
			"not a name: %s", gid_domain_error(cluster_domain));
	options.credit = GID_CREDIT_MAX + 1;
	tap_ok(gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer) == -EINVAL,
			"too much credit: %s", gid_domain_error(cluster_domain));
	options.size = 0;
	tap_ok(gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer) == -EINVAL,
			"no size: %s", gid_domain_error(cluster_domain));
	tap_ok(gid_producer_create(open_domain, "movie", NULL, &second) == -EEXIST,
			"a second producer: %s", gid_domain_error(open_domain));
	tap_ok(gid_producer_create(open_domain, "x\n", NULL, &second) == -EINVAL,
			"a control character: %s", gid_domain_error(open_domain));
	struct gid_frame frame = {.gid = gid_make(1, 77, 0, 0)};
	tap_ok(gid_producer_send(producer, &frame) == -EINVAL, "a gid of no slab is not sent");
	frame.gid = GID_NONE;
	tap_ok(gid_producer_send(producer, &frame) == -EINVAL, "nor a frame without a picture");
	gid_producer_destroy(producer);
	settle(NULL);
}

/* What only a mistake asks for. */
/*
 * A machine was set back between the two calls, while its memory stayed as it was; or who rules the
 * machine has written there. Its program has done nothing wrong, and goes on.
 */
static void test_generation_that_changes(void) {
	struct gid_slab *slab = make_slab(2);
	struct gid_producer *producer = produce(0, 0);
	struct gid_consumer *consumer = consume(4, false, false);
	settle(producer);
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	char *memory = gid_slab_data(slab, 0);
	uint32_t *generations = (uint32_t *)(memory + info.slot_count * info.slot_size);
	struct gid_frame frame = GID_FRAME_INIT, received;
	int slot = gid_slab_take(slab);
	frame.gid = gid_slab_gid(slab, (uint32_t)slot);
	generations[slot] = gid_generation_of(frame.gid) ^ 0x4000;
	tap_ok(!gid_slab_is_current(slab, frame.gid) && gid_producer_send(producer, &frame) == 1 &&
					frame.gid == gid_slab_gid(slab, (uint32_t)slot),
			"a slot that was taken is sent by the gid that it has then");
	tap_ok(gid_consumer_receive(consumer, &received) == 1 && received.gid == frame.gid,
			"by which its reader knows it");
	struct gid_frame held = frame;
	generations[slot] ^= 0x2000;
	tap_ok(gid_producer_send(producer, &held) == -EINVAL, "but not while a reader has it");
	generations[slot] ^= 0x2000;
	gid_consumer_release(consumer, &received);
	gid_producer_dispatch(producer);
	frame.gid = gid_slab_gid(slab, (uint32_t)slot);
	generations[slot] ^= 0x2000;
	struct gid_frame again = frame;
	tap_ok(gid_producer_send_burst(producer, &again, 1) == 1 &&
					again.gid == gid_slab_gid(slab, (uint32_t)slot),
			"nor is one of a burst refused for that");
	uint32_t other = 1 - (uint32_t)slot;
	frame.gid = gid_slab_gid(slab, other);
	generations[other] = gid_generation_of(frame.gid) ^ 0x4000;
	tap_ok(gid_producer_send(producer, &frame) == -EINVAL, "one that nobody took is");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	settle(NULL);
	gid_slab_destroy(slab, false);
}

static void test_mistakes(void) {
	struct gid_consumer *consumer = NULL;
	struct gid_producer *producer = NULL;
	struct gid_consumer_options reads = {.size = sizeof(reads)};
	struct gid_producer_options writes = {.size = sizeof(writes)};
	tap_ok(gid_consumer_create(cluster_domain, "no body", "movie", &reads, &consumer) ==
					-EINVAL,
			"an owner that is no name: %s", gid_domain_error(cluster_domain));
	reads.quiet = reads.sleeps = true;
	tap_ok(gid_consumer_create(cluster_domain, "open", "movie", &reads, &consumer) == -EINVAL,
			"sleep without a bell: %s", gid_domain_error(cluster_domain));
	writes.metadata_max = GID_METADATA_MAX + 1;
	tap_ok(gid_producer_create(open_domain, "movie", &writes, &producer) == -EINVAL,
			"too much metadata: %s", gid_domain_error(open_domain));
	writes.metadata_max = 0;
	writes.credit_max = GID_CREDIT_MAX + 1;
	tap_ok(gid_producer_create(open_domain, "movie", &writes, &producer) == -EINVAL,
			"too much credit: %s", gid_domain_error(open_domain));
	writes.size = 1;
	tap_ok(gid_producer_create(open_domain, "movie", &writes, &producer) == -EINVAL,
			"no size: %s", gid_domain_error(open_domain));
}

/* Objects of a domain that is gone wait for nothing but to be destroyed. */
static void test_without_domain(void) {
	struct gid_domain *own = NULL;
	struct gid_consumer *consumer = NULL;
	struct gid_producer *producer = produce(0, 0);
	struct gid_frame frame;
	tap_ok(gid_domain_connect("cluster", &own) == 0 &&
					gid_consumer_create(
							own, "open", "movie", NULL, &consumer) == 0,
			"a consumer of a domain of its own");
	settle(producer);
	gid_domain_destroy(own);
	tap_ok(gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) == -EPIPE, "does not wait");
	tap_ok(gid_consumer_receive(consumer, &frame) < 0, "nor receive");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	settle(NULL);
}

struct later {
	struct gid_producer *producer;
	struct gid_slab *slab;
};

static void *send_later(void *data) {
	struct later *later = data;
	cockpit_sleep_ms(50);
	send_slot(later->producer, later->slab, 1);
	return NULL;
}

/* Who has nothing to wait for but frames. */
static void test_wait(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	memset(&heard, 0, sizeof(heard));
	struct gid_consumer *consumer = consume(4, false, false);
	settle(producer);
	long start = cockpit_now_ms();
	tap_ok(gid_consumer_wait(consumer, 100) == 0 && cockpit_now_ms() - start >= 99,
			"waits for as long as it was told");
	send_slot(producer, slab, 0);
	struct gid_frame frame;
	tap_ok(gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) == 1 &&
					gid_consumer_receive(consumer, &frame) == 1,
			"and no longer than needed");
	struct later later = {producer, slab};
	pthread_t thread;
	if (tap_ok(pthread_create(&thread, NULL, send_later, &later) == 0, "a frame comes later")) {
		tap_ok(gid_consumer_wait(consumer, -1) == 1 &&
						gid_consumer_receive(consumer, &frame) == 1 &&
						frame.gid == gid_slab_gid(slab, 1),
				"it can be waited for without an end");
		pthread_join(thread, NULL);
	}
	gid_producer_destroy(producer);
	tap_ok(gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) == 1 &&
					gid_consumer_receive(consumer, &frame) == -EPIPE &&
					gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) == -EPIPE,
			"the end ends it");
	gid_consumer_destroy(consumer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static bool is_frame(struct gid_consumer *consumer, gid_id gid, uint64_t sequence) {
	struct gid_frame frame;
	return gid_consumer_receive(consumer, &frame) == 1 && frame.gid == gid &&
			frame.sequence == sequence && gid_consumer_release(consumer, &frame) == 0;
}

/* Who comes when nothing moves gets what is shown, and nobody else gets it again. */
static void test_late(void) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.released = hear_released,
			.subscriber = hear_subscriber,
			.keeps_shown = true,
	};
	struct gid_producer *producer = NULL;
	struct gid_slab *slab = make_slab(4);
	struct gid_frame frame;
	memset(&heard, 0, sizeof(heard));
	gid_producer_create(open_domain, "movie", &options, &producer);
	tap_ok(producer != NULL && send_slot(producer, slab, 0) == 0 && heard.released == 0 &&
					gid_slab_holders(slab, 0) == 1,
			"a picture that nobody got is held");
	tap_ok(send_slot(producer, slab, 1) == 0 && heard.released == 1 &&
					gid_slab_holders(slab, 0) == 0,
			"until the next is sent");
	struct gid_consumer *early = consume(4, false, false);
	settle(producer);
	tap_ok(is_frame(early, gid_slab_gid(slab, 1), 2), "who comes then gets it");
	struct gid_consumer *late = consume(4, false, false);
	settle(producer);
	tap_ok(gid_consumer_receive(late, &frame) == 1 && frame.sequence == 2 && frame.pts == 1 &&
					frame.gid == gid_slab_gid(slab, 1) &&
					gid_clock_now() - frame.submit_time < UINT64_C(60000000000),
			"and also who comes later");
	tap_ok(gid_consumer_receive(early, &frame) == -EAGAIN, "while the first gets nothing");
	struct gid_frame mark = GID_FRAME_INIT;
	mark.flags = GID_FRAME_FLUSH;
	gid_producer_send(producer, &mark);
	gid_consumer_receive(early, &frame);
	tap_ok(send_slot(producer, slab, 2) == 2 && is_frame(early, gid_slab_gid(slab, 2), 4) &&
					gid_slab_holders(slab, 1) == 1,
			"the next one goes to both, and the late one holds the other still");
	gid_consumer_destroy(late);
	settle(producer);
	tap_ok(gid_slab_holders(slab, 1) == 0 && gid_slab_holders(slab, 2) == 1, "until it goes");
	tap_ok(gid_producer_reclaim(producer, false) == 1 && gid_slab_holders(slab, 2) == 0,
			"what is shown gives way where a slot is needed");
	late = consume(4, false, false);
	settle(producer);
	tap_ok(gid_consumer_receive(late, &frame) == -EAGAIN, "and then who comes has to wait");
	gid_consumer_destroy(late);
	send_slot(producer, slab, 3);
	mark.flags = GID_FRAME_HIDDEN;
	gid_producer_send(producer, &mark);
	late = consume(4, false, false);
	settle(producer);
	tap_ok(gid_consumer_receive(late, &frame) == 1 && (frame.flags & GID_FRAME_HIDDEN) != 0 &&
					gid_consumer_receive(late, &frame) == -EAGAIN,
			"where nothing is shown it hears that");
	gid_consumer_destroy(late);
	gid_consumer_destroy(early);
	send_slot(producer, slab, 0);
	gid_producer_destroy(producer);
	tap_ok(gid_slab_holders(slab, 0) == 0, "the producer's end lets go of it");
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* A slab leaves its memory when somebody may not read it any more. Nothing new is sent then. */
static void test_late_in_other_memory(void) {
	struct gid_producer_options options = {.size = sizeof(options), .keeps_shown = true};
	struct gid_producer *producer = NULL;
	struct gid_slab *slab = make_slab(2);
	gid_producer_create(open_domain, "movie", &options, &producer);
	send_slot(producer, slab, 0);
	gid_id before = gid_slab_gid(slab, 0);
	bool good = gid_domain_revoke(open_domain, "open", NULL, before, NULL) == 0;
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			gid_slab_gid(slab, 0) == before && cockpit_now_ms() < end;
			cockpit_sleep_ms(1)) {
		gid_domain_dispatch(open_domain);
	}
	struct gid_consumer *late = consume(4, false, false);
	settle(producer);
	tap_ok(good && gid_slab_gid(slab, 0) != before && is_frame(late, gid_slab_gid(slab, 0), 1),
			"what is shown has moved: who comes late gets it all the same");
	gid_consumer_destroy(late);
	gid_producer_destroy(producer);
	tap_ok(gid_slab_holders(slab, 0) == 0, "and it is let go of");
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Who had no room for what is shown gets it when it has: the picture may stand for long. */
static void test_room(bool quiet) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.lease_ns = LEASE_PATIENT_NS,
			.released = hear_released,
			.subscriber = hear_subscriber,
			.quiet = quiet,
			.keeps_shown = true,
	};
	struct gid_producer *producer = NULL;
	struct gid_slab *slab = make_slab(5);
	struct gid_frame first, frame;
	gid_producer_create(open_domain, "movie", &options, &producer);
	struct gid_consumer *slow = consume(2, false, false), *other = consume(4, false, false);
	settle(producer);
	for (uint32_t slot = 0; slot < 4; slot++) {
		send_slot(producer, slab, slot);
	}
	tap_ok(gid_consumer_receive(slow, &first) == 1 && first.sequence == 1 &&
					gid_consumer_receive(slow, &frame) == 1 &&
					frame.sequence == 2 &&
					gid_consumer_receive(slow, &frame) == -EAGAIN,
			"quiet %d: it has room for two", quiet);
	gid_consumer_release(slow, &first);
	tap_ok(is_readable(gid_producer_get_fd(producer)), "the producer is told of a release");
	settle(producer);
	tap_ok(is_frame(slow, gid_slab_gid(slab, 3), 4), "then it gets what is shown");
	settle(producer);
	tap_ok(gid_consumer_receive(slow, &first) == -EAGAIN, "once");
	for (uint64_t sequence = 1; sequence <= 4; sequence++) {
		tap_ok(is_frame(other, gid_slab_gid(slab, (uint32_t)sequence - 1), sequence),
				"who has room gets each once: %" PRIu64, sequence);
	}
	tap_ok(gid_consumer_receive(other, &first) == -EAGAIN, "and nothing more");
	tap_ok(send_slot(producer, slab, 4) == 2 && is_frame(slow, gid_slab_gid(slab, 4), 5),
			"the next one goes to both");
	gid_consumer_destroy(slow);
	gid_consumer_destroy(other);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static int send_at(struct gid_producer *producer, struct gid_slab *slab, uint32_t slot,
		uint64_t time) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, slot);
	frame.present_time = time;
	return gid_producer_send(producer, &frame);
}

/* What is shown is sent again as of now, and a frame may have been timed just before. */
static void test_times_of_what_is_sent_again(void) {
	struct gid_producer_options options = {.size = sizeof(options), .keeps_shown = true};
	struct gid_producer *producer = NULL;
	struct gid_slab *slab = make_slab(2);
	struct gid_frame first, next;
	gid_producer_create(open_domain, "movie", &options, &producer);
	send_at(producer, slab, 0, gid_clock_now());
	uint64_t before = gid_clock_now();
	struct gid_consumer *late = consume(4, false, false);
	settle(producer);
	tap_ok(gid_consumer_receive(late, &first) == 1 && first.present_time > before,
			"who comes late is to show the picture now");
	tap_ok(send_at(producer, slab, 1, before) == 1 && gid_consumer_receive(late, &next) == 1 &&
					next.present_time >= first.present_time,
			"and the next one not before that");
	gid_consumer_destroy(late);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

int main(void) {
	if (stream_pair_init()) {
		test_flow();
		test_late();
		test_late_in_other_memory();
		test_times_of_what_is_sent_again();
		test_room(false);
		test_room(true);
		test_credit();
		test_reconnect();
		test_refusals();
		test_mistakes();
		test_generation_that_changes();
		test_without_domain();
		test_wait();
	}
	return stream_pair_finish();
}
