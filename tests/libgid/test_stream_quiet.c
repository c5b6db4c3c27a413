// SPDX-License-Identifier: MIT
/* A consumer that looks for frames by itself: nobody rings for it, and it still hears of the end.
 */
#include <errno.h>

#include "libgid/producer.h"
#include "stream_pair.h"

#define PATIENCE_NS UINT64_C(5000000000)

static struct gid_consumer *consume_quietly(void) {
	struct gid_consumer_options options = {
			.size = sizeof(options), .credit = 4, .state = hear_state, .quiet = true};
	struct gid_consumer *consumer = NULL;
	int error = gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer);
	tap_ok(error == 0, "a quiet consumer (%s)", gid_domain_error(cluster_domain));
	return consumer;
}

static uint64_t doorbells(const struct gid_producer *producer) {
	struct gid_producer_stats stats;
	gid_producer_get_stats(producer, &stats);
	return stats.doorbells;
}

static void test_flow(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumer = consume_quietly();
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	struct gid_frame frame;
	uint64_t before = doorbells(producer);
	bool good = true;
	for (uint32_t i = 0; i < 4; i++) {
		good &= gid_consumer_receive(consumer, &frame) == -EAGAIN;
		good &= send_slot(producer, slab, i) == 1;
		good &= !is_readable(gid_consumer_get_fd(consumer));
		good &= gid_consumer_receive(consumer, &frame) == 1 && frame.pts == i;
		gid_consumer_release(consumer, &frame);
	}
	tap_ok(good, "frames are found by looking, and the descriptor does not tell of them");
	tap_ok(doorbells(producer) == before, "nobody rang: %lu",
			(unsigned long)(doorbells(producer) - before));
	gid_producer_dispatch(producer);
	tap_ok(heard.released == 4, "all came back");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static void test_wait(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumer = consume_quietly();
	settle(producer);
	struct gid_frame frame;
	uint64_t before = doorbells(producer);
	tap_ok(gid_consumer_receive(consumer, &frame) == -EAGAIN &&
					gid_consumer_wait(consumer, 0) == 0,
			"there is nothing to wait for yet");
	send_slot(producer, slab, 0);
	tap_ok(doorbells(producer) == before + 1 && is_readable(gid_consumer_get_fd(consumer)),
			"one that waits is rung for");
	tap_ok(gid_consumer_wait(consumer, 1000) == 1 &&
					gid_consumer_receive(consumer, &frame) == 1 &&
					gid_consumer_receive(consumer, &frame) == -EAGAIN &&
					!is_readable(gid_consumer_get_fd(consumer)),
			"wakes, and finds the frame");
	send_slot(producer, slab, 1);
	tap_ok(doorbells(producer) == before + 1 && gid_consumer_receive(consumer, &frame) == 1,
			"then it is quiet again");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Of many readers each that sleeps is rung by one frame, wherever it is among them. */
static void test_sleepers(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumers[4];
	for (int i = 0; i < 4; i++) {
		consumers[i] = i == 1 ? consume_quietly() : consume(4, false, false);
	}
	settle(producer);
	struct gid_frame frame;
	bool sleep = true, woken = true, come = true;
	uint64_t before = doorbells(producer);
	for (int i = 0; i < 4; i++) {
		sleep &= gid_consumer_receive(consumers[i], &frame) == -EAGAIN;
	}
	bool sent = send_slot(producer, slab, 0) == 4;
	uint64_t once = doorbells(producer) - before;
	for (int i = 0; i < 4; i++) {
		woken &= is_readable(gid_consumer_get_fd(consumers[i])) == (i != 1);
	}
	tap_ok(sleep && sent && once == 3 && woken, "three of four sleep, and are rung: %lu",
			(unsigned long)once);
	sent = send_slot(producer, slab, 1) == 4;
	tap_ok(sent && doorbells(producer) == before + 3, "once for a sleep");
	for (int i = 0; i < 4; i++) {
		come &= gid_consumer_receive(consumers[i], &frame) == 1 && frame.pts == 0 &&
				gid_consumer_receive(consumers[i], &frame) == 1 && frame.pts == 1;
		gid_consumer_destroy(consumers[i]);
	}
	tap_ok(come, "both come to all");
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* Without a word, and without gidd's: its end of the doorbell is all that tells. */
static void test_hang_up(void) {
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumer = consume_quietly();
	settle(producer);
	struct gid_frame frame;
	bool good = gid_consumer_receive(consumer, &frame) == -EAGAIN;
	gid_producer_enter(producer);
	gid_subscription_end(producer->subscriptions, GID_END_BROKEN, -EIO);
	gid_producer_leave(producer);
	uint64_t until = gid_clock_now() + PATIENCE_NS;
	int got;
	do {
		got = gid_consumer_receive(consumer, &frame);
	} while (got == -EAGAIN && gid_clock_now() < until);
	tap_ok(good && got == -EPIPE && gid_consumer_get_state(consumer) == GID_CONSUMER_ENDED,
			"a producer that is gone is noticed by looking");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	settle(NULL);
}

static void test_misuse(void) {
	struct gid_consumer_options options = {
			.size = sizeof(options), .sleeps = true, .quiet = true};
	struct gid_consumer *consumer = NULL;
	tap_ok(gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer) == -EINVAL,
			"%s", gid_domain_error(cluster_domain));
	struct gid_producer *producer = produce(0, 8);
	consumer = consume_quietly();
	settle(producer);
	tap_ok(gid_consumer_set_sleeps(consumer, true) == -EINVAL &&
					gid_consumer_sleep_until(consumer, 0) == -EINVAL &&
					gid_consumer_wait(consumer, 0) == 0,
			"a quiet one does not sleep over its ring, and can be waited for still");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	settle(NULL);
}

int main(void) {
	if (stream_pair_init()) {
		test_flow();
		test_wait();
		test_sleepers();
		test_hang_up();
		test_misuse();
	}
	return stream_pair_finish();
}
