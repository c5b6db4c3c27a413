// SPDX-License-Identifier: MIT
/* Which layer gets which plane, on devices that take this and refuse that. */
#include <string.h>

#include "kms/kms_plan.h"
#include "tap.h"

#define LAYERS_MAX 16

/* A device that takes so many layers at once, and none of some of them on some of its planes. */
struct device {
	size_t most;
	bool refuses[LAYERS_MAX][LAYERS_MAX]; /* of a layer, on a plane */
	unsigned asked;
	int taken[LAYERS_MAX]; /* the choice that it took last */
};

static bool takes(void *data, const int *choice, size_t layers) {
	struct device *device = data;
	size_t count = 0;
	device->asked++;
	for (size_t i = 0; i < layers; i++) {
		count += choice[i] >= 0;
		if (choice[i] >= 0 && device->refuses[i][choice[i]]) {
			return false;
		}
	}
	if (count > device->most) {
		return false;
	}
	memcpy(device->taken, choice, layers * sizeof(choice[0]));
	return true;
}

static bool chooses(struct device *device, size_t layers, size_t planes, const int *expected) {
	int choice[LAYERS_MAX];
	kms_plan_choose(choice, layers, planes, takes, device);
	return memcmp(choice, expected, layers * sizeof(choice[0])) == 0;
}

/* What was chosen has been taken as a whole, but for the words that say why there is no plane. */
static bool was_taken(const struct device *device, const int *choice, size_t layers) {
	for (size_t i = 0; i < layers; i++) {
		int taken = device->taken[i];
		if (choice[i] != taken && (choice[i] >= 0 || taken >= 0)) {
			return false;
		}
	}
	return true;
}

static void test_a_device_that_takes_all(void) {
	struct device device = {.most = 3};
	tap_ok(chooses(&device, 3, 4, (int[]){0, 1, 2}), "each layer its plane");
	tap_ok(device.asked == 1, "by one question");
	tap_ok(chooses(&device, 4, 3, (int[]){0, 1, 2, KMS_PLAN_NO_PLANE}),
			"more layers than planes: the last has none");
	device.asked = 0;
	tap_ok(chooses(&device, 2, 0, (int[]){KMS_PLAN_NO_PLANE, KMS_PLAN_NO_PLANE}) &&
					device.asked == 0,
			"a device without planes is not asked");
}

static void test_a_device_with_a_limit(void) {
	struct device device = {.most = 1};
	const int one[] = {0, KMS_PLAN_REFUSED, KMS_PLAN_REFUSED};
	tap_ok(chooses(&device, 3, 3, one), "the first layer goes first");
	tap_ok(was_taken(&device, one, 3), "what results was taken");
	device.most = 0;
	tap_ok(chooses(&device, 2, 2, (int[]){KMS_PLAN_REFUSED, KMS_PLAN_REFUSED}),
			"none, where none is taken");
}

static void test_planes_that_differ(void) {
	struct device device = {.most = 4};
	device.refuses[0][0] = device.refuses[1][0] = device.refuses[1][1] = true;
	device.refuses[1][2] = true;
	const int around[] = {1, KMS_PLAN_REFUSED, 0};
	tap_ok(chooses(&device, 3, 3, around), "a layer goes where it is taken");
	tap_ok(was_taken(&device, around, 3), "what results was taken as a whole");
	tap_ok(device.asked <= 1 + 3 * 3, "no pair is tried twice");
}

int main(void) {
	test_a_device_that_takes_all();
	test_a_device_with_a_limit();
	test_planes_that_differ();
	return tap_finish();
}
