// SPDX-License-Identifier: MIT
/*
 * The connection to $WAYLAND_DISPLAY, on an sd-event loop. No compositor is waited for without a
 * bound: it may be stopped.
 *
 * When the compositor goes away, or ends the connection for an error of ours, the loop is left with
 * EXIT_FAILURE after one sentence on stderr.
 */
#ifndef CLIENTS_DISPLAY_CONNECTION_H
#define CLIENTS_DISPLAY_CONNECTION_H

#include <stdint.h>
#include <systemd/sd-event.h>
#include <wayland-client.h>

/* Returns NULL after saying on stderr why there is no connection, and what there is to connect to.
 */
struct wl_display *display_connect(void);

/*
 * As wl_display_roundtrip(), for up to 60 s, before the loop runs: SIGINT and SIGTERM end the
 * program meanwhile, although the loop has them blocked. `queue` NULL: the default one. Returns 0,
 * or -1 after saying on stderr that the compositor went away, or does not answer.
 */
int display_roundtrip(struct wl_display *display, struct wl_event_queue *queue);

/* Dispatches events until `end`, CLOCK_MONOTONIC ns, at the latest. Signals and result likewise,
 * but it says nothing. */
int display_dispatch_until(struct wl_display *display, uint64_t end);

/*
 * Waits, for a second at most, until the compositor has handled what was sent last: it drops what
 * it has not read when a client goes. Also of a connection that is over.
 */
void display_settle(struct wl_display *display);

/*
 * Events are dispatched, and requests sent, by the loop from then on. Returns 0 and the source,
 * which is unreferenced before the display is disconnected; or -1 after saying why.
 */
int display_add_to_loop(struct wl_display *display, sd_event *event, sd_event_source **source);

/* Says on stderr why the connection ended. */
void display_explain_loss(struct wl_display *display);

#endif
