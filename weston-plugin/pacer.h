// SPDX-License-Identifier: MIT
/** Sets Weston's repaint window for each frame of each output. */
#ifndef GID_WESTON_PACER_H
#define GID_WESTON_PACER_H

#include <libweston/libweston.h>

struct pacer;

/*
 * Reads the section [gid] of weston.ini. `*pacer` is NULL if pacing is off. Returns 0; or -1 after
 * logging the mistake, or without memory.
 */
int pacer_create(struct weston_compositor *compositor, struct pacer **pacer);

/* Restores Weston's own window. Accepts NULL. */
void pacer_destroy(struct pacer *pacer);

#endif
