// SPDX-License-Identifier: MIT
/** Timings of a screen. */
#ifndef KMS_MODE_H
#define KMS_MODE_H

#include <stdbool.h>
#include <stdint.h>
#include <xf86drmMode.h>

/* The refreshes in 1000 s. 0 if the mode says none. */
int32_t kms_mode_refresh_mhz(const drmModeModeInfo *info);

/*
 * The timings of a mode that a screen does not list: those of VESA's CVT, without reduced blanking.
 * `refresh_mhz`: the refreshes in 1000 s; 0: 60 Hz. Returns false, with `info` as it was, if the
 * kernel's fields cannot hold such a mode.
 */
bool kms_mode_compute(drmModeModeInfo *info, int32_t width, int32_t height, int32_t refresh_mhz);

#endif
