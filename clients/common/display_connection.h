// SPDX-License-Identifier: MIT
/*
 * The connection to $WAYLAND_DISPLAY, on an sd-event loop.
 *
 * When the compositor goes away, or ends the connection for an error of ours, the loop is left with
 * EXIT_FAILURE after one sentence on stderr.
 */
#ifndef CLIENTS_DISPLAY_CONNECTION_H
#define CLIENTS_DISPLAY_CONNECTION_H

#include <systemd/sd-event.h>
#include <wayland-client.h>

/* Returns NULL after saying on stderr why there is no connection, and what there is to connect to.
 */
struct wl_display *display_connect(void);

/*
 * Events are dispatched, and requests sent, by the loop from then on. Returns 0 and the source,
 * which is unreferenced before the display is disconnected; or -1 after saying why.
 */
int display_add_to_loop(struct wl_display *display, sd_event *event, sd_event_source **source);

/* Says on stderr why the connection ended. */
void display_explain_loss(struct wl_display *display);

#endif
