// SPDX-License-Identifier: MIT
/* Streams between two domains with real gidds, both ends in this process, step by step. */
#include <errno.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <sys/mman.h>

#include "cockpit.h"
#include "tap.h"

#define MS 1000000ull
#define LEASE_MS 200l

static struct gid_domain *open_domain, *cluster_domain;
static const struct gid_layout layout = {
	.fourcc = 0x34325258, /* XR24 */
	.width = 64,
	.height = 16,
	.plane_count = 1,
	.planes = {{0, 256}},
};

static struct {
	uint32_t released;
	gid_id last_released;
	uint32_t joined, left;
	int state_count, reason;
	enum gid_consumer_state state;
} heard;

static void hear_released(void *data, gid_id gid) {
	heard.released++;
	heard.last_released = gid;
}

static void hear_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	heard.joined += joined;
	heard.left += !joined;
}

static void hear_state(void *data, enum gid_consumer_state state, int reason) {
	heard.state_count++;
	heard.state = state;
	heard.reason = reason;
}

static struct gid_producer *produce(uint64_t lease_ns, uint32_t credit) {
	struct gid_producer_options options = {
		.size = sizeof(options),
		.lease_ns = lease_ns,
		.credit_max = credit,
		.released = hear_released,
		.subscriber = hear_subscriber,
	};
	struct gid_producer *producer = NULL;
	int error = gid_producer_create(open_domain, "movie", &options, &producer);
	tap_ok(error == 0, "a producer (%s)", gid_domain_error(open_domain));
	return producer;
}

static struct gid_consumer *consume(uint32_t credit, bool drop_old, bool reconnect) {
	struct gid_consumer_options options = {
		.size = sizeof(options),
		.credit = credit,
		.drop_old = drop_old,
		.reconnect = reconnect,
		.state = hear_state,
	};
	struct gid_consumer *consumer = NULL;
	int error = gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer);
	tap_ok(error == 0, "a consumer (%s)", gid_domain_error(cluster_domain));
	return consumer;
}

/* Lets everybody hear what there is to hear, and what is said to that, a few times. */
static void settle(struct gid_producer *producer) {
	for (int i = 0; i < 4; i++) {
		cockpit_pass_on(open_domain, cluster_domain);
		gid_domain_dispatch(open_domain);
		gid_domain_dispatch(cluster_domain);
		if (producer != NULL) {
			gid_producer_dispatch(producer);
		}
	}
}

static bool is_readable(int fd) {
	struct pollfd poll_fd = {fd, POLLIN, 0};
	return poll(&poll_fd, 1, 0) == 1;
}

static int send_slot(struct gid_producer *producer, struct gid_slab *slab, uint32_t slot) {
	struct gid_frame frame = {
		.gid = gid_slab_gid(slab, slot),
		.capture_time = GID_TIME_NONE,
		.present_time = GID_TIME_NONE,
		.pts = slot,
		.dts = GID_TIME_NONE,
		.duration = GID_TIME_NONE,
	};
	return gid_producer_send(producer, &frame);
}

static struct gid_slab *make_slab(uint32_t slots) {
	struct gid_slab *slab = NULL;
	if (gid_slab_create(open_domain, &layout, 0, slots, NULL, &slab) < 0) {
		tap_ok(false, "a slab: %s", gid_domain_error(open_domain));
	}
	return slab;
}

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
			memcmp(gid_slab_view(seen, 1), gid_slab_data(slab, 1), 4096) == 0,
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

	struct gid_frame end = {.flags = GID_FRAME_EOS, .capture_time = GID_TIME_NONE};
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
		"counted: %lu frames, %lu delivered, %lu dropped, %u held", stats.frames,
		stats.delivered, stats.dropped, stats.held);
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
		gid_slab_holders(slab, 2) > 0 && cockpit_now_ms() < end; cockpit_sleep_ms(20)) {
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
					gid_slab_holders(slab, (uint32_t)round) == 1,
				"a frame of the subscription before is no frame of this one");
		}
		old = frame;
		gid_producer_destroy(producer);
		tap_ok(gid_consumer_receive(consumer, &frame) == -EPIPE &&
				gid_consumer_receive(consumer, &frame) == -EAGAIN &&
				heard.state == GID_CONSUMER_WAITING,
			"its end is told, then it waits again");
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
	gid_producer_destroy(producer);
	tap_ok(gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) == 1 &&
			gid_consumer_receive(consumer, &frame) == -EPIPE &&
			gid_consumer_wait(consumer, COCKPIT_PATIENCE_MS) == -EPIPE,
		"the end ends it");
	gid_consumer_destroy(consumer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static struct gid_producer *doomed;

static void destroy_producer(void *data, gid_id gid) {
	gid_producer_destroy(doomed);
	doomed = NULL;
}

static void destroy_consumer(void *data, enum gid_consumer_state state, int reason) {
	if (state == GID_CONSUMER_ENDED) {
		gid_consumer_destroy(*(struct gid_consumer **)data);
		*(struct gid_consumer **)data = NULL;
	}
}

/* Callbacks may end what calls them, and domains may end first. */
static void test_ends(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer_options options = {
		.size = sizeof(options), .released = destroy_producer};
	struct gid_consumer *consumer;
	struct gid_consumer_options consumer_options = {
		.size = sizeof(consumer_options), .state = destroy_consumer, .data = &consumer};
	gid_producer_create(open_domain, "movie", &options, &doomed);
	gid_consumer_create(cluster_domain, "open", "movie", &consumer_options, &consumer);
	settle(doomed);
	struct gid_frame frame;
	send_slot(doomed, slab, 0);
	send_slot(doomed, slab, 1);
	gid_consumer_receive(consumer, &frame);
	gid_consumer_release(consumer, &frame);
	send_slot(doomed, slab, 2);
	tap_ok(doomed == NULL, "a producer that is destroyed by its callback, while it sends");
	tap_ok(gid_consumer_receive(consumer, &frame) == -EPIPE && consumer == NULL,
		"and a consumer by its own");
	settle(NULL);

	struct gid_domain *domain;
	gid_domain_connect("open", &domain);
	gid_producer_create(domain, "movie", NULL, &doomed);
	consumer_options.state = hear_state;
	gid_consumer_create(domain, NULL, "movie", &consumer_options, &consumer);
	struct gid_slab *theirs;
	gid_slab_create(domain, &layout, 0, 4, NULL, &theirs);
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
		gid_consumer_get_state(consumer) != GID_CONSUMER_LIVE && cockpit_now_ms() < end;) {
		cockpit_sleep_ms(5);
		gid_domain_dispatch(domain);
	}
	tap_ok(send_slot(doomed, theirs, 0) == 1 && gid_consumer_receive(consumer, &frame) == 1,
		"a stream inside a domain");
	gid_domain_destroy(domain);
	tap_ok(send_slot(doomed, theirs, 1) == -EPIPE &&
			gid_consumer_receive(consumer, &frame) == -EPIPE &&
			gid_consumer_release(consumer, &frame) == 0,
		"both survive its end");
	gid_producer_destroy(doomed);
	gid_consumer_destroy(consumer);
	gid_slab_unref(theirs);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* 1000 times there and back leave nothing behind. */
static void test_cycles(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	settle(producer);
	int fds = 0, maps = 0, delivered = 0;
	for (int i = 0; i < 1010; i++) {
		if (i == 10) {
			fds = cockpit_count("/proc/self/fd");
			maps = cockpit_count("/proc/self/maps");
		}
		struct gid_consumer *consumer;
		struct gid_consumer_options options = {.size = sizeof(options), .credit = 2};
		gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer);
		long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
		while (gid_consumer_get_state(consumer) != GID_CONSUMER_LIVE &&
			cockpit_now_ms() < end) {
			struct pollfd poll_fds[] = {
				{gid_domain_get_fd(open_domain), POLLIN, 0},
				{gid_domain_get_fd(cluster_domain), POLLIN, 0},
			};
			poll(poll_fds, 2, 100);
			gid_domain_dispatch(open_domain);
			gid_domain_dispatch(cluster_domain);
		}
		struct gid_frame frame;
		send_slot(producer, slab, (uint32_t)i % 4);
		delivered += gid_consumer_receive(consumer, &frame) == 1;
		gid_consumer_destroy(consumer);
		gid_producer_dispatch(producer);
	}
	settle(producer);
	tap_ok(delivered == 1010, "each of 1010 subscriptions got its frame: %d", delivered);
	struct gid_producer_stats stats;
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.held == 0 && stats.consumers == 0, "no slot is held, no consumer left");
	tap_ok(cockpit_count("/proc/self/fd") == fds, "no descriptor is left behind: %d, then %d",
		fds, cockpit_count("/proc/self/fd"));
	tap_ok(cockpit_count("/proc/self/maps") <= maps + 2,
		"no mapping is left behind: %d, then %d", maps, cockpit_count("/proc/self/maps"));
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

int main(void) {
	if (!cockpit_init() || gid_domain_connect("open", &open_domain) < 0 ||
		gid_domain_connect("cluster", &cluster_domain) < 0) {
		tap_ok(false, "two domains");
		cockpit_finish();
		return tap_finish();
	}
	test_flow();
	test_credit();
	test_lease();
	test_lease_of_another();
	test_reconnect();
	test_refusals();
	test_wait();
	test_ends();
	test_cycles();
	gid_domain_destroy(cluster_domain);
	gid_domain_destroy(open_domain);
	cockpit_finish();
	return tap_finish();
}
