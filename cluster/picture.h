// SPDX-License-Identifier: MIT
/** Pictures of our own, which stand in for those of other domains. */
#ifndef CLUSTER_PICTURE_H
#define CLUSTER_PICTURE_H

#include "config.h"
#include "pixels.h"
#include <wlr/types/wlr_buffer.h>

struct picture;

/*
 * Makes the fallback's picture of the role's size. FALLBACK_LAST has none before a picture was
 * shown, and gets the pattern. Returns 0, -ENOMEM, or -EINVAL: the PNG cannot be read.
 */
int picture_create(struct picture **picture, const struct role_config *role);

/* Any PNG, scaled to so many pixels. Returns as picture_create(). */
int picture_read(struct picture **picture, const char *path, int width, int height);

/* The same as a copy of XRGB pixels. NULL for want of memory. */
struct picture *picture_copy(const struct pixels *pixels);

/* Takes NULL. */
void picture_destroy(struct picture *picture);

/* What to show; lives as long as the picture, longer where it was locked. */
struct wlr_buffer *picture_buffer(struct picture *picture);

/* The hash that the region on the output has while the picture is shown. */
uint64_t picture_colour(const struct picture *picture);

#endif
