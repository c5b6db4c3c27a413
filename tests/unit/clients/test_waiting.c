// SPDX-License-Identifier: MIT
/* Frames that wait to be shown, and what each of them changes of the picture. */
#include "waiting.h"

#include "tap.h"

static struct gid_frame frame(uint64_t sequence, struct gid_box damage) {
	return (struct gid_frame){.gid = sequence << 16, .sequence = sequence, .damage = damage};
}

static void add(struct waiting *waiting, uint64_t sequence, struct gid_box damage) {
	struct gid_frame added = frame(sequence, damage);
	waiting_add(waiting, &added);
}

static bool first_is(const struct waiting *waiting, uint64_t sequence) {
	return waiting_get(waiting, 0)->sequence == sequence;
}

static bool damages(const struct waiting *waiting, struct gid_box box) {
	struct damage damage = waiting_damage(waiting);
	return !damage.everything && damage.box.x == box.x && damage.box.y == box.y &&
			damage.box.width == box.width && damage.box.height == box.height;
}

static void test_order(void) {
	struct waiting waiting;
	bool in_order = true;
	waiting_init(&waiting);
	tap_ok(waiting_get(&waiting, 0) == NULL, "nothing waits");
	for (uint64_t i = 1; i <= 4 * GID_CREDIT_MAX; i++) {
		add(&waiting, i, (struct gid_box){0});
		if (i >= GID_CREDIT_MAX) {
			in_order = in_order && first_is(&waiting, i - GID_CREDIT_MAX + 1) &&
					waiting_get(&waiting, GID_CREDIT_MAX - 1)->sequence == i;
			waiting_remove(&waiting, true);
		}
	}
	tap_ok(in_order && waiting.count == GID_CREDIT_MAX - 1,
			"as many as there can be, in order");
	waiting_forget(&waiting);
	tap_ok(waiting_get(&waiting, 0) == NULL, "none is left");
}

static void test_damage(void) {
	struct waiting waiting;
	waiting_init(&waiting);
	add(&waiting, 1, (struct gid_box){1, 1, 1, 1});
	tap_ok(waiting_damage(&waiting).everything, "the first frame changes everything");
	waiting_remove(&waiting, true);
	add(&waiting, 2, (struct gid_box){4, 5, 6, 7});
	add(&waiting, 3, (struct gid_box){2, 8, 3, 10});
	tap_ok(damages(&waiting, (struct gid_box){4, 5, 6, 7}), "the next one what it says");
	waiting_remove(&waiting, true);
	tap_ok(damages(&waiting, (struct gid_box){2, 8, 3, 10}), "and so on");
	add(&waiting, 4, (struct gid_box){4, 5, 6, 7});
	waiting_remove(&waiting, false);
	tap_ok(damages(&waiting, (struct gid_box){2, 5, 8, 13}),
			"after one that was not shown, both");
	waiting_remove(&waiting, false);
	add(&waiting, 5, (struct gid_box){0, 0, 1, 1});
	tap_ok(damages(&waiting, (struct gid_box){0, 0, 10, 18}), "also if it comes later");
	waiting_remove(&waiting, true);
	add(&waiting, 7, (struct gid_box){0, 0, 1, 1});
	tap_ok(waiting_damage(&waiting).everything, "after a gap everything");
	waiting_remove(&waiting, true);
	add(&waiting, 8, (struct gid_box){0});
	tap_ok(waiting_damage(&waiting).everything, "and where nothing is said");
	waiting_remove(&waiting, true);
	waiting_damage_everything(&waiting);
	add(&waiting, 9, (struct gid_box){0, 0, 1, 1});
	tap_ok(waiting_damage(&waiting).everything, "and where there was nothing on the screen");
}

static void test_repeats(void) {
	struct waiting waiting;
	waiting_init(&waiting);
	add(&waiting, 1, (struct gid_box){0});
	waiting_remove(&waiting, true);
	struct gid_frame again = frame(2, (struct gid_box){0});
	tap_ok(!waiting_repeats(&waiting, &again), "another picture is none that is still right");
	again.flags = GID_FRAME_HEARTBEAT;
	tap_ok(waiting_repeats(&waiting, &again), "a sign of life is");
	add(&waiting, 3, (struct gid_box){1, 2, 3, 4});
	tap_ok(damages(&waiting, (struct gid_box){1, 2, 3, 4}), "and no gap");
	again.sequence = 5;
	tap_ok(!waiting_repeats(&waiting, &again), "one after a gap is a picture that was missed");
}

int main(void) {
	test_order();
	test_damage();
	test_repeats();
	return tap_finish();
}
