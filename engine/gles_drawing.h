// SPDX-License-Identifier: MIT
/**
 * The back end that draws with a graphics device, by OpenGL ES 3. It fills, composes layers and
 * draws masks; points, lines and polygons are pixman's.
 *
 * It draws into a texture of its own, from where pixels go to the target's memory when somebody is
 * to see them.
 */
#ifndef ENGINE_GLES_DRAWING_H
#define ENGINE_GLES_DRAWING_H

#include "back_end.h"
#include "gles_device.h"

/* For drawing_use(), with a struct gles_device. */
extern const struct back_end gles_back_end;

#endif
