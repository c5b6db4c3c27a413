// SPDX-License-Identifier: MIT
/* Entries of rings: frames at their limits, just past them, and with each single bit changed. */
#include "wire_ring.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "tap.h"

static const struct gid_frame good_frame = {
		.gid = UINT64_C(1) << 56 | UINT64_C(42) << 32 | 3 << 16 | 7,
		.sequence = 9,
		.capture_time = GID_TIME_NONE,
		.submit_time = 1,
		.present_time = INT64_MAX,
		.pts = 0,
		.dts = GID_TIME_NONE,
		.duration = 2,
		.damage = {1, 2, 3, 4},
		.crop = {GID_SIZE_MAX - 1, 0, 1, GID_SIZE_MAX},
		.content_hash = UINT64_MAX,
		.flags = GID_FRAME_HASH | GID_FRAME_DELTA,
		.transform = 7,
		.index = UINT64_MAX,
		.offset = 7,
		.offset_end = GID_OFFSET_NONE,
		.media_flags = UINT32_MAX,
		.note_size = GID_NOTE_MAX,
};

/* A bad frame is refused on the way out, and on the way in where it can be written down at all. */
static void expect_bad_frame(struct gid_frame frame, const char *what) {
	struct gid_wire_frame wire;
	tap_ok(gid_wire_put_frame(&wire, &frame) == -EINVAL, "%s is not sent", what);
}

_Static_assert(offsetof(struct gid_frame, metadata) + sizeof(gid_id) == sizeof(struct gid_frame),
		"nothing is left out");

/* All that they say: pointers of 32 bits leave a gap, in which there is anything. */
static bool is_same(const struct gid_frame *a, const struct gid_frame *b) {
	const size_t gap = offsetof(struct gid_frame, note) + sizeof(a->note);
	return memcmp(a, b, gap) == 0 && a->metadata == b->metadata;
}

/* What is told by the first line alone is what the whole says. */
static void test_pictures(void) {
	struct gid_frame frame = GID_FRAME_INIT, back;
	struct gid_wire_frame wire, same;
	struct gid_wire_entry line;
	frame.gid = good_frame.gid;
	frame.flags = GID_FRAME_DISCONT;
	frame.transform = 3;
	frame.capture_time = 0;
	frame.index = 5;
	memset(&wire, 0xff, sizeof(wire));
	memset(&back, 0xff, sizeof(back));
	tap_ok(gid_wire_put_picture(&wire, &frame) && gid_wire_put_frame(&same, &frame) == 0 &&
					memcmp(&wire, &same, sizeof(wire)) == 0,
			"a whole picture is sent by its first line");
	line = gid_wire_make_line(&frame);
	tap_ok(gid_wire_is_plain(&frame) && memcmp(&line, &wire, sizeof(line)) == 0,
			"which can be made alone");
	tap_ok(gid_wire_get_picture(&back, &line, 1) && is_same(&back, &frame),
			"and comes back exactly");
	tap_ok(!gid_wire_get_picture(&back, &line, 2) &&
					gid_wire_get_frame(&back, &wire, 2) == -EPROTO,
			"but not from another domain");

	bool others = true;
	for (size_t bit = 0; bit < 8 * sizeof(line); bit++) {
		struct gid_wire_entry bad = line;
		((uint8_t *)&bad)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		bool picture = gid_wire_get_picture(&back, &bad, 1);
		struct gid_wire_frame whole = wire;
		memcpy(&whole, &bad, sizeof(bad));
		others &= !picture ||
				(gid_wire_put_frame(&same, &back) == 0 &&
						memcmp(&same, &whole, sizeof(same)) == 0);
	}
	tap_ok(others, "no other line is taken for one");
	line.gid = UINT64_C(1) << 56 | 3 << 16;
	tap_ok(!gid_wire_get_picture(&back, &line, 1), "nor is one of no slab");
	frame.pts = (uint64_t)INT64_MAX + 1;
	tap_ok(!gid_wire_put_picture(&wire, &frame), "nor is a frame with a wrong time");
	frame.pts = 0, frame.submit_time = (uint64_t)INT64_MAX + 1;
	tap_ok(!gid_wire_put_picture(&wire, &frame) && gid_wire_put_frame(&wire, &frame) == -EINVAL,
			"or one that was sent at a wrong time");
	frame.submit_time = 0, frame.note_size = 1;
	tap_ok(!gid_wire_put_picture(&wire, &frame), "or with a note");
	frame.note_size = 0, frame.flags = GID_FRAME_EOS;
	tap_ok(!gid_wire_put_picture(&wire, &frame), "or an end of stream");
}

/* Each field, at each bit: a frame is plain where its entry has no second line, and no box. */
static void test_plain(void) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = good_frame.gid;
	bool good = gid_wire_is_plain(&frame);
	uint32_t plain = 0, others = 0;
	for (size_t bit = 0; bit < 8 * sizeof(frame); bit++) {
		struct gid_frame other = frame;
		struct gid_wire_frame wire;
		((uint8_t *)&other)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		bool same_gid = other.gid == frame.gid, same_time = other.submit_time == 0;
		bool same_note = other.note == frame.note;
		bool is_plain = gid_wire_is_plain(&other);
		if (!same_gid || !same_time || !same_note) {
			good &= is_plain; /* not looked at */
			continue;
		}
		bool has_line = gid_wire_put_frame(&wire, &other) == 0 && wire.more == 0 &&
				(wire.damage[0] | wire.damage[1] | wire.damage[2] |
						wire.damage[3]) == 0;
		good &= is_plain == has_line;
		plain += is_plain;
		others += !is_plain;
	}
	tap_ok(good && plain > 100 && others > 900, "%u single bits leave a frame plain, %u do not",
			plain, others);
}

static void test_frames(void) {
	struct gid_wire_frame wire, bad;
	struct gid_frame back;
	tap_ok(gid_wire_put_frame(&wire, &good_frame) == 0, "a good frame is sent");
	tap_ok(gid_wire_get_frame(&back, &wire, 1) == 0 && is_same(&back, &good_frame),
			"and comes back exactly");
	tap_ok(gid_wire_get_frame(&back, &wire, 2) == -EPROTO, "but not from another domain");

	struct gid_frame frame = good_frame;
	frame.flags = UINT32_C(1) << 7;
	expect_bad_frame(frame, "an unknown flag");
	frame.flags = GID_FRAME_EOS;
	expect_bad_frame(frame, "an end of stream with a picture");
	frame = good_frame, frame.gid = GID_NONE;
	expect_bad_frame(frame, "a frame without a picture");
	frame.flags = GID_FRAME_EOS;
	tap_ok(gid_wire_put_frame(&bad, &frame) == 0 && gid_wire_get_frame(&back, &bad, 1) == 0,
			"an end of stream without a picture is good");
	tap_ok(gid_wire_get_frame(&back, &bad, 0) == 0 && back.gid == GID_NONE,
			"of whatever domain");
	frame = good_frame, frame.transform = 8;
	expect_bad_frame(frame, "an unknown transform");
	frame.transform = 7 + 0x10000;
	expect_bad_frame(frame, "a transform that does not fit");
	frame = good_frame, frame.damage.x = -1;
	expect_bad_frame(frame, "a negative box");
	frame = good_frame, frame.damage.width = INT32_MIN;
	expect_bad_frame(frame, "a negative width");
	frame = good_frame, frame.crop.x++;
	expect_bad_frame(frame, "a box past the largest picture");
	frame = good_frame, frame.crop.height = INT32_MAX;
	expect_bad_frame(frame, "a box that overflows");
	frame = good_frame, frame.pts = (uint64_t)INT64_MAX + 1;
	expect_bad_frame(frame, "a time out of range");
	frame = good_frame, frame.gid = UINT64_C(1) << 56 | (uint64_t)GID_SLOTS_MAX << 16;
	expect_bad_frame(frame, "a gid without a slab");
	frame.gid = UINT64_C(1) << 56 | UINT64_C(1) << 32 | (uint64_t)GID_SLOTS_MAX << 16;
	expect_bad_frame(frame, "a gid with a slot past the last");
	frame = good_frame, frame.note_size++;
	expect_bad_frame(frame, "a note that is too long");
	frame = good_frame, frame.metadata = 1;
	expect_bad_frame(frame, "metadata that lies nowhere");

	/* The other way: single bits of what a peer wrote. Whatever is taken must be good to send.
	 */
	bool closed = true;
	for (size_t bit = 0; bit < 8 * sizeof(wire); bit++) {
		bad = wire;
		((uint8_t *)&bad)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (bad.more == 0) { /* then the second line is none */
			memset(&bad.present_time, 0, sizeof(struct gid_wire_more));
		}
		int result = gid_wire_get_frame(&back, &bad, 1);
		if (result == 0) {
			struct gid_wire_frame again;
			closed &= gid_wire_put_frame(&again, &back) == 0 &&
					memcmp(&again, &bad, sizeof(bad)) == 0;
		} else {
			closed &= result == -EPROTO;
		}
	}
	tap_ok(closed, "each entry with one bit changed is refused or taken exactly as it is");
}

int main(void) {
	test_frames();
	test_pictures();
	test_plain();
	return tap_finish();
}
