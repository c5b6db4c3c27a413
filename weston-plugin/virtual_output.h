// SPDX-License-Identifier: MIT
/** Outputs without a screen: of Weston's own headless backend, beside whatever others there are. */
#ifndef GID_WESTON_VIRTUAL_OUTPUT_H
#define GID_WESTON_VIRTUAL_OUTPUT_H

#include "output_config.h"

/*
 * Makes and enables the output, to the right of the others. It ends with the compositor. Returns
 * NULL after saying in the log why there is none.
 */
struct weston_output *virtual_output_create(
		struct weston_compositor *compositor, const struct output_config *config);

/*
 * Gives an output that was made here a scale, and the size of `mode`, which is to stay as long as
 * it. Windows and clients learn it as of a screen with another mode; outputs to the right make
 * room. Where there is no memory for it, it stays as it was, which the log tells.
 */
void virtual_output_resize(struct weston_output *output, struct weston_mode *mode, int32_t scale);

#endif
