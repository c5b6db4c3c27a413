// SPDX-License-Identifier: MIT
/* When a device counts as one that shows nothing any more. */
#include "cluster/screen/owed_frame.h"

#include "tap.h"

#define REFRESH UINT64_C(16666667)
/* In 2 s, which is what gid-cluster(1) says. */
#define REFRESHES 120u

/* Asked at each refresh, as often at the most. Returns how many passed until it is overdue. */
static unsigned refreshes_until_overdue(struct owed_frame *owed, unsigned most) {
	unsigned passed = 1;
	while (!owed_frame_is_overdue(owed, true, REFRESH) && passed < most) {
		passed++;
	}
	return passed;
}

static struct owed_frame owing_device(void) {
	struct owed_frame owed = {0};
	owed_frame_given(&owed);
	owed_frame_shown(&owed);
	owed_frame_given(&owed);
	return owed;
}

static void test_in_time(void) {
	struct owed_frame owed = owing_device();
	unsigned passed = refreshes_until_overdue(&owed, 1000);
	tap_ok(passed == REFRESHES || passed == REFRESHES + 1,
			"one that shows nothing is found after 2 s, and no refresh later: %u",
			passed);
	tap_ok(owed_frame_is_overdue(&owed, true, 0), "and stays found");
}

static void test_who_shows_is_not_found(void) {
	struct owed_frame owed = owing_device();
	unsigned found = 0;
	for (unsigned i = 0; i < 100; i++) {
		for (unsigned j = 0; j < REFRESHES - 1; j++) {
			found += owed_frame_is_overdue(&owed, true, REFRESH);
		}
		owed_frame_shown(&owed);
		found += owed_frame_is_overdue(&owed, true, REFRESH);
		owed_frame_given(&owed);
	}
	tap_ok(found == 0, "one that shows a frame each time just in time");
	owed_frame_shown(&owed);
	tap_ok(refreshes_until_overdue(&owed, 1000) == 1000, "nor one that has nothing to show");
}

static void test_who_cannot_show_is_not_found(void) {
	struct owed_frame owed = {0};
	owed_frame_given(&owed);
	tap_ok(refreshes_until_overdue(&owed, 1000) == 1000,
			"one that has never shown anything: a new start would not help");
	owed = owing_device();
	refreshes_until_overdue(&owed, REFRESHES - 2);
	tap_ok(!owed_frame_is_overdue(&owed, false, REFRESH), "nor one that others have");
	tap_ok(refreshes_until_overdue(&owed, 1000) >= REFRESHES,
			"and when it is back it has all of the time again");
}

int main(void) {
	test_in_time();
	test_who_shows_is_not_found();
	test_who_cannot_show_is_not_found();
	return tap_finish();
}
