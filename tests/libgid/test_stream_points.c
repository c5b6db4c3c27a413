// SPDX-License-Identifier: MIT
/*
 * The timeline of a stream. Whoever reads it compares clocks by what nobody doubts: a frame is free
 * after it was released, and a slot is sent again after it was free.
 */
#include <errno.h>
#include <gid/timeline.h>

#include "stream_pair.h"

#define LEASE_MS 200l
#define POINTS 64u

static struct gid_producer *producer;
static struct gid_consumer *consumer;
static struct gid_slab *slab;
static char path[sizeof(cockpit_folder) + 16];

struct points {
	uint32_t count;
	uint64_t times[POINTS];
};

/* When a thing happened, each time. */
static struct points read_points(const char *name) {
	struct points points = {0};
	char line[GID_TIMELINE_LINE_MAX];
	FILE *file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		unsigned long long seconds, ns;
		if (strstr(line, name) != NULL && points.count < POINTS &&
				sscanf(line, "{ \"T\":[%llu, %llu]", &seconds, &ns) == 2) {
			points.times[points.count++] = seconds * 1000000000 + ns;
		}
	}
	if (file != NULL) {
		fclose(file);
	}
	return points;
}

static void begin(void) {
	struct gid_timeline *timeline = NULL;
	snprintf(path, sizeof(path), "%s/points.log", cockpit_folder);
	unlink(path);
	bool good = gid_timeline_open(path, "test", &timeline) == 0;
	struct gid_producer_options sends = {
			.size = sizeof(sends),
			.lease_ns = LEASE_MS * 1000000,
			.credit_max = 8,
			.timeline = timeline,
	};
	struct gid_consumer_options takes = {
			.size = sizeof(takes),
			.credit = 4,
			.timeline = timeline,
	};
	slab = make_slab(4);
	good &= gid_producer_create(open_domain, "movie", &sends, &producer) == 0 &&
			gid_consumer_create(cluster_domain, "open", "movie", &takes, &consumer) ==
					0;
	tap_ok(good, "a stream with a timeline");
	gid_timeline_unref(timeline);
	settle(producer);
}

static void end(void) {
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static void test_late_releases_are_none(void) {
	struct gid_frame late, in_time;
	begin();
	send_slot(producer, slab, 0);
	send_slot(producer, slab, 1);
	bool good = gid_consumer_receive(consumer, &late) == 1;
	for (long until = cockpit_now_ms() + 2 * LEASE_MS; cockpit_now_ms() < until;) {
		cockpit_sleep_ms(5);
		gid_producer_dispatch(producer);
	}
	good &= gid_consumer_receive(consumer, &in_time) == 1;
	tap_ok(good && gid_consumer_release(consumer, &late) == 0 &&
					read_points("gid_released").count == 0,
			"what was taken back by force is not said to be released");
	tap_ok(gid_consumer_release(consumer, &in_time) == 0 &&
					read_points("gid_released").count == 1,
			"what was not is");
	tap_ok(gid_consumer_release(consumer, &in_time) == -EINVAL &&
					read_points("gid_released").count == 1,
			"but once: who gives it back again has it no more");
	end();
}

/* As a sign of life: the producer hears of the release only as it sends. */
static void test_free_before_it_is_sent_again(bool burst) {
	struct gid_frame frame, again = GID_FRAME_INIT;
	begin();
	send_slot(producer, slab, 0);
	bool good = gid_consumer_receive(consumer, &frame) == 1 &&
			gid_consumer_release(consumer, &frame) == 0;
	again.gid = gid_slab_gid(slab, 0);
	good &= (burst ? gid_producer_send_burst(producer, &again, 1)
		       : gid_producer_send(producer, &again)) == 1;
	struct points freed = read_points("gid_freed"), sent = read_points("gid_submit");
	tap_ok(good && freed.count == 1 && sent.count == 2 && freed.times[0] < sent.times[1],
			"a slot is free before it is sent again%s", burst ? ", in a burst" : "");
	end();
}

int main(void) {
	if (stream_pair_init()) {
		test_late_releases_are_none();
		test_free_before_it_is_sent_again(false);
		test_free_before_it_is_sent_again(true);
	}
	return stream_pair_finish();
}
