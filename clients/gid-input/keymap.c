// SPDX-License-Identifier: MIT
#include "keymap.h"

#include <err.h>
#include <input_format.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xkbcommon/xkbcommon.h>

#define CODE_OFFSET 8 /* of XKB to Linux */

struct keymap {
	struct xkb_context *context;
	struct xkb_keymap *keymap;
	struct xkb_state *state;
	struct input_held held;
};

struct keymap *keymap_create(const char *text) {
	struct keymap *keymap = calloc(1, sizeof(*keymap));
	if (keymap == NULL) {
		return NULL;
	}
	keymap->context = xkb_context_new(
			text != NULL ? XKB_CONTEXT_NO_DEFAULT_INCLUDES : XKB_CONTEXT_NO_FLAGS);
	if (keymap->context != NULL && text != NULL) {
		keymap->keymap = xkb_keymap_new_from_string(keymap->context, text,
				XKB_KEYMAP_FORMAT_TEXT_V1, XKB_KEYMAP_COMPILE_NO_FLAGS);
	} else if (keymap->context != NULL) {
		keymap->keymap = xkb_keymap_new_from_names(
				keymap->context, NULL, XKB_KEYMAP_COMPILE_NO_FLAGS);
	}
	if (keymap->keymap != NULL) {
		keymap->state = xkb_state_new(keymap->keymap);
	}
	if (keymap->state == NULL) {
		warnx("no keymap can be made of %s",
				text != NULL ? "what the sender says"
					     : "$XKB_DEFAULT_LAYOUT and its kin");
		keymap_destroy(keymap);
		return NULL;
	}
	return keymap;
}

void keymap_destroy(struct keymap *keymap) {
	if (keymap != NULL) {
		xkb_state_unref(keymap->state);
		xkb_keymap_unref(keymap->keymap);
		xkb_context_unref(keymap->context);
		free(keymap);
	}
}

int keymap_open(const struct keymap *keymap, uint32_t *size) {
	char *text = xkb_keymap_get_as_string(keymap->keymap, XKB_KEYMAP_FORMAT_TEXT_V1);
	int fd = text != NULL ? memfd_create("keymap", MFD_CLOEXEC) : -1;
	size_t length = text != NULL ? strlen(text) + 1 : 0;
	if (fd >= 0 && write(fd, text, length) != (ssize_t)length) {
		close(fd);
		fd = -1;
	}
	*size = (uint32_t)length;
	free(text);
	return fd;
}

static struct modifiers keymap_modifiers(const struct keymap *keymap) {
	struct xkb_state *state = keymap->state;
	return (struct modifiers){
			.depressed = xkb_state_serialize_mods(state, XKB_STATE_MODS_DEPRESSED),
			.latched = xkb_state_serialize_mods(state, XKB_STATE_MODS_LATCHED),
			.locked = xkb_state_serialize_mods(state, XKB_STATE_MODS_LOCKED),
			.group = xkb_state_serialize_layout(state, XKB_STATE_LAYOUT_EFFECTIVE),
	};
}

bool keymap_press(struct keymap *keymap, uint32_t code, bool pressed, struct modifiers *modifiers) {
	enum xkb_state_component changed = xkb_state_update_key(
			keymap->state, code + CODE_OFFSET, pressed ? XKB_KEY_DOWN : XKB_KEY_UP);
	input_hold(&keymap->held, code, pressed);
	*modifiers = keymap_modifiers(keymap);
	return changed != 0;
}

/* Pressing a held lock key again would toggle its lock: so the locks are set afterwards. */
void keymap_follow(
		struct keymap *keymap, const struct keymap *before, struct modifiers *modifiers) {
	struct modifiers pressed;
	for (uint32_t code = 0; code < INPUT_CODES; code++) {
		if (input_holds(&before->held, code)) {
			keymap_press(keymap, code, true, &pressed);
		}
	}
	pressed = keymap_modifiers(keymap);
	xkb_state_update_mask(keymap->state, pressed.depressed, 0, keymap_modifiers(before).locked,
			xkb_state_serialize_layout(keymap->state, XKB_STATE_LAYOUT_DEPRESSED), 0,
			xkb_state_serialize_layout(before->state, XKB_STATE_LAYOUT_LOCKED));
	*modifiers = keymap_modifiers(keymap);
}
