// SPDX-License-Identifier: MIT
/*
 * What the kernel is given for a commit is, bit by bit, what libdrm gives it for the same settings;
 * and a request that has too many, or one that the device does not have, is not given.
 */
#include "kms_request.h"

#include <drm.h>
#include <drm_mode.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "tap.h"

#define ROUNDS 500
#define SETTINGS 80
#define OBJECTS 9
#define PROPERTIES 12
#define EVENT_DATA ((void *)0x1234)

/* --- the kernel ------------------------------------------------------------------------------- */

struct given {
	unsigned commits;
	struct drm_mode_atomic atomic;
	uint32_t objects[SETTINGS], counts[SETTINGS], properties[SETTINGS];
	uint64_t values[SETTINGS];
};

static struct given given;
static int error; /* of the kernel; 0: none */

static size_t copy(void *to, uint64_t from, size_t count, size_t size) {
	memcpy(to, (const void *)(uintptr_t)from, count * size);
	return count;
}

static void take(const struct drm_mode_atomic *atomic) {
	size_t objects = atomic->count_objs, all = 0;
	given = (struct given){.commits = given.commits + 1, .atomic = *atomic};
	copy(given.objects, atomic->objs_ptr, objects, sizeof(uint32_t));
	copy(given.counts, atomic->count_props_ptr, objects, sizeof(uint32_t));
	for (size_t i = 0; i < objects; i++) {
		all += given.counts[i];
	}
	copy(given.properties, atomic->props_ptr, all, sizeof(uint32_t));
	copy(given.values, atomic->prop_values_ptr, all, sizeof(uint64_t));
	given.atomic.objs_ptr = given.atomic.count_props_ptr = 0;
	given.atomic.props_ptr = given.atomic.prop_values_ptr = 0;
}

/* In place of libc's, also for libdrm. */
int ioctl(int fd, unsigned long request, ...);

int ioctl(int fd, unsigned long request, ...) {
	va_list arguments;
	va_start(arguments, request);
	const struct drm_mode_atomic *atomic = va_arg(arguments, const struct drm_mode_atomic *);
	va_end(arguments);
	if (request == DRM_IOCTL_MODE_ATOMIC) {
		take(atomic);
	}
	errno = error;
	return error != 0 ? -1 : 0;
}

/* --- tests ------------------------------------------------------------------------------------ */

static struct kms_request ours;

/* In any order. What is set twice libdrm may take as it was at first: ours takes the last. */
static bool is_same_as_libdrm(void) {
	drmModeAtomicReq *theirs = drmModeAtomicAlloc();
	int count = 1 + (int)(random() % SETTINGS);
	bool taken[OBJECTS][PROPERTIES] = {0};
	kms_request_begin(&ours);
	for (int i = 0; i < count; i++) {
		uint32_t object = (uint32_t)random() % OBJECTS;
		uint32_t property = (uint32_t)random() % PROPERTIES;
		uint64_t value = (uint64_t)random() << 20;
		if (!taken[object][property]) {
			kms_request_set(&ours, object + 1, property + 1, value);
			drmModeAtomicAddProperty(theirs, object + 1, property + 1, value);
		}
		taken[object][property] = true;
	}
	uint32_t flags = DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT;
	bool same = drmModeAtomicCommit(-1, theirs, flags, EVENT_DATA) == 0;
	struct given before = given;
	same = same && kms_request_commit(&ours, -1, flags, EVENT_DATA) == 0;
	before.commits++;
	drmModeAtomicFree(theirs);
	return same && memcmp(&before, &given, sizeof(given)) == 0;
}

static void test_same(void) {
	unsigned same = 0;
	for (int i = 0; i < ROUNDS; i++) {
		same += is_same_as_libdrm();
	}
	tap_ok(same == ROUNDS && given.commits == 2 * ROUNDS, "%u of %d are as libdrm's", same,
			ROUNDS);
}

static void test_refused(void) {
	unsigned before = given.commits;
	kms_request_begin(&ours);
	kms_request_set_optional(&ours, 1, 0, 1);
	kms_request_set(&ours, 1, 2, 3);
	error = EBUSY;
	tap_ok(kms_request_commit(&ours, -1, 0, NULL) == -EBUSY && given.commits == before + 1 &&
					given.atomic.count_objs == 1 && given.counts[0] == 1,
			"the kernel's error is told, and what a device may lack is left out");
	error = 0;
	kms_request_set(&ours, 1, 0, 1);
	kms_request_set(&ours, 1, 3, 1);
	tap_ok(kms_request_commit(&ours, -1, 0, NULL) == -ENOTSUP && given.commits == before + 1,
			"what it lacks and must have is not asked for");
	kms_request_begin(&ours);
	for (uint32_t i = 0; i < KMS_SETTINGS_MAX; i++) {
		kms_request_set(&ours, 1 + i / 10, 1 + i % 10, i);
	}
	kms_request_set(&ours, 1, 1, 7); /* once more */
	tap_ok(ours.error == 0 && ours.count == KMS_SETTINGS_MAX && ours.settings[0].value == 7,
			"as many settings as there is room for");
	kms_request_set(&ours, 1, 11, 1);
	tap_ok(kms_request_commit(&ours, -1, 0, NULL) == -E2BIG && given.commits == before + 1,
			"one more is refused");
}

int main(void) {
	test_same();
	test_refused();
	return tap_finish();
}
