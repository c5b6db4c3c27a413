// SPDX-License-Identifier: MIT
/** A pointer that a program locked (pointer-constraints): it moves without having a place. */
#ifndef GID_WESTON_POINTER_LOCK_H
#define GID_WESTON_POINTER_LOCK_H

#include <libweston/libweston.h>

bool pointer_is_locked(const struct weston_pointer *pointer);

/*
 * Whether it moved while it was locked, as `moved` says, and is not locked any more; `moved` is
 * false then. The next motion tells where it is, also if that is where it was: programs count such
 * motion to a place of their own, as Chromium does, and Weston tells nobody what it told before.
 */
bool pointer_is_lost(struct weston_pointer *pointer, bool *moved);

/* Whether it is locked or confined to the window that it is over. */
bool pointer_is_constrained(const struct weston_pointer *pointer);

/* The fullscreen window that the pointer is over, if that has asked to lock or confine it, and has
 * to wait. NULL: there is none. */
struct weston_view *pointer_find_asker(const struct weston_pointer *pointer);

#endif
