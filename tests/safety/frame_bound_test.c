// SPDX-License-Identifier: MIT
/* What a frame takes at the worst: each picture of the configuration counts once, where it is. */
#include "../../cluster/frame_bound.h"

#include <string.h>

#include "../unit/tap.h"

static struct role_config roles[] = {
		{.box = {0, 0, 100, 100}, .output = 0},
		{.box = {0, 0, 200, 100}, .output = 1},
};
static struct layer_config layers[] = {
		{.box = {0, 0, 1000, 100}, .output = 0, .fallback = FALLBACK_LAST},
		{.box = {0, 0, 1000, 100}, .output = 1, .fallback = FALLBACK_GREY},
};
static struct output_config outputs[2];
static const struct pixel_costs costs = {.copy = 1, .blend = 3, .hash = 10};

static void test_sums(void) {
	struct cluster_config config = {.outputs = outputs,
			.output_count = 2,
			.roles = roles,
			.role_count = 2,
			.layers = layers,
			.layer_count = 2};
	struct frame_bound first = frame_bound_of(&config, 0, 1000, 1000, &costs);
	struct frame_bound second = frame_bound_of(&config, 1, 1000, 1000, &costs);
	tap_ok(first.check == 100000 && second.check == 200000, "roles are checked");
	tap_ok(second.compose - first.compose == 10000 + 300000,
			"a veil counts, and what a role has more of pixels");
	tap_ok(first.total > first.compose + first.check, "others use the memory, too");
	config.layer_count = 0;
	struct frame_bound without = frame_bound_of(&config, 0, 1000, 1000, &costs);
	tap_ok(first.compose - without.compose >= 100000, "a layer counts with all its pixels");
	tap_ok(without.compose >= 1000000, "so does the output itself");
}

static void test_limits(void) {
	struct cluster_config config = {.worst_frame = 50};
	tap_ok(frame_bound_is_allowed(&config, 8000000, 16666666), "half a refresh is allowed");
	tap_ok(!frame_bound_is_allowed(&config, 8400000, 16666666), "more is not");
	config.worst_frame = 0;
	tap_ok(frame_bound_is_allowed(&config, UINT64_MAX, 1), "unless there is no limit");
}

static void test_fallbacks(void) {
	tap_ok(fallback_bound_of(0, 100) == 200, "a fallback is there after two refreshes");
	tap_ok(fallback_bound_of(50, 100) == 200 && fallback_bound_of(100, 100) == 200,
			"also where frames take all of one");
	tap_ok(fallback_bound_of(101, 100) == 300 && fallback_bound_of(250, 100) == 500,
			"but not where one takes more");
}

/* In ns for a pixel of the same size, the quickest of some. */
static double warm_copy(void) {
	static uint32_t from[320 * 240], to[320 * 240];
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < 50; i++) {
		from[i] = i; /* or the compiler would copy once */
		uint64_t begin = gid_clock_now();
		memcpy(to, from, sizeof(to));
		__asm__ volatile("" : : "r"(to) : "memory");
		uint64_t spent = gid_clock_now() - begin;
		least = spent < least ? spent : least;
	}
	return (double)least / (320 * 240);
}

static void test_machine(void) {
	struct pixel_costs measured = {0};
	tap_ok(pixel_costs_measure(&measured, 320, 240) == 0 && measured.copy > 0 &&
					measured.blend > 0 && measured.hash > 0,
			"a machine takes its time: %.2f, %.2f and %.2f ns for a pixel",
			measured.copy, measured.blend, measured.hash);
#if defined(__SSE2__) || defined(__aarch64__)
	double warm = warm_copy();
	tap_ok(measured.copy > 2 * warm, "with nothing in the caches: %.3f ns, and %.3f with all",
			measured.copy, warm);
#endif
}

int main(void) {
	test_sums();
	test_limits();
	test_fallbacks();
	test_machine();
	return tap_finish();
}
