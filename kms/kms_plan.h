// SPDX-License-Identifier: MIT
/** Which layer gets which plane. Pure but for the question whether the device takes it. */
#ifndef KMS_PLAN_H
#define KMS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* In place of a plane's number: why a layer has none. */
#define KMS_PLAN_NO_PLANE (-1) /* none was free */
#define KMS_PLAN_REFUSED (-2)  /* the device took it on none that was free */

/* Whether the device takes all of it: `choice[i]` is the plane of layer i, or negative. */
typedef bool (*kms_plan_test)(void *data, const int *choice, size_t layers);

/*
 * Fills in `choice` for so many layers and planes. All layers are tried at once; where the device
 * refuses that, one after the other, from the first on, beside those that it has taken. What
 * results was taken as a whole, or has no plane at all.
 */
void kms_plan_choose(int *choice, size_t layers, size_t planes, kms_plan_test test, void *data);

#endif
