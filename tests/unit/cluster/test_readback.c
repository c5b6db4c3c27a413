// SPDX-License-Identifier: MIT
/* How soon a device is found that shows something else than it is given, as an old frame again. */
#include "cluster/screen/readback.h"

#include "tap.h"

#define REFRESH UINT64_C(16666667)
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define FRAMES 1000u /* by then */
/* Beside those of writeback=, and one writeback: gid-cluster(1). */
#define REFRESHES 4u

/*
 * A display with a frame for each refresh, composed within the refresh before, some time after that
 * began. A device that is to write a frame does so from its refresh on.
 */
struct display {
	struct readback readback;
	uint64_t writeback; /* refreshes */
	uint64_t composes;  /* ns after a refresh began; up to a millisecond more, as it comes */
	uint64_t writes;    /* ns that the device takes */
	unsigned fails;	    /* so many frames are not written, which is known after a second */
	uint64_t written;   /* when the frame that is being written is, or has failed; 0: none */
	bool will_fail, is_old; /* of that frame: it is not the one that the device was given */
};

/* Composes the frame of this number. Returns whether it is known by then that one before was old.
 */
static bool compose(struct display *display, uint64_t number, bool is_old) {
	uint64_t begin = number * REFRESH;
	uint64_t now = begin - REFRESH + display->composes + number * 7919 % 1000000;
	bool found = false;
	if (display->written != 0 && display->written <= now) {
		found = display->is_old && !display->will_fail;
		display->written = 0;
	}
	readback_ask(&display->readback, display->written == 0, now);
	if (readback_sent(&display->readback, display->writeback * REFRESH, now)) {
		display->will_fail = is_old && display->fails > 0;
		display->fails -= display->will_fail;
		display->is_old = is_old;
		display->written = begin + (display->will_fail ? SECOND : display->writes);
	}
	return found;
}

/*
 * From the first refresh that shows an old frame to the first one that shows the fallback, in the
 * worst of all cases: ns.
 */
static uint64_t worst(const struct display *of) {
	uint64_t most = 0;
	for (uint64_t old = 2; old < 2 + 3 * of->writeback; old++) {
		struct display display = *of;
		uint64_t number = 1;
		while (!compose(&display, number, number >= old) && number < old + FRAMES) {
			number++;
		}
		uint64_t took = (number - old) * REFRESH;
		most = took > most ? took : most;
	}
	return most;
}

/* How often that is later than what is said, or so soon that it cannot be the worst. */
static void try_all(uint64_t writeback, unsigned fails, unsigned *late, unsigned *soon) {
	const uint64_t writes[] = {REFRESH / 10, REFRESH, 5 * REFRESH / 2};
	uint64_t wait = writeback * REFRESH;
	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		for (uint64_t composes = 0; composes < REFRESH - MS; composes += REFRESH / 8) {
			uint64_t took = worst(&(struct display){.writeback = writeback,
					.composes = composes,
					.writes = writes[i],
					.fails = fails});
			uint64_t each = (wait > SECOND ? wait : SECOND) + REFRESH;
			*late += took > wait + REFRESHES * REFRESH + writes[i] + fails * each;
			*soon += took < wait + fails * SECOND;
		}
	}
}

static void test_in_time(void) {
	const uint64_t writebacks[] = {1, 2, 12, 60, 120};
	unsigned late = 0, soon = 0;
	for (size_t i = 0; i < sizeof(writebacks) / sizeof(writebacks[0]); i++) {
		try_all(writebacks[i], 0, &late, &soon);
	}
	tap_ok(late == 0, "writeback= and 4 refreshes, and one writeback: %u times later", late);
	tap_ok(soon == 0, "and the worst is found: %u times it is sooner", soon);
	late = soon = 0;
	for (size_t i = 0; i < sizeof(writebacks) / sizeof(writebacks[0]); i++) {
		try_all(writebacks[i], 1, &late, &soon);
		try_all(writebacks[i], 2, &late, &soon);
	}
	tap_ok(late == 0, "a second or writeback=, and a refresh, for each that fails: %u later",
			late);
	tap_ok(soon == 0, "and the worst is found: %u times it is sooner", soon);
}

static void test_off_and_on(void) {
	struct readback readback = {0};
	unsigned told = 0;
	for (unsigned i = 1; i < READBACK_FAILED_MAX; i++) {
		told += readback_failed(&readback);
	}
	tap_ok(told == 0 && !readback.off, "one that fails is asked again");
	tap_ok(readback_failed(&readback) && readback.off, "one too many is told");
	tap_ok(!readback_failed(&readback) && readback.off, "once");
	tap_ok(readback_ask(&readback, true, 1), "and it is still asked");
	tap_ok(readback_written(&readback) && !readback.off, "one that writes again is told");
	tap_ok(!readback_written(&readback), "once");
	tap_ok(readback.count == 2 && readback.failed == READBACK_FAILED_MAX + 1,
			"all are counted");
}

static void test_once(void) {
	struct readback readback = {0};
	tap_ok(!readback_ask(&readback, false, 1) && !readback_sent(&readback, 10, 1),
			"a device that writes still is not asked");
	tap_ok(readback_ask(&readback, true, 1) && !readback_ask(&readback, true, 1),
			"one frame is asked for once");
	tap_ok(readback_is_due(&readback, false, 1), "and is due until it is on its way");
	tap_ok(readback_sent(&readback, 10, 5) && !readback_sent(&readback, 10, 6),
			"one frame is the one");
	tap_ok(!readback_is_due(&readback, true, 14) && readback_is_due(&readback, true, 15),
			"the next one is so much later");
}

int main(void) {
	test_in_time();
	test_off_and_on();
	test_once();
	return tap_finish();
}
