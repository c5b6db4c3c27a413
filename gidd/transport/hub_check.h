// SPDX-License-Identifier: MIT
/** What the hub lets pass between two domains. Pure. */
#ifndef GIDD_HUB_CHECK_H
#define GIDD_HUB_CHECK_H

#include "config_windows.h"
#include "wire.h"

enum hub_verdict {
	HUB_PASS,
	HUB_REFUSE, /* answered with -ENOENT in the name of the other domain */
	HUB_BREAK,  /* no honest gidd says that */
};

/* By the configuration, whatever the two ends make of it. `*why` is set for HUB_BREAK. */
enum hub_verdict hub_check(const struct config *config, const struct config_windows *windows,
		const struct config_domain *from, const struct config_domain *to,
		const union gid_wire_message *message, const char **why);

#endif
