// SPDX-License-Identifier: MIT
/** A pointer that a program locked (pointer-constraints): it moves without having a place. */
#ifndef GID_WESTON_POINTER_LOCK_H
#define GID_WESTON_POINTER_LOCK_H

#include <libweston/libweston.h>

bool pointer_is_locked(const struct weston_pointer *pointer);

#endif
