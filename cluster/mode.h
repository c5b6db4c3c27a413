// SPDX-License-Identifier: MIT
/** The mode of an output. */
#ifndef CLUSTER_MODE_H
#define CLUSTER_MODE_H

#include "cluster_config.h"
#include <wlr/types/wlr_output.h>

/* Where nothing says what it is. */
#define DEFAULT_REFRESH_MHZ 60000
#define DEFAULT_WIDTH 1280
#define DEFAULT_HEIGHT 720

/*
 * Switches the output on: in its preferred mode, or in that of its modes that is as large as the
 * configuration says and refreshed nearest to as often. Of an output without such a mode that very
 * mode is asked for. Returns false, with the reason in the log, where the device refuses.
 */
bool mode_set(struct wlr_output *output, const struct output_config *config);

#endif
