// SPDX-License-Identifier: MIT
/** What is seen here of surfaces with a role, and that their clients go on drawing if nothing is.
 */
#ifndef GID_WESTON_SAFETY_VISIBILITY_H
#define GID_WESTON_SAFETY_VISIBILITY_H

#include "safety_parts.h"

/*
 * With its subsurfaces. A role that is not to be seen here is drawn with no opacity and gets no
 * input: out of the scene it would get no frame callbacks, either, and stand still.
 */
void safety_visibility_set(struct weston_surface *surface, bool visible);

/*
 * A compositor that sleeps asks no client to draw: the other display would show its last picture as
 * live. `awake` counts: once for each role that is taken. When the last one is given back, the time
 * until the compositor sleeps begins anew.
 */
void safety_visibility_stay_awake(struct weston_compositor *compositor, bool awake);

/*
 * To be called at each commit. Weston requests no frame of a window that is behind another one in a
 * kiosk, or minimised, or on an output that is off. The other display shows it all the same, and
 * would show its last picture as live: where anything in the window has a role, we request one.
 */
void safety_visibility_request_frame(struct safety_surface *surface);

void safety_visibility_finish(struct safety_surface *surface);

#endif
