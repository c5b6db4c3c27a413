// SPDX-License-Identifier: MIT
/** The mode of an output. */
#ifndef CLUSTER_MODE_H
#define CLUSTER_MODE_H

#include <wlr/types/wlr_output.h>

#include "cluster_config.h"

/*
 * Switches the output on: in its preferred mode, or in that of its modes that is as large as the
 * configuration says and refreshed nearest to as often. Of an output without such a mode that very
 * mode is asked for. Returns false, with the reason in the log, where the device refuses.
 */
bool mode_set(struct wlr_output *output, const struct output_config *config);

#endif
