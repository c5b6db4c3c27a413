// SPDX-License-Identifier: MIT
/*
 * Everything for the window: the pointer is locked to it and moves without an edge, and the
 * compositor's own shortcuts go to it, too; as far as the compositor has protocols for that.
 */
#ifndef GID_VIEW_GRAB_H
#define GID_VIEW_GRAB_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-client.h>

#define GRAB_KEY_DEFAULT 70u // KEY_SCROLLLOCK

/* The key that takes the grab and lets it go, by its name or number; 0: none. Returns whether there
 * is such a key. */
bool grab_parse_key(const char *text, uint32_t *key);

struct grab {
	struct zwp_pointer_constraints_v1 *constraints;		// NULL: the compositor has none
	struct zwp_relative_pointer_manager_v1 *relative;	// the same
	struct zwp_keyboard_shortcuts_inhibit_manager_v1 *keys; // the same
	struct zwp_locked_pointer_v1 *lock;			// NULL: it is not asked for
	struct zwp_relative_pointer_v1 *motion;
	struct zwp_keyboard_shortcuts_inhibitor_v1 *inhibitor;
	bool held;    // the user wants it
	bool refused; // the pointer is not to be locked, whatever the program wants
	bool locked;  // the compositor gave the pointer: it moves without a place
	// Motion of a locked pointer, in pixels; `raw`: not accelerated.
	void (*moved)(void *data, wl_fixed_t x, wl_fixed_t y, wl_fixed_t raw_x, wl_fixed_t raw_y);
	// It is not locked any more: it has the place again that it had before.
	void (*freed)(void *data);
	void *data;
};

/* Binds the global, if it is one of those. */
void grab_bind(struct grab *grab, struct wl_registry *registry, uint32_t name,
		const char *interface);
void grab_finish(struct grab *grab);

/* `surface` is that which gets the keyboard. `pointer` and `seat` may be NULL: the seat has none.
 */
void grab_take(struct grab *grab, struct wl_surface *surface, struct wl_seat *seat,
		struct wl_pointer *pointer);
void grab_let_go(struct grab *grab);

/*
 * The user lets go: until they permit it, what the program wants does not count. It may want it
 * anew at once, and again and again.
 */
void grab_refuse(struct grab *grab);
void grab_permit(struct grab *grab);

/* The pointer alone, where the program whose picture it is wants that, until it does not, or until
 * the user lets go. */
void grab_follow(struct grab *grab, bool wanted, struct wl_surface *surface,
		struct wl_pointer *pointer);

#endif
