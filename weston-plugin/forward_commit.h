// SPDX-License-Identifier: MIT
/** From what a surface shows, after a commit, to a frame. */
#ifndef GID_WESTON_FORWARD_COMMIT_H
#define GID_WESTON_FORWARD_COMMIT_H

#include "forward.h"

/*
 * Sends what the surface shows now, or that there is nothing to show: because it has no buffer, or
 * because what it shows cannot be sent; then Weston's log says why.
 */
void forward_commit(struct forward *forward, struct weston_surface *surface);

#endif
