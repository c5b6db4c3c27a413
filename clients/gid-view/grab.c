// SPDX-License-Identifier: MIT
#include "grab.h"

#include <input_format.h>
#include <linux/input-event-codes.h>
#include <stdlib.h>
#include <string.h>

#include "keyboard-shortcuts-inhibit-unstable-v1-client-protocol.h"
#include "pointer-constraints-unstable-v1-client-protocol.h"
#include "relative-pointer-unstable-v1-client-protocol.h"

bool grab_parse_key(const char *text, uint32_t *key) {
	static const struct {
		const char *name;
		uint32_t key;
	} names[] = {
			{"none", KEY_RESERVED},
			{"pause", KEY_PAUSE},
			{"right-ctrl", KEY_RIGHTCTRL},
			{"scroll-lock", KEY_SCROLLLOCK},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i].name) == 0) {
			*key = names[i].key;
			return true;
		}
	}
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	*key = (uint32_t)number;
	return *end == '\0' && number < INPUT_CODES && input_code_is_key((uint32_t)number);
}

static void lock_locked(void *data, struct zwp_locked_pointer_v1 *lock) {
	struct grab *grab = data;
	grab->locked = true;
}

static void grab_free(struct grab *grab) {
	if (grab->locked) {
		grab->locked = false;
		grab->freed(grab->data);
	}
}

static void lock_unlocked(void *data, struct zwp_locked_pointer_v1 *lock) {
	grab_free(data);
}

static const struct zwp_locked_pointer_v1_listener lock_listener = {
		.locked = lock_locked,
		.unlocked = lock_unlocked,
};

static void relative_motion(void *data, struct zwp_relative_pointer_v1 *motion, uint32_t time_hi,
		uint32_t time_lo, wl_fixed_t x, wl_fixed_t y, wl_fixed_t raw_x, wl_fixed_t raw_y) {
	struct grab *grab = data;
	if (grab->locked) {
		grab->moved(grab->data, x, y, raw_x, raw_y);
	}
}

static const struct zwp_relative_pointer_v1_listener motion_listener = {
		.relative_motion = relative_motion,
};

void grab_bind(struct grab *grab, struct wl_registry *registry, uint32_t name,
		const char *interface) {
	const struct {
		const struct wl_interface *interface;
		void *proxy;
	} wanted[] = {
			{&zwp_pointer_constraints_v1_interface, &grab->constraints},
			{&zwp_relative_pointer_manager_v1_interface, &grab->relative},
			{&zwp_keyboard_shortcuts_inhibit_manager_v1_interface, &grab->keys},
	};
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void **proxy = wanted[i].proxy;
		if (strcmp(interface, wanted[i].interface->name) == 0 && *proxy == NULL) {
			*proxy = wl_registry_bind(registry, name, wanted[i].interface, 1);
		}
	}
}

static void lock_pointer(
		struct grab *grab, struct wl_surface *surface, struct wl_pointer *pointer) {
	if (grab->lock != NULL || grab->constraints == NULL || grab->relative == NULL ||
			pointer == NULL) {
		return;
	}
	grab->motion = zwp_relative_pointer_manager_v1_get_relative_pointer(
			grab->relative, pointer);
	zwp_relative_pointer_v1_add_listener(grab->motion, &motion_listener, grab);
	grab->lock = zwp_pointer_constraints_v1_lock_pointer(grab->constraints, surface, pointer,
			NULL, ZWP_POINTER_CONSTRAINTS_V1_LIFETIME_PERSISTENT);
	zwp_locked_pointer_v1_add_listener(grab->lock, &lock_listener, grab);
}

static void unlock_pointer(struct grab *grab) {
	if (grab->lock != NULL) {
		zwp_locked_pointer_v1_destroy(grab->lock);
		zwp_relative_pointer_v1_destroy(grab->motion);
	}
	grab->lock = NULL;
	grab->motion = NULL;
	grab_free(grab);
}

void grab_take(struct grab *grab, struct wl_surface *surface, struct wl_seat *seat,
		struct wl_pointer *pointer) {
	grab_let_go(grab);
	grab->held = true;
	grab->refused = false;
	if (grab->keys != NULL && seat != NULL) {
		grab->inhibitor = zwp_keyboard_shortcuts_inhibit_manager_v1_inhibit_shortcuts(
				grab->keys, surface, seat);
	}
	lock_pointer(grab, surface, pointer);
}

void grab_let_go(struct grab *grab) {
	unlock_pointer(grab);
	if (grab->inhibitor != NULL) {
		zwp_keyboard_shortcuts_inhibitor_v1_destroy(grab->inhibitor);
	}
	grab->inhibitor = NULL;
	grab->held = false;
}

void grab_refuse(struct grab *grab) {
	grab_let_go(grab);
	grab->refused = true;
}

void grab_permit(struct grab *grab) {
	grab->refused = false;
}

void grab_follow(struct grab *grab, bool wanted, struct wl_surface *surface,
		struct wl_pointer *pointer) {
	if (grab->held) {
		return;
	}
	if (wanted && !grab->refused) {
		lock_pointer(grab, surface, pointer);
	} else {
		unlock_pointer(grab);
	}
}

void grab_finish(struct grab *grab) {
	grab_let_go(grab);
	if (grab->constraints != NULL) {
		zwp_pointer_constraints_v1_destroy(grab->constraints);
	}
	if (grab->relative != NULL) {
		zwp_relative_pointer_manager_v1_destroy(grab->relative);
	}
	if (grab->keys != NULL) {
		zwp_keyboard_shortcuts_inhibit_manager_v1_destroy(grab->keys);
	}
}
