// SPDX-License-Identifier: MIT
/** The windows of our own domain's Wayland clients: full-screen, or where the configuration says.
 */
#ifndef CLUSTER_CLIENTS_H
#define CLUSTER_CLIENTS_H

#include <wayland-server-core.h>

#include "display.h"
#include "log_budget.h"

struct clients {
	struct display *display;
	const struct wl_global *copies; /* of the screen, for those that the configuration names */
	struct wl_listener new_toplevel, new_popup;
	struct log_budget log_budget; /* of programs that may not copy the screen */
};

int clients_init(struct clients *clients, struct display *display);
void clients_finish(struct clients *clients);

#endif
