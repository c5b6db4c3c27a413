// SPDX-License-Identifier: MIT
/* Leases: what becomes of frames that a consumer keeps for too long. */
#include <errno.h>

#include "consumer.h"
#include "stream_pair.h"

#define MS 1000000ull
#define LEASE_MS 200l

static void pass_time(struct gid_producer *producer, long ms) {
	for (long end = cockpit_now_ms() + ms; cockpit_now_ms() < end; cockpit_sleep_ms(5)) {
		gid_producer_dispatch(producer);
	}
}

/* How long a slot stays as it was named. */
static long ms_until_taken(struct gid_producer *producer, const struct gid_slab *slab, gid_id gid,
		long since) {
	while (gid_slab_is_current(slab, gid) && cockpit_now_ms() < since + COCKPIT_PATIENCE_MS) {
		cockpit_sleep_ms(5);
		gid_producer_dispatch(producer);
	}
	return cockpit_now_ms() - since;
}

static void test_lease(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce(LEASE_MS * MS, 8);
	struct gid_consumer *consumer = consume(4, false, false);
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frame, again;
	gid_id gid = gid_slab_gid(slab, 0), unread = gid_slab_gid(slab, 1);
	long start = cockpit_now_ms();
	send_slot(producer, slab, 0);
	send_slot(producer, slab, 1);
	send_slot(producer, slab, 2);
	bool good = gid_consumer_receive(consumer, &frame) == 1;
	struct pollfd fd = {gid_producer_get_fd(producer), POLLIN, 0};
	while (heard.released < 2 && poll(&fd, 1, COCKPIT_PATIENCE_MS) > 0) {
		gid_producer_dispatch(producer);
	}
	long took = cockpit_now_ms() - start;
	tap_ok(good && heard.released == 2, "leases ran out by themselves");
	tap_ok(took >= LEASE_MS, "not before their time (%ld ms)", took);
	tap_ok(!gid_slab_is_current(slab, gid), "what was being read has a new generation");
	tap_ok(gid_slab_is_current(slab, unread), "what was not read has not");
	tap_ok(gid_consumer_receive(consumer, &again) == 1 && again.pts == 2,
			"the unread one is taken back");
	tap_ok(gid_consumer_release(consumer, &frame) == 0, "a late release does no harm");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Not only with the next frame that the reader gets: there may be none for long. */
static void test_told(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce(LEASE_MS * MS, 8);
	struct gid_consumer *consumer = consume(2, false, false);
	struct gid_frame held, last;
	settle(producer);
	send_slot(producer, slab, 0);
	send_slot(producer, slab, 1);
	send_slot(producer, slab, 2);
	const struct gid_wire_ring *told = consumer->shared;
	tap_ok(told->frames == 3 && told->held == 2 && told->dropped == 1,
			"people are told of what a reader misses that has no room: %llu frames",
			(unsigned long long)told->dropped);
	bool good = gid_consumer_receive(consumer, &held) == 1 &&
			gid_consumer_receive(consumer, &last) == 1;
	pass_time(producer, 3 * LEASE_MS);
	tap_ok(good && told->leases_expired == 2 && told->held == 0, "of leases that ran out: %llu",
			(unsigned long long)told->leases_expired);
	good = send_slot(producer, slab, 3) == 1 && told->held == 1 &&
			gid_consumer_receive(consumer, &last) == 1 &&
			gid_consumer_release(consumer, &last) == 0;
	gid_producer_dispatch(producer);
	tap_ok(good && told->held == 0, "and of what it gave back: it has %llu",
			(unsigned long long)told->held);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Of two consumers of one slot, one holds it for too long, and the other one has it anew. */
static void test_lease_of_another(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce(LEASE_MS * MS, 8);
	struct gid_consumer *late = consume(4, false, false), *in_time = consume(4, false, false);
	struct gid_frame held, frame;
	struct gid_producer_stats stats;
	settle(producer);
	gid_id gid = gid_slab_gid(slab, 2);
	send_slot(producer, slab, 2);
	bool good = gid_consumer_receive(late, &held) == 1;
	send_slot(producer, slab, 3);
	send_slot(producer, slab, 2);
	for (int i = 0; i < 2; i++) {
		good &= gid_consumer_receive(in_time, &frame) == 1 &&
				gid_consumer_release(in_time, &frame) == 0;
	}
	good &= gid_consumer_receive(in_time, &frame) == 1 && frame.gid == gid;
	pass_time(producer, 2 * LEASE_MS);
	gid_producer_get_stats(producer, &stats);
	tap_ok(good && stats.leases_expired == 1 && gid_slab_is_current(slab, gid),
			"a lease that runs out does not spoil the slot for who is in time");
	gid_consumer_release(in_time, &frame);
	while (gid_consumer_receive(late, &frame) == 1) {
		gid_consumer_release(late, &frame);
	}
	gid_producer_dispatch(producer);
	tap_ok(gid_slab_holders(slab, 2) == 0 && !gid_slab_is_current(slab, gid),
			"but once nobody holds it any more");
	gid_consumer_destroy(in_time);
	gid_consumer_destroy(late);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* What the stream shows now stays a consumer's, also of a machine that was paused. */
static void test_no_lease(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(LEASE_MS * 1000000ull, 8);
	struct gid_consumer *consumer = consume(4, false, false);
	struct gid_frame frame, other, end = GID_FRAME_INIT;
	struct gid_producer_stats stats;
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	for (uint32_t i = 0; i < 3; i++) {
		send_slot(producer, slab, i);
	}
	pass_time(producer, 3 * LEASE_MS);
	tap_ok(heard.released == 2 && gid_slab_holders(slab, 2) == 1,
			"frames that nobody reads come back, but for the last: %u", heard.released);
	tap_ok(gid_consumer_receive(consumer, &frame) == 1 && frame.pts == 2 &&
					gid_consumer_receive(consumer, &other) == -EAGAIN,
			"which a consumer that comes late finds");
	pass_time(producer, 3 * LEASE_MS);
	send_slot(producer, slab, 2);
	pass_time(producer, 3 * LEASE_MS);
	tap_ok(gid_slab_is_current(slab, frame.gid) && gid_consumer_receive(consumer, &other) == 1,
			"it has that for as long as nothing else is sent");
	gid_consumer_release(consumer, &other);
	long since = cockpit_now_ms();
	send_slot(producer, slab, 3);
	long kept = ms_until_taken(producer, slab, frame.gid, since);
	tap_ok(kept >= LEASE_MS, "and then for a lease (%ld ms)", kept);
	gid_producer_get_stats(producer, &stats);
	tap_ok(!gid_slab_is_current(slab, frame.gid) && stats.leases_expired == 1 &&
					heard.released == 3,
			"and no longer");

	end.flags = GID_FRAME_HIDDEN;
	gid_producer_send(producer, &end);
	pass_time(producer, 3 * LEASE_MS);
	tap_ok(gid_consumer_receive(consumer, &frame) == 1 && frame.pts == 3 &&
					gid_consumer_release(consumer, &frame) == 0 &&
					gid_consumer_receive(consumer, &frame) == 1 &&
					(frame.flags & GID_FRAME_HIDDEN) != 0,
			"what is said of the last picture waits, too");

	send_slot(producer, slab, 1);
	pass_time(producer, 2 * LEASE_MS);
	tap_ok(gid_producer_reclaim(producer, false) == 1 && gid_slab_holders(slab, 1) == 0 &&
					gid_consumer_receive(consumer, &frame) == -EAGAIN,
			"a producer that needs its slot takes it back");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* As two pictures that a light has in turn: the lease of one is over when it is sent again. */
static void test_sent_again(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(LEASE_MS * MS, 8);
	struct gid_consumer *consumer = consume(4, false, false);
	struct gid_frame held, again = GID_FRAME_INIT;
	settle(producer);
	send_slot(producer, slab, 0);
	send_slot(producer, slab, 1);
	bool good = gid_consumer_receive(consumer, &held) == 1;
	cockpit_sleep_ms(2 * LEASE_MS);
	again.gid = gid_slab_gid(slab, 0);
	int sent = gid_producer_send(producer, &again);
	tap_ok(good && sent == 1 && again.gid == gid_slab_gid(slab, 0) && again.gid != held.gid,
			"a slot that is taken back by sending it again has a new gid: %d", sent);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static struct gid_producer *answering;
static long answered_at;
static struct gid_slab *of_answers;

static void send_again(void *data, gid_id gid) {
	heard.released++;
	if (heard.released == 1) {
		answered_at = cockpit_now_ms();
		send_slot(answering, of_answers, gid_slot_of(gid));
	}
}

/* A slot that comes back as its lease is over has the next picture: then that before it is old. */
static void test_sent_as_it_comes_back(void) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.lease_ns = LEASE_MS * MS,
			.credit_max = 8,
			.released = send_again,
	};
	of_answers = make_slab(2);
	gid_producer_create(open_domain, "movie", &options, &answering);
	struct gid_consumer *consumer = consume(4, false, false);
	struct gid_frame frames[2];
	settle(answering);
	memset(&heard, 0, sizeof(heard));
	send_slot(answering, of_answers, 0);
	send_slot(answering, of_answers, 1);
	bool good = gid_consumer_receive_burst(consumer, frames, 2) == 2;
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			heard.released == 0 && cockpit_now_ms() < end; cockpit_sleep_ms(5)) {
		gid_producer_dispatch(answering);
	}
	tap_ok(good && heard.released == 1 && gid_slab_is_current(of_answers, frames[1].gid),
			"it is its reader's for a lease from then on: %u taken", heard.released);
	long kept = ms_until_taken(answering, of_answers, frames[1].gid, answered_at);
	tap_ok(kept >= LEASE_MS - 1, "which is all of it (%ld ms)", kept);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(answering);
	gid_slab_destroy(of_answers, false);
	settle(NULL);
}

/* --- a producer that waits for its readers ---------------------------------------------------- */

#define PATIENT_MS 1000l

static struct gid_producer *produce_patiently(void) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.lease_ns = PATIENT_MS * MS,
			.credit_max = 8,
			.released = hear_released,
			.patient = true,
	};
	struct gid_producer *producer = NULL;
	gid_producer_create(open_domain, "movie", &options, &producer);
	return producer;
}

static void test_leases_unless_asked_for(void) {
	static const uint64_t seconds[] = {1, 10};
	for (int patient = 0; patient < 2; patient++) {
		struct gid_producer_options options = {
				.size = sizeof(options), .patient = patient == 1};
		struct gid_producer *producer = NULL;
		struct gid_consumer_stats told = {0};
		gid_producer_create(open_domain, "movie", &options, &producer);
		struct gid_consumer *consumer = consume(4, false, false);
		settle(producer);
		gid_consumer_get_stats(consumer, &told);
		tap_ok(told.lease_ns == seconds[patient] * 1000 * MS, "a lease takes %d s%s",
				(int)seconds[patient], patient == 1 ? " of who is patient" : "");
		gid_consumer_destroy(consumer);
		gid_producer_destroy(producer);
		settle(NULL);
	}
}

/* Who takes a frame in each lease loses none, however long the last one has to wait. */
static void test_slow_reader(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce_patiently();
	struct gid_consumer *consumer = consume(8, false, false);
	struct gid_producer_stats stats;
	struct gid_frame frame;
	uint32_t count = 0;
	settle(producer);
	for (uint32_t slot = 0; slot < 8; slot++) {
		send_slot(producer, slab, slot);
	}
	for (int i = 0; i < 8; i++) {
		pass_time(producer, PATIENT_MS / 3);
		count += gid_consumer_receive(consumer, &frame) == 1 && frame.pts == count &&
				gid_consumer_release(consumer, &frame) == 0;
	}
	gid_producer_get_stats(producer, &stats);
	tap_ok(count == 8 && stats.dropped == 0, "who takes one in each lease gets all: %u", count);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static void test_given_up(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce_patiently();
	struct gid_consumer *consumer = consume(2, false, false);
	struct gid_producer_stats stats;
	struct gid_frame frame;
	settle(producer);
	send_slot(producer, slab, 0);
	send_slot(producer, slab, 1);
	tap_ok(gid_producer_room(producer) == 0 && gid_producer_unread(producer) == 2,
			"a reader that has no room is waited for");
	pass_time(producer, 3 * PATIENT_MS);
	tap_ok(gid_producer_room(producer) == UINT32_MAX && gid_producer_unread(producer) == 0,
			"but no longer than a lease");
	for (uint32_t slot = 2; slot < 6; slot++) {
		send_slot(producer, slab, slot);
	}
	gid_producer_get_stats(producer, &stats);
	tap_ok(gid_producer_room(producer) == UINT32_MAX && stats.dropped == 4,
			"nor for each frame anew: %llu are lost",
			(unsigned long long)stats.dropped);
	bool got = gid_consumer_receive(consumer, &frame) == 1 && frame.pts == 1;
	gid_producer_dispatch(producer);
	tap_ok(got && gid_producer_room(producer) == 0 && gid_producer_unread(producer) == 1,
			"once it takes one it is waited for again");
	gid_consumer_release(consumer, &frame);
	gid_producer_dispatch(producer);
	tap_ok(gid_producer_room(producer) == 1, "and has room");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Who chose that new frames take the place of old ones holds up nobody. */
static void test_who_may_miss(void) {
	struct gid_slab *slab = make_slab(8);
	struct gid_producer *producer = produce_patiently();
	struct gid_consumer *newest = consume(2, true, false), *all = consume(4, false, false);
	struct gid_producer_stats stats;
	struct gid_frame frame;
	settle(producer);
	for (uint32_t slot = 0; slot < 3; slot++) {
		send_slot(producer, slab, slot);
	}
	gid_producer_get_stats(producer, &stats);
	tap_ok(gid_producer_room(producer) == 1 && stats.dropped == 0,
			"who may miss frames is not waited for, and they are no loss");
	tap_ok(gid_consumer_receive(newest, &frame) == 1 && frame.pts == 1 &&
					gid_producer_unread(producer) == 3,
			"it has the newest ones");
	gid_consumer_destroy(all);
	settle(producer);
	tap_ok(gid_producer_room(producer) == UINT32_MAX && gid_producer_unread(producer) == 1,
			"which it may still read at the end");
	gid_consumer_destroy(newest);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

int main(void) {
	if (stream_pair_init()) {
		test_leases_unless_asked_for();
		test_slow_reader();
		test_given_up();
		test_who_may_miss();
		test_lease();
		test_told();
		test_sent_again();
		test_sent_as_it_comes_back();
		test_lease_of_another();
		test_no_lease();
	}
	return stream_pair_finish();
}
