// SPDX-License-Identifier: MIT
/** Fullscreen windows that constrain a pointer which is not over them. */
#ifndef GID_WESTON_POINTER_GUARD_H
#define GID_WESTON_POINTER_GUARD_H

/*
 * From now on a client that locks or confines a pointer (pointer-constraints) to such a window does
 * not crash Weston. This cannot be undone, and holds for all seats. Returns the same as
 * library_call_replace().
 */
int pointer_guard(void);

#endif
