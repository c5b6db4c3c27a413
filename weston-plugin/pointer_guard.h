// SPDX-License-Identifier: MIT
/** Fullscreen windows that want a pointer which is not over them. */
#ifndef GID_WESTON_POINTER_GUARD_H
#define GID_WESTON_POINTER_GUARD_H

/*
 * From now on Weston does not end by a program that locks or confines a pointer
 * (pointer-constraints) to such a window. For good; all seats are meant. Returns as
 * library_call_replace() does.
 */
int pointer_guard(void);

#endif
