// SPDX-License-Identifier: MIT
/* Which formats consumers tell that they can show, and what a producer makes of that. */
#include <errno.h>
#include <inttypes.h>

#include "libgid/consumer.h"
#include "stream_pair.h"

#define XR24 0x34325258u
#define AR24 0x34325241u
#define NV12 0x3231564eu
#define TILED 0x0100000000000002u /* a modifier of one vendor: kept as it is */
#define ANY (GID_SHOWABLE_SHARED | GID_SHOWABLE_DMABUF)

static const struct gid_showable gl[] = {
		{NV12, GID_SHOWABLE_DMABUF, TILED},
		{NV12, GID_SHOWABLE_DMABUF, 0},
		{AR24, ANY, 0},
		{XR24, ANY, 0},
};
static const struct gid_showable rgb[] = {{XR24, GID_SHOWABLE_SHARED, 0}, {AR24, ANY, 0}};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool is(const struct gid_showable *found, uint32_t fourcc, uint32_t memory, uint64_t mod) {
	return found->fourcc == fourcc && found->memory == memory && found->modifier == mod;
}

static int get(const struct gid_producer *producer, struct gid_showable *found) {
	return gid_producer_get_showable(producer, found);
}

static void test_telling(struct gid_producer *producer, struct gid_consumer *first,
		struct gid_consumer *second) {
	struct gid_showable found[GID_SHOWABLE_MAX];
	tap_ok(get(producer, found) == -ENODATA, "nobody told anything");
	gid_consumer_tell_showable(first, gl, COUNT(gl));
	tap_ok(get(producer, found) == COUNT(gl) && memcmp(found, gl, sizeof(gl)) == 0,
			"what one can show is told, in its order");
	gid_consumer_tell_showable(second, rgb, COUNT(rgb));
	int count = get(producer, found);
	int xr24 = count == 2 && found[1].fourcc == XR24;
	tap_ok(count == 2 && is(&found[xr24], XR24, GID_SHOWABLE_SHARED, 0) &&
					is(&found[1 - xr24], AR24, ANY, 0),
			"of two, what both can, in memory of which both can");
	gid_consumer_tell_showable(second, gl, 1);
	tap_ok(get(producer, found) == 1 && is(&found[0], NV12, GID_SHOWABLE_DMABUF, TILED),
			"what is told again takes the place of what was");
	gid_consumer_tell_showable(second, rgb, 1);
	gid_consumer_tell_showable(first, gl, 2);
	tap_ok(get(producer, found) == 0, "two may have nothing in common");
}

static void test_lies(struct gid_producer *producer, struct gid_consumer *consumer) {
	const struct gid_showable lies[] = {{0, ANY, 0}, {0x20202020, ANY, 0}, {XR24, 0, 0},
			{XR24, 4, 0}, {XR24, UINT32_MAX, 0}, {UINT32_MAX, 1, UINT64_MAX}};
	struct gid_showable found[GID_SHOWABLE_MAX];
	struct gid_wire_page *page = consumer->memory.data;
	gid_consumer_tell_showable(consumer, lies, COUNT(lies));
	tap_ok(get(producer, found) == -ENODATA,
			"formats and memory that are none are not believed");
	gid_consumer_tell_showable(consumer, rgb, COUNT(rgb));
	page->showable_count++;
	tap_ok(get(producer, found) == -ENODATA, "nor is what is just being written");
	page->showable_count++;
	tap_ok(get(producer, found) == COUNT(rgb), "which is read later");
	for (uint64_t number = GID_SHOWABLE_MAX + 1; number != 0; number *= 2) {
		page->showable_number = number;
		if (get(producer, found) != -ENODATA) {
			tap_ok(false, "%" PRIu64 " are believed", number);
		}
	}
	struct gid_showable many[2 * GID_SHOWABLE_MAX];
	for (size_t i = 0; i < COUNT(many); i++) {
		many[i] = rgb[0];
	}
	gid_consumer_tell_showable(consumer, many, COUNT(many));
	tap_ok(get(producer, found) == (int)GID_SHOWABLE_MAX, "of too many, the rest is left out");
}

int main(void) {
	if (!stream_pair_init()) {
		return stream_pair_finish();
	}
	struct gid_producer *producer = produce(0, 0);
	struct gid_consumer *first = consume(4, false, false);
	tap_ok(gid_consumer_tell_showable(first, rgb, COUNT(rgb)) == -ENOTCONN,
			"without a stream there is nobody to tell");
	struct gid_consumer *second = consume(4, false, false);
	settle(producer);
	test_telling(producer, first, second);
	gid_consumer_destroy(first);
	settle(producer);
	test_lies(producer, second);
	gid_consumer_destroy(second);
	gid_producer_destroy(producer);
	return stream_pair_finish();
}
