// SPDX-License-Identifier: MIT
/**
 * Weston's shells raise a window that is clicked, even if it is topmost already. Then the whole
 * window is damaged and redrawn, and what its client draws upon the click waits for the next
 * refresh.
 */
#ifndef GID_WESTON_RAISE_GUARD_H
#define GID_WESTON_RAISE_GUARD_H

/*
 * From now on a view that is already at its place is not moved there again. Returns 0; or -errno:
 * shells go on as before.
 */
int raise_guard(void);

#endif
