// SPDX-License-Identifier: MIT
/** Which of a device's outputs is the display, and in which mode. */
#ifndef CLUSTER_MODE_H
#define CLUSTER_MODE_H

#include "cluster_config.h"
#include <wlr/types/wlr_output.h>

/* Where nothing says what it is. */
#define DEFAULT_REFRESH_MHZ 60000

/* Whether the configuration leaves the choice to us, or means this output. */
bool mode_output_is_wanted(const struct cluster_config *config, const struct wlr_output *output);

/*
 * Switches the output on: in its preferred mode, or in that of its modes that is as large as the
 * configuration says and refreshed nearest to as often. Of an output without such a mode that very
 * mode is asked for. Returns false, with the reason in the log, where the device refuses.
 */
bool mode_set(struct wlr_output *output, const struct cluster_config *config);

#endif
