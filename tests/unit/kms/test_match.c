// SPDX-License-Identifier: MIT
/* Screens get CRTCs so that as many as possible have one, whichever asks first. */
#include "kms/kms_match.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tap.h"

#define ALL UINT32_MAX
#define RANDOM_SETS 20000
#define SCREENS 5u
#define CRTCS 5u

/* One screen after the other asks, as they are switched on. Returns how many got a CRTC. */
static size_t match_all(const uint32_t *possible, size_t count, uint32_t free_crtcs) {
	size_t matched = 0;
	for (size_t i = 0; i < count; i++) {
		int crtc = kms_match_first(possible + i, count - i, free_crtcs);
		if (crtc != KMS_MATCH_NONE) {
			free_crtcs &= ~(UINT32_C(1) << crtc);
			matched++;
		}
	}
	return matched;
}

/* By trying everything. */
static size_t most_by_force(const uint32_t *possible, size_t count, uint32_t free_crtcs) {
	if (count == 0) {
		return 0;
	}
	size_t most = most_by_force(possible + 1, count - 1, free_crtcs);
	for (uint32_t crtc = 0; crtc < CRTCS; crtc++) {
		uint32_t bit = UINT32_C(1) << crtc;
		if (possible[0] & free_crtcs & bit) {
			size_t with = 1 + most_by_force(possible + 1, count - 1, free_crtcs & ~bit);
			most = with > most ? with : most;
		}
	}
	return most;
}

static void test_usual_devices(void) {
	tap_ok(kms_match_first((const uint32_t[]){ALL, ALL}, 2, ALL) == 0, "the first of equals");
	tap_ok(kms_match_first((const uint32_t[]){ALL, ALL}, 2, ALL & ~1u) == 1, "if it is free");
	tap_ok(kms_match_first((const uint32_t[]){3, 1}, 2, 3) == 1,
			"not the only one that fits another screen");
	tap_ok(kms_match_first((const uint32_t[]){3, 1}, 2, 1) == 0, "unless there is no other");
	tap_ok(kms_match_first((const uint32_t[]){3, 6, 1}, 3, 7) == 1,
			"nor one for want of which another screen would take that");
	tap_ok(kms_match_first((const uint32_t[]){0x80000000u}, 1, ALL) == 31, "the last one");
	tap_ok(kms_match_first((const uint32_t[]){4, 3}, 2, 3) == KMS_MATCH_NONE &&
					kms_match_first((const uint32_t[]){0}, 1, ALL) ==
							KMS_MATCH_NONE,
			"none, where none fits");
}

static void test_more_screens_than_crtcs(void) {
	uint32_t possible[KMS_MATCH_MAX + 9];
	for (size_t i = 0; i < KMS_MATCH_MAX + 9; i++) {
		possible[i] = ALL;
	}
	tap_ok(match_all(possible, KMS_MATCH_MAX + 9, ALL) == KMS_MATCH_MAX, "each CRTC is used");
}

static void test_all_get_one_if_they_can(void) {
	unsigned short state[3] = {1, 2, 3};
	unsigned wrong = 0, short_of = 0;
	for (unsigned i = 0; i < RANDOM_SETS; i++) {
		uint32_t possible[SCREENS];
		for (size_t j = 0; j < SCREENS; j++) {
			possible[j] = (uint32_t)(nrand48(state) & nrand48(state)) % (1u << CRTCS);
		}
		uint32_t free_crtcs = (uint32_t)(nrand48(state) | nrand48(state)) % (1u << CRTCS);
		size_t most = most_by_force(possible, SCREENS, free_crtcs);
		short_of += most < SCREENS;
		/* With too few for all, who asks first gets one, so others may go without. */
		wrong += most == SCREENS && match_all(possible, SCREENS, free_crtcs) != SCREENS;
	}
	tap_ok(wrong == 0 && short_of > 0 && short_of < RANDOM_SETS,
			"%u sets of screens: if all can have one, all get one (%u can)",
			RANDOM_SETS, RANDOM_SETS - short_of);
}

int main(void) {
	test_usual_devices();
	test_more_screens_than_crtcs();
	test_all_get_one_if_they_can();
	return tap_finish();
}
