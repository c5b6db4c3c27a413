// SPDX-License-Identifier: MIT
/* Outputs by their names. */
#ifndef CLIENTS_OUTPUT_H
#define CLIENTS_OUTPUT_H

#include <wayland-client.h>

/*
 * The compositor's output of this name, as in HDMI-A-1, or NULL after saying on stderr which ones
 * there are. The caller ends it with wl_output_release(). Waits for the compositor's answer, and
 * dispatches nothing else meanwhile.
 */
struct wl_output *output_find(struct wl_display *display, const char *name);

#endif
