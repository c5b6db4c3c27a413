// SPDX-License-Identifier: MIT
/* What a frame takes at the worst: each picture of the configuration counts once, where it is. */
#include "cluster/workers/frame_bound.h"

#include <string.h>
#include <time.h>

#include "tap.h"

static struct role_config roles[] = {
		{.box = {0, 0, 100, 100}, .output = 0},
		{.box = {0, 0, 200, 100}, .output = 1},
};
static struct layer_config layers[] = {
		{.box = {0, 0, 1000, 100}, .output = 0, .fallback = FALLBACK_LAST},
		{.box = {0, 0, 1000, 100}, .output = 1, .fallback = FALLBACK_GREY},
};
static struct output_config outputs[2];
static const struct pixel_costs costs = {.copy = 1, .veil = 3, .hash = 10};

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
	tap_ok(second.compose - first.compose == 10000 + 200000,
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

static void test_windows(void) {
	tap_ok(compose_window_of(PACING_BOUND, 1, 100) == 50 &&
					compose_window_of(PACING_BOUND, 38, 100) == 50,
			"a frame begins half a refresh before its own");
	tap_ok(compose_window_of(PACING_BOUND, 50, 100) == 62 &&
					compose_window_of(PACING_BOUND, 70, 100) == 82,
			"sooner where it may take longer, and be woken late");
	tap_ok(compose_window_of(PACING_BOUND, 95, 100) == 100, "but not before the one before");
	tap_ok(compose_window_of(PACING_BOUND, 0, 100) == 100 &&
					compose_window_of(PACING_BOUND, 101, 100) == 100,
			"as soon as can be where nobody knows, or it may take more than a refresh");
	tap_ok(compose_window_of(PACING_OFF, 1, 100) == 100 &&
					compose_window_of(PACING_ON, 1, 100) == 100,
			"and where the bound does not count");
}

static void test_fallbacks(void) {
	tap_ok(fallback_bound_of(PACING_BOUND, 1, 100) == 150 &&
					fallback_bound_of(PACING_BOUND, 38, 100) == 150,
			"a fallback is there after a refresh and a half");
	tap_ok(fallback_bound_of(PACING_BOUND, 70, 100) == 182, "or longer, as the window is");
	tap_ok(fallback_bound_of(PACING_OFF, 50, 100) == 200 &&
					fallback_bound_of(PACING_BOUND, 100, 100) == 200 &&
					fallback_bound_of(PACING_BOUND, 0, 100) == 200,
			"two refreshes where frames take all of one, or nobody knows");
	tap_ok(fallback_bound_of(PACING_BOUND, 101, 100) == 300 &&
					fallback_bound_of(PACING_OFF, 250, 100) == 500,
			"but not where one takes more");
}

/* As the time of a thread in a guest: that in which the hypervisor ran others is said to be its. */
static uint64_t stolen, steal_ns;
static unsigned to_be_stolen; /* so many times that it is looked at */

#ifdef __USE_TIME64_REDIRECTS /* its name in glibc where times have 64 bits, and words 32 */
#define CLOCK_GETTIME "__clock_gettime64"
#else
#define CLOCK_GETTIME "clock_gettime"
#endif

int real_clock_gettime(clockid_t clock, struct timespec *time) __asm__("__real_" CLOCK_GETTIME);
int wrap_clock_gettime(clockid_t clock, struct timespec *time) __asm__("__wrap_" CLOCK_GETTIME);

int wrap_clock_gettime(clockid_t clock, struct timespec *time) {
	int error = real_clock_gettime(clock, time);
	if (error == 0 && clock == CLOCK_THREAD_CPUTIME_ID) {
		stolen += to_be_stolen > 0 ? steal_ns : 0;
		to_be_stolen -= to_be_stolen > 0;
		uint64_t ns = (uint64_t)time->tv_nsec + stolen;
		time->tv_sec += (time_t)(ns / 1000000000u);
		time->tv_nsec = (long)(ns % 1000000000u);
	}
	return error;
}

/* While a row is measured. Each time that is measured is looked at twice. */
static void test_others_run(void) {
	struct pixel_costs measured = {0};
	const double stolen_of_each = 20e6 / (320 * 240);
	steal_ns = 20000000;
	to_be_stolen = 2 * 3 * 3;
	tap_ok(pixel_costs_measure(&measured, 320, 240) == 0 && to_be_stolen == 0,
			"the machine is away at first");
	tap_ok(measured.copy < stolen_of_each && measured.veil < stolen_of_each &&
					measured.hash < stolen_of_each,
			"which makes nothing dearer: %.2f, %.2f and %.2f ns for a pixel",
			measured.copy, measured.veil, measured.hash);
}

struct bounds {
	const uint64_t *ns;
	unsigned asked;
};

static uint64_t next_bound(void *data) {
	struct bounds *bounds = data;
	return bounds->ns[bounds->asked++];
}

static void test_settling(void) {
	const uint64_t refresh = 16666666, much = 24000000, little = 2000000;
	struct cluster_config config = {.worst_frame = 50};
	struct bounds none = {0};
	tap_ok(frame_bound_remeasure(&config, little, refresh, next_bound, &none) == little &&
					none.asked == 0,
			"what is allowed is not measured again");
	struct bounds late = {.ns = (uint64_t[]){much, much, little}};
	tap_ok(frame_bound_remeasure(&config, much, refresh, next_bound, &late) == little &&
					late.asked == 3,
			"what is too much is, until it is not");
	uint64_t all[100];
	for (size_t i = 0; i < 100; i++) {
		all[i] = much;
	}
	struct bounds never = {.ns = all};
	tap_ok(frame_bound_remeasure(&config, much, refresh, next_bound, &never) == much &&
					never.asked >= 10 && never.asked < 100,
			"and not for ever");
	struct frame_bound bound = {0};
	config = (struct cluster_config){.outputs = outputs, .output_count = 1};
	tap_ok(frame_bound_measure(&config, 0, 320, 240, &bound) == 0 && bound.total > 0,
			"what was not known is taken");
	bound.total = 1;
	tap_ok(frame_bound_measure(&config, 0, 320, 240, &bound) == 0 && bound.total == 1,
			"and replaced only by less");
}

#if defined(__SSE2__) || defined(__aarch64__)
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
#endif

static void test_machine(void) {
	struct pixel_costs measured = {0};
	int error = pixel_costs_measure(&measured, 320, 240);
	tap_ok(error == 0 && measured.copy > 0 && measured.veil > 0 && measured.hash > 0,
			"a machine takes its time: %.2f, %.2f and %.2f ns for a pixel",
			measured.copy, measured.veil, measured.hash);
#if defined(__SSE2__) || defined(__aarch64__)
	double warm = warm_copy();
	/* One that is busy at first takes longer for that. */
	for (unsigned i = 0; i < 100 && measured.copy <= 2 * warm; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
		double again = warm_copy();
		warm = again < warm ? again : warm;
	}
	tap_ok(measured.copy > 2 * warm, "with nothing in the caches: %.3f ns, and %.3f with all",
			measured.copy, warm);
#endif
}

int main(void) {
	test_sums();
	test_limits();
	test_windows();
	test_fallbacks();
	test_others_run();
	test_settling();
	test_machine();
	return tap_finish();
}
