// SPDX-License-Identifier: MIT
/*
 * Grabs all input for the window: locks the pointer to it, so that its motion has no limit, and
 * inhibits the compositor's shortcuts; as far as the compositor has protocols for that.
 */
#ifndef GID_VIEW_GRAB_H
#define GID_VIEW_GRAB_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-client.h>

#define GRAB_KEY_DEFAULT 70u // KEY_SCROLLLOCK

/*
 * Parses the key that toggles the grab: a name or a number; 0: none. Returns false if there is no
 * such key.
 */
bool grab_parse_key(const char *text, uint32_t *key);

struct grab {
	struct zwp_pointer_constraints_v1 *constraints; // NULL: the compositor does not support it
	struct zwp_relative_pointer_manager_v1 *relative;	// the same
	struct zwp_keyboard_shortcuts_inhibit_manager_v1 *keys; // the same
	struct zwp_locked_pointer_v1 *lock;			// NULL: not requested
	struct zwp_relative_pointer_v1 *motion;
	struct zwp_keyboard_shortcuts_inhibitor_v1 *inhibitor;
	bool held;    // the user has taken the grab
	bool refused; // the user does not permit the producer to lock the pointer
	bool locked;  // the compositor has locked the pointer: it has relative motion only
	// Motion of the locked pointer, in pixels; `raw`: without acceleration.
	void (*moved)(void *data, wl_fixed_t x, wl_fixed_t y, wl_fixed_t raw_x, wl_fixed_t raw_y);
	// The pointer is unlocked, and is where it was before the lock.
	void (*freed)(void *data);
	void *data;
};

/* Binds the global, if it is one of these. */
void grab_bind(struct grab *grab, struct wl_registry *registry, uint32_t name,
		const char *interface);
void grab_finish(struct grab *grab);

/* `surface` is the one with the keyboard focus. `pointer` and `seat` may be NULL: there is none. */
void grab_take(struct grab *grab, struct wl_surface *surface, struct wl_seat *seat,
		struct wl_pointer *pointer);
void grab_let_go(struct grab *grab);

/*
 * The user ends the grab. Until the user permits it again, the producer cannot lock the pointer: it
 * could do so again at once, and again and again.
 */
void grab_refuse(struct grab *grab);
void grab_permit(struct grab *grab);

/* Locks the pointer alone while the producer wants that, until the user refuses it. */
void grab_follow(struct grab *grab, bool wanted, struct wl_surface *surface,
		struct wl_pointer *pointer);

#endif
