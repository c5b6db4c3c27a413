// SPDX-License-Identifier: MIT
/**
 * A pointer that a client has locked (pointer-constraints): it has relative motion, but no
 * position.
 */
#ifndef GID_WESTON_POINTER_LOCK_H
#define GID_WESTON_POINTER_LOCK_H

#include <libweston/libweston.h>

bool pointer_is_locked(const struct weston_pointer *pointer);

/*
 * Whether the pointer moved while it was locked, as `moved` says, and is not locked any more; then
 * sets `moved` to false. The next motion sends its position even if that is the old one: clients
 * such as Chromium add relative motion to a position of their own, and Weston does not send the
 * same position twice.
 */
bool pointer_is_lost(struct weston_pointer *pointer, bool *moved);

/* Whether the pointer is locked or confined to the window that it is over. */
bool pointer_is_constrained(const struct weston_pointer *pointer);

/*
 * The fullscreen window below the pointer, if it requested a lock or confinement that is not active
 * yet. NULL: there is none.
 */
struct weston_view *pointer_find_asker(const struct weston_pointer *pointer);

#endif
