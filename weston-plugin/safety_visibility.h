// SPDX-License-Identifier: MIT
/**
 * Whether Weston's own outputs show a surface with a role, and frame callbacks where they do not.
 */
#ifndef GID_WESTON_SAFETY_VISIBILITY_H
#define GID_WESTON_SAFETY_VISIBILITY_H

#include "safety_parts.h"

/*
 * Shows or hides the surface and its subsurfaces on Weston's own outputs. A hidden one is
 * transparent and gets no input. It stays in the scene: otherwise it would get no frame callbacks,
 * and stand still.
 */
void safety_visibility_set(struct weston_surface *surface, bool visible);

/*
 * Keeps Weston from going idle while a role is taken: an idle compositor sends no frame callbacks,
 * and the other display would show the last picture as live. To be called once for each role that
 * is taken, with `awake`, and once when it is given back. After the last one, Weston's idle time
 * starts again.
 */
void safety_visibility_stay_awake(struct weston_compositor *compositor, bool awake);

/*
 * To be called at each commit. Weston sends no frame callbacks to a window that is covered in a
 * kiosk, or minimised, or on an output that is off. The other display still shows it, and would
 * show its last picture as live. So we send them, if any surface of the window has a role.
 */
void safety_visibility_request_frame(struct safety_surface *surface);

void safety_visibility_finish(struct safety_surface *surface);

#endif
