// SPDX-License-Identifier: MIT
/* What a consumer with a display tells its producer of frames that were shown. */
#include <errno.h>

#include "libgid/consumer.h"
#include "stream_pair.h"

#define REFRESH 16666667

static int tell(struct gid_consumer *consumer, uint64_t sequence, uint64_t time, uint64_t refresh) {
	const struct gid_shown shown = {
			.sequence = sequence,
			.time = time,
			.refresh_ns = refresh,
			.window_ns = refresh / 2,
	};
	return gid_consumer_tell_shown(consumer, &shown);
}

/* Whether the producer is told what was said. */
static bool hears(
		struct gid_producer *producer, uint64_t sequence, uint64_t time, uint64_t refresh) {
	struct gid_shown shown;
	return gid_producer_get_shown(producer, 0, &shown) == 0 && shown.sequence == sequence &&
			shown.time == time && shown.refresh_ns == refresh &&
			shown.window_ns == refresh / 2;
}

static void test_telling(struct gid_producer *producer, struct gid_consumer *consumer,
		struct gid_slab *slab) {
	struct gid_shown shown;
	struct gid_frame frame;
	tap_ok(!gid_consumer_wants_shown(consumer), "nobody has to tell what nobody wants");
	tap_ok(gid_producer_get_shown(producer, 0, &shown) == -ENODATA, "nothing was told");
	tap_ok(gid_consumer_wants_shown(consumer), "now somebody wants to know");
	send_slot(producer, slab, 0);
	tap_ok(gid_consumer_receive(consumer, &frame) == 1, "a frame");
	uint64_t now = gid_clock_now();
	tap_ok(tell(consumer, frame.sequence, now, REFRESH) == 0 &&
					hears(producer, frame.sequence, now, REFRESH),
			"when it was shown is told");
	tap_ok(tell(consumer, frame.sequence, now + 5, 0) == 0 &&
					hears(producer, frame.sequence, now + 5, 0),
			"also by a display without refreshes");
	gid_consumer_release(consumer, &frame);
}

/* The page is the consumer's: it can write anything. */
static void test_lies(struct gid_producer *producer, struct gid_consumer *consumer) {
	const uint64_t now = gid_clock_now(), second = 1000000000;
	const struct gid_shown lies[] = {
			{.sequence = 0, .time = now, .refresh_ns = REFRESH},
			{.sequence = 1000, .time = now, .refresh_ns = REFRESH},
			{.sequence = 1, .time = now - 2 * second, .refresh_ns = REFRESH},
			{.sequence = 1, .time = now + 5 * second, .refresh_ns = REFRESH},
			{.sequence = 1, .time = UINT64_MAX, .refresh_ns = REFRESH},
			{.sequence = 1, .time = now, .refresh_ns = 1},
			{.sequence = 1, .time = now, .refresh_ns = 2 * second},
			{.sequence = 1, .time = now, .refresh_ns = UINT64_MAX},
			{.sequence = 1,
					.time = now,
					.refresh_ns = REFRESH,
					.window_ns = REFRESH + 1},
			{.sequence = 1, .time = now, .window_ns = 1},
	};
	struct gid_shown shown;
	int believed = 0;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		gid_ring_tell_shown(&consumer->ring, &lies[i]);
		believed += gid_producer_get_shown(producer, 0, &shown) == 0;
	}
	tap_ok(believed == 0, "what cannot be is not believed");
	tell(consumer, 1, now, REFRESH);
	struct gid_wire_page *page = consumer->memory.data;
	page->shown_count++;
	tap_ok(gid_producer_get_shown(producer, 0, &shown) == -ENODATA,
			"nor is what is just being written");
	page->shown_count++;
	tap_ok(hears(producer, 1, now, REFRESH), "which is read later");
}

/* Of several each could do harm to the others. */
static void test_several(struct gid_producer *producer, struct gid_consumer *consumer) {
	struct gid_consumer_options options = {.size = sizeof(options)};
	struct gid_consumer *own = NULL;
	struct gid_shown shown;
	gid_consumer_create(open_domain, NULL, "movie", &options, &own);
	settle(producer);
	uint64_t now = gid_clock_now(); /* what is older than a second or two is not believed */
	tell(consumer, 1, now, REFRESH);
	tell(own, 1, now + 1, REFRESH);
	tap_ok(gid_producer_get_shown(producer, 0, &shown) == -ENODATA, "of two none counts");
	tap_ok(gid_producer_get_shown(producer, 2, &shown) == 0 && shown.time == now &&
					gid_producer_get_shown(producer, 1, &shown) == 0 &&
					shown.time == now + 1 &&
					gid_producer_get_shown(producer, 3, &shown) == -ENODATA,
			"but the one whose domain is named");
	gid_consumer_destroy(own);
	settle(producer);
	now = gid_clock_now();
	tell(consumer, 1, now, REFRESH);
	tap_ok(hears(producer, 1, now, REFRESH), "nor of one that is gone");
}

int main(void) {
	if (!stream_pair_init()) {
		return stream_pair_finish();
	}
	struct gid_producer *producer = produce(0, 0);
	struct gid_slab *slab = make_slab(4);
	struct gid_consumer *consumer = consume(4, false, false);
	tap_ok(tell(consumer, 1, gid_clock_now(), REFRESH) == -ENOTCONN,
			"without a stream there is nobody to tell");
	settle(producer);
	test_telling(producer, consumer, slab);
	test_lies(producer, consumer);
	test_several(producer, consumer);
	struct gid_consumer *later = consume(4, false, false);
	settle(producer);
	tap_ok(gid_consumer_wants_shown(later), "who comes later is asked as well");
	gid_consumer_destroy(later);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	return stream_pair_finish();
}
