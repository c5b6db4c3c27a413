// SPDX-License-Identifier: MIT
#include "kms_match.h"

#include <stdbool.h>

/* A matching of screens and CRTCs. */
struct matching {
	const uint32_t *possible;   /* of each screen */
	int crtcs[KMS_MATCH_MAX];   /* of each screen */
	int screens[KMS_MATCH_MAX]; /* of each CRTC */
};

/* The CRTC goes to the screen that reached it, whose own goes to who reached that, and so on. */
static void matching_shift(struct matching *matching, const int *reached_by, int crtc) {
	while (crtc != KMS_MATCH_NONE) {
		int screen = reached_by[crtc];
		int old = matching->crtcs[screen];
		matching->crtcs[screen] = crtc;
		matching->screens[crtc] = screen;
		crtc = old;
	}
}

/*
 * Breadth first along paths that alternate (Berge 1957; Hopcroft and Karp 1973, without their
 * layers): each CRTC is reached once. Returns whether the screen got one, and all others kept one.
 */
static bool matching_add(struct matching *matching, int screen, uint32_t left) {
	int reached_by[KMS_MATCH_MAX];
	int queue[KMS_MATCH_MAX + 1] = {screen};
	size_t queued = 1;
	for (size_t next = 0; next < queued; next++) {
		for (int crtc = 0; crtc < (int)KMS_MATCH_MAX; crtc++) {
			uint32_t bit = UINT32_C(1) << crtc;
			if ((matching->possible[queue[next]] & left & bit) == 0) {
				continue;
			}
			left &= ~bit;
			reached_by[crtc] = queue[next];
			if (matching->screens[crtc] == KMS_MATCH_NONE) {
				matching_shift(matching, reached_by, crtc);
				return true;
			}
			queue[queued++] = matching->screens[crtc];
		}
	}
	return false;
}

/* How many of the screens can have a CRTC at once. */
static size_t count_matched(const uint32_t *possible, size_t count, uint32_t free_crtcs) {
	struct matching matching = {.possible = possible};
	size_t matched = 0;
	for (size_t i = 0; i < KMS_MATCH_MAX; i++) {
		matching.crtcs[i] = matching.screens[i] = KMS_MATCH_NONE;
	}
	for (size_t i = 0; i < count && i < KMS_MATCH_MAX; i++) {
		matched += matching_add(&matching, (int)i, free_crtcs);
	}
	return matched;
}

int kms_match_first(const uint32_t *possible, size_t count, uint32_t free_crtcs) {
	int best = KMS_MATCH_NONE;
	size_t most = 0;
	for (int crtc = 0; crtc < (int)KMS_MATCH_MAX; crtc++) {
		uint32_t bit = UINT32_C(1) << crtc;
		if ((possible[0] & free_crtcs & bit) == 0) {
			continue;
		}
		size_t matched = count_matched(possible + 1, count - 1, free_crtcs & ~bit);
		if (best == KMS_MATCH_NONE || matched > most) {
			best = crtc;
			most = matched;
		}
	}
	return best;
}
