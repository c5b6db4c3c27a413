// SPDX-License-Identifier: MIT
#include "raise_guard.h"

#include <libweston/libweston.h>
#include <stdbool.h>

#include "library_call.h"

/*
 * Whether the view is mapped, and directly below `entry`, which is a view's or the top of a layer.
 */
static bool is_below(struct weston_view *view, const struct weston_layer_entry *entry) {
	return weston_view_is_mapped(view) && view->layer_link.layer == entry->layer &&
			entry->link.next == &view->layer_link.link &&
			!wl_list_empty(&entry->layer->link);
}

static void guarded_move(struct weston_view *view, struct weston_layer_entry *entry) {
	if (entry == NULL || !is_below(view, entry)) {
		weston_view_move_to_layer(view, entry);
	}
}

int raise_guard(void) {
	return library_call_replace_in(
			"-shell.so", "weston_view_move_to_layer", (library_function)guarded_move);
}
