// SPDX-License-Identifier: MIT
/** Assigns planes to layers. Pure, but for `test`, which asks the device. */
#ifndef KMS_PLAN_H
#define KMS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* In place of a plane's number: why a layer has none. */
#define KMS_PLAN_NO_PLANE (-1) /* none was free */
#define KMS_PLAN_REFUSED (-2)  /* the device took it on none that was free */

/*
 * Whether the device accepts the whole assignment: `choice[i]` is the plane of layer i, or
 * negative.
 */
typedef bool (*kms_plan_test)(void *data, const int *choice, size_t layers);

/*
 * Fills in `choice` for so many layers and planes. First tries all layers at once. Where the device
 * refuses that, tries them one by one, from the first, together with those that were accepted
 * before. So the result was accepted as a whole, or no layer has a plane.
 */
void kms_plan_choose(int *choice, size_t layers, size_t planes, kms_plan_test test, void *data);

#endif
