// SPDX-License-Identifier: MIT
/** Pictures of our own, which stand in for those of other domains. */
#ifndef CLUSTER_OWN_PICTURE_H
#define CLUSTER_OWN_PICTURE_H

#include "cluster_config.h"
#include "pixels.h"
#include <wlr/types/wlr_buffer.h>

struct own_picture;

/*
 * Makes the fallback's picture of the role's size. FALLBACK_LAST has none before a picture was
 * shown, and gets the pattern. Returns 0, -ENOMEM, or -EINVAL: the PNG cannot be read.
 */
int own_picture_create(struct own_picture **picture, const struct role_config *role);

/* Any PNG, scaled to so many pixels. Returns as own_picture_create(). */
int own_picture_read(struct own_picture **picture, const char *path, int width, int height);

/* The same as a copy of XRGB pixels. NULL for want of memory. */
struct own_picture *own_picture_copy(const struct pixels *pixels);

/* The same of a buffer that a processor can read; NULL also where it cannot. */
struct own_picture *own_picture_copy_buffer(struct wlr_buffer *buffer);

/* Takes NULL. */
void own_picture_destroy(struct own_picture *picture);

/* What to show; lives as long as the picture, longer where it was locked. */
struct wlr_buffer *own_picture_buffer(struct own_picture *picture);

/* The hash that the region on the output has while the picture is shown. */
uint64_t own_picture_colour(const struct own_picture *picture);

#endif
