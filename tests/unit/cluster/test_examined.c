// SPDX-License-Identifier: MIT
/*
 * Frames that are examined: what their checks, layouts and crops are refused for, and what is made
 * of them where memory runs out.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <string.h>

#include "cluster/pictures/examiner.h"
#include "tap.h"

#define SIZE 16
#define COLOUR 0xff336699u

static unsigned calls, refused; /* an allocation that fails, by its number, from 1; 0: none */
static int held;		/* allocations that were not given back */

static bool refuses(void) {
	bool refuse = ++calls == refused;
	held += !refuse;
	return refuse;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
	return refuses() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
	return refuses() ? NULL : __real_calloc(count, size);
}

void __real_free(void *data);
void __wrap_free(void *data);
void __wrap_free(void *data) {
	held -= data != NULL;
	__real_free(data);
}

static uint8_t slot[(SIZE + 1) * (SIZE + 1) * 4];
static uint32_t seen[SIZE * SIZE];

/* --- frames ----------------------------------------------------------------------------------- */

static struct examination frame_of(uint32_t fourcc) {
	static struct own_picture picture = {.data = seen, .pixels = {seen, SIZE, SIZE, SIZE * 4}};
	struct examination of = {.frame = {.gid = gid_make(1, 1, 0, 0)},
			.slab = {.slot_count = 1, .slot_size = sizeof(slot)},
			.slot = slot,
			.picture = &picture};
	gid_layout_init(&of.slab.layout, fourcc, SIZE, SIZE, 4);
	memset(seen, 0, sizeof(seen));
	return of;
}

static enum role_reason examine(const struct examiner_rules *rules, struct examination *of) {
	struct examiner examiner = {.rules = *rules};
	examiner_examine(&examiner, of);
	examiner_finish(&examiner);
	return of->reason;
}

static const struct examiner_rules plain = {.fit = FIT_EXACT, .accepted = &accepted_plain};
static const struct examiner_rules any = {.fit = FIT_EXACT, .accepted = &accepted_any};
static const struct examiner_rules fitted = {.fit = FIT_FILL, .accepted = &accepted_any};

/* A check that could not be had is a reason by itself, and so is a picture that cannot be drawn. */
static void test_checks(void) {
	static const struct {
		int error;
		enum role_reason reason;
	} cases[] = {
			{-ENODATA, ROLE_REASON_NO_CHECK},
			{-ESTALE, ROLE_REASON_TAKEN_BACK},
			{-ENOTCONN, ROLE_REASON_TAKEN_BACK},
			{-EPROTO, ROLE_REASON_CHECK_MISMATCH},
	};
	struct examiner_rules rules = plain;
	struct gid_protection *protection;
	if (gid_protection_create(GID_PROTECTION_CRC64, "lamp", NULL, &protection) < 0) {
		tap_ok(true, "no check of frames # SKIP built without liblzma");
		return;
	}
	rules.protection = protection;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct examination of = frame_of(DRM_FORMAT_XRGB8888);
		of.check_error = cases[i].error;
		tap_ok(examine(&rules, &of) == cases[i].reason && !of.is_protected,
				"no check, but %d: reason %d", cases[i].error, of.reason);
	}
	struct examination of = frame_of(DRM_FORMAT_XRGB8888);
	of.check.kind = GID_PROTECTION_CRC64;
	tap_ok(examine(&rules, &of) == ROLE_REASON_CHECK_MISMATCH && !of.is_protected,
			"a check that is wrong");
	of.slab.layout.width--;
	tap_ok(examine(&rules, &of) == ROLE_REASON_LAYOUT && !of.is_protected,
			"a picture that is too small for the check to be tried");
	gid_protection_destroy(protection);
}

static void test_layouts(void) {
	struct examination of = frame_of(DRM_FORMAT_XRGB8888);
	of.slab.slot_size = SIZE * SIZE * 4 - 1;
	tap_ok(examine(&plain, &of) == ROLE_REASON_LAYOUT, "rows that leave their slot");
	of = frame_of(DRM_FORMAT_XRGB8888);
	of.frame.crop = (struct gid_box){1, 0, SIZE, SIZE};
	tap_ok(examine(&plain, &of) == ROLE_REASON_LAYOUT, "a crop that leaves its picture");
}

/* Words need not lie where a processor likes to read them. */
static void test_odd_places(void) {
	static const struct {
		uint32_t offset, stride;
	} cases[] = {{0, SIZE * 4}, {2, SIZE * 4}, {0, SIZE * 4 + 2}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct examination of = frame_of(DRM_FORMAT_XRGB8888);
		const uint32_t offset = cases[i].offset, stride = cases[i].stride;
		of.slab.layout.planes[0].offset = offset;
		of.slab.layout.planes[0].stride = stride;
		for (uint32_t at = 0; at < SIZE * SIZE; at++) {
			const uint32_t word = COLOUR + at;
			memcpy(slot + offset + at / SIZE * stride + at % SIZE * 4, &word, 4);
		}
		bool right = examine(&plain, &of) == ROLE_REASON_NONE;
		for (uint32_t at = 0; at < SIZE * SIZE; at++) {
			right = right && seen[at] == COLOUR + at;
		}
		tap_ok(right && of.converted == (i > 0), "at %u, %u bytes a row", offset, stride);
	}
}

/* The formats and turns of frames whose examination allocates, as often as is said. */
static void test_no_memory(void) {
	static const struct {
		const struct examiner_rules *rules;
		uint32_t fourcc, transform;
		unsigned allocations;
	} cases[] = {
			{&plain, DRM_FORMAT_XRGB8888, 0, 0},
			{&any, DRM_FORMAT_XRGB8888, 1, 1},
			{&any, DRM_FORMAT_RGB565, 0, 1},
			{&fitted, DRM_FORMAT_RGB565, 0, 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct examination of = frame_of(cases[i].fourcc);
		of.frame.transform = cases[i].transform;
		calls = refused = 0;
		tap_ok(examine(cases[i].rules, &of) == ROLE_REASON_NONE &&
						calls == cases[i].allocations,
				"case %zu is drawn, with %u allocations", i, calls);
		for (refused = 1; refused <= cases[i].allocations; refused++) {
			calls = 0;
			tap_ok(examine(cases[i].rules, &of) == ROLE_REASON_MEMORY,
					"and not where number %u fails", refused);
		}
	}
	refused = 0;
}

/* --- pools ------------------------------------------------------------------------------------ */

static void test_pools(void) {
	struct picture_pool pool;
	struct own_picture *taken[PICTURE_POOL_SIZE];
	for (refused = 1; refused <= 2 * PICTURE_POOL_SIZE; refused++) {
		calls = 0;
		tap_ok(picture_pool_init(&pool, 2, 2) == -ENOMEM,
				"no pool where allocation %u fails", refused);
		picture_pool_finish(&pool);
	}
	refused = 0;
	if (!tap_ok(picture_pool_init(&pool, 2, 2) == 0, "a pool")) {
		return;
	}
	for (size_t i = 0; i < PICTURE_POOL_SIZE; i++) {
		taken[i] = picture_pool_acquire(&pool);
	}
	tap_ok(taken[PICTURE_POOL_SIZE - 1] != NULL && picture_pool_acquire(&pool) == NULL,
			"has %d pictures", PICTURE_POOL_SIZE);
	own_picture_unref(taken[1]);
	tap_ok(picture_pool_acquire(&pool) == taken[1], "of which each can be taken again");
	own_picture_unref(taken[1]);
	own_picture_unref(taken[2]);
	picture_pool_finish(&pool);
	taken[0]->data[3] = COLOUR;
	tap_ok(taken[0]->data[3] == COLOUR, "what is still shown outlives it");
	own_picture_unref(taken[0]);
	own_picture_unref(taken[3]);
	tap_ok(own_picture_ref(NULL) == NULL, "no picture has no references");
}

static void test_cost(void) {
	struct examiner_cost cost;
	int error = -ENOMEM, before = held;
	unsigned least = 0;
	while (error == -ENOMEM && least < 100) {
		calls = 0;
		refused = ++least;
		error = examiner_measure_cost(&plain, SIZE, SIZE, &cost);
	}
	refused = 0;
	tap_ok(error == 0 && least > 4, "a cost is told with memory: %d, %u", error, least);
	tap_ok(held == before, "and nothing of it stays, however far it came: %d", held - before);
}

/* A start has one of all formats measured, not the hundreds of times that a table takes. */
static void test_least(void) {
	uint64_t least = 0, first = 0;
	calls = 0;
	int error = examiner_measure_least(&any, SIZE, SIZE, &least);
	unsigned quick = calls;
	calls = 0;
	error |= examiner_measure_least(&plain, SIZE, SIZE, &first);
	tap_ok(error == 0 && least > 0 && first > 0, "the least is told: %d", error);
	tap_ok(quick == calls, "all formats take no more than one: %u, for %u", quick, calls);

	static const struct accepted films = {
			.formats = {DRM_FORMAT_NV12, DRM_FORMAT_P010},
			.format_count = 2,
			.transforms = 1 << 1,
	};
	const struct examiner_rules converted = {.fit = FIT_EXACT, .accepted = &films};
	calls = 0;
	error = examiner_measure_least(&converted, SIZE, SIZE, &least);
	tap_ok(error == 0 && least > 0 && calls >= 2 * quick,
			"of others each is tried: %d, %u allocations", error, calls);
}

int main(void) {
	struct examination of = frame_of(DRM_FORMAT_XRGB8888);
	tap_ok(examine(&plain, &of) == ROLE_REASON_NONE, "a frame");
	test_checks();
	test_layouts();
	test_odd_places();
	test_no_memory();
	test_pools();
	test_cost();
	test_least();
	return tap_finish();
}
