// SPDX-License-Identifier: MIT
#include "pointer_lock.h"

#include <string.h>

/* Weston tells nobody, but has the pointer's grab in the lock itself. */
bool pointer_is_locked(const struct weston_pointer *pointer) {
	const struct weston_pointer_constraint *constraint;
	if (pointer->focus == NULL) {
		return false;
	}
	wl_list_for_each(constraint, &pointer->focus->surface->pointer_constraints, link) {
		if (&constraint->grab == pointer->grab) {
			const char *kind = wl_resource_get_class(constraint->resource);
			return strcmp(kind, "zwp_locked_pointer_v1") == 0;
		}
	}
	return false;
}
