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

#endif
