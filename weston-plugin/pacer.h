// SPDX-License-Identifier: MIT
/** Repaints at the right moment: sets Weston's repaint window for each frame of each output. */
#ifndef GID_WESTON_PACER_H
#define GID_WESTON_PACER_H

#include <libweston/libweston.h>

struct pacer;

/*
 * As the section [gid] of weston.ini says. Returns -1 and logs why where that makes no sense or
 * there is not enough memory. `*pacer` is NULL where pacing is off.
 */
int pacer_create(struct weston_compositor *compositor, struct pacer **pacer);

/* NULL is allowed. Weston has its own window again. */
void pacer_destroy(struct pacer *pacer);

#endif
