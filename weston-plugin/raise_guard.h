// SPDX-License-Identifier: MIT
/**
 * Weston's shells raise a window that is clicked on, also where it is the highest already: then all
 * of it is drawn anew, and what its program answers to the click waits for the refresh after that.
 */
#ifndef GID_WESTON_RAISE_GUARD_H
#define GID_WESTON_RAISE_GUARD_H

/* What is at its place already stays there. For this process, from now on. Returns 0; or -errno:
 * they go on as before. */
int raise_guard(void);

#endif
