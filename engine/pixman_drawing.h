// SPDX-License-Identifier: MIT
/** The back end that can do everything: pixman, on the calling thread. */
#ifndef ENGINE_PIXMAN_DRAWING_H
#define ENGINE_PIXMAN_DRAWING_H

#include "back_end.h"

extern const struct back_end pixman_back_end;

bool pixman_can_target(uint32_t fourcc);

#endif
