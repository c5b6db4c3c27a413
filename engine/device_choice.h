// SPDX-License-Identifier: MIT
/** Which back end a canvas gets, by its configuration and what is there. */
#ifndef ENGINE_DEVICE_CHOICE_H
#define ENGINE_DEVICE_CHOICE_H

#include "drawing.h"
#include "engine_config.h"

/*
 * Gives the drawing the device that the configuration asks for, as a part of the calling thread.
 * `text` gets a sentence on what draws, or why no device does. Returns 0; -ENOENT, -EPERM, -ENOMEM:
 * there is none, so that pixman draws everything.
 */
int device_choose(struct drawing *drawing, enum canvas_back_end back_end, char *text,
		size_t text_size);

/*
 * Whether each canvas that must have a device gets one. Returns 0 or -errno, with a sentence
 * written to `errors`.
 */
int device_check(const struct engine_config *config, FILE *errors);

#endif
