// SPDX-License-Identifier: MIT
/** Outputs without a screen, of Weston's own headless backend, beside those of other backends. */
#ifndef GID_WESTON_VIRTUAL_OUTPUT_H
#define GID_WESTON_VIRTUAL_OUTPUT_H

#include "output_config.h"

/*
 * Creates and enables the output, to the right of the others. It ends with the compositor. Returns
 * NULL after logging the reason.
 */
struct weston_output *virtual_output_create(
		struct weston_compositor *compositor, const struct output_config *config);

/*
 * Resizes an output that was created here: sets its scale, and the size of `mode`, which must live
 * as long as the output. For windows and clients it is a screen with another mode; outputs to the
 * right make room. Without memory it keeps its size, and that is logged.
 */
void virtual_output_resize(struct weston_output *output, struct weston_mode *mode, int32_t scale);

#endif
