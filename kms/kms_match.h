// SPDX-License-Identifier: MIT
/**
 * Which CRTC a screen gets. A connector is driven by some CRTCs of its device only: the first one
 * that fits may be the only one that fits another screen. Pure.
 */
#ifndef KMS_MATCH_H
#define KMS_MATCH_H

#include <stddef.h>
#include <stdint.h>

#define KMS_MATCH_NONE (-1)
#define KMS_MATCH_MAX 32u /* CRTCs, as there are bits of possible_crtcs; and screens that count */

/*
 * `possible`: for each screen without a CRTC, bit i: CRTC i can drive it. `free_crtcs`: those that
 * drive nothing. Returns the CRTC for the first of these screens with which as many of the others
 * as possible can have one, the lowest of equals; or KMS_MATCH_NONE.
 */
int kms_match_first(const uint32_t *possible, size_t count, uint32_t free_crtcs);

#endif
