// SPDX-License-Identifier: MIT
#include "kms_plan.h"

static bool is_free(const int *choice, size_t layers, size_t plane) {
	for (size_t i = 0; i < layers; i++) {
		if (choice[i] == (int)plane) {
			return false;
		}
	}
	return true;
}

static void place(int *choice, size_t layers, size_t layer, size_t planes, kms_plan_test test,
		void *data) {
	int why = KMS_PLAN_NO_PLANE;
	for (size_t plane = 0; plane < planes; plane++) {
		if (!is_free(choice, layers, plane)) {
			continue;
		}
		choice[layer] = (int)plane;
		if (test(data, choice, layers)) {
			return;
		}
		why = KMS_PLAN_REFUSED;
		choice[layer] = why;
	}
	choice[layer] = why;
}

void kms_plan_choose(int *choice, size_t layers, size_t planes, kms_plan_test test, void *data) {
	for (size_t i = 0; i < layers; i++) {
		choice[i] = i < planes ? (int)i : KMS_PLAN_NO_PLANE;
	}
	if (layers == 0 || planes == 0 || test(data, choice, layers)) {
		return;
	}
	for (size_t i = 0; i < layers; i++) {
		choice[i] = KMS_PLAN_NO_PLANE;
	}
	for (size_t i = 0; i < layers; i++) {
		place(choice, layers, i, planes, test, data);
	}
}
