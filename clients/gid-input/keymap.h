// SPDX-License-Identifier: MIT
/* A keymap and the state of its modifiers: a compositor has to be told both. */
#ifndef GID_INPUT_KEYMAP_H
#define GID_INPUT_KEYMAP_H

#include <stdbool.h>
#include <stdint.h>

struct keymap;

struct modifiers {
	uint32_t depressed, latched, locked, group;
};

/*
 * Makes a keymap of a text; NULL: by $XKB_DEFAULT_LAYOUT and the like. Files that the text includes
 * are not read. Returns NULL after saying on stderr why there is none.
 */
struct keymap *keymap_create(const char *text);
void keymap_destroy(struct keymap *keymap);

/*
 * Returns a descriptor of the keymap's text, which the caller closes, or -1. `*size` includes the
 * NUL.
 */
int keymap_open(const struct keymap *keymap, uint32_t *size);

/* A key, by its Linux code, was pressed or released. Returns whether the modifiers changed. */
bool keymap_press(struct keymap *keymap, uint32_t code, bool pressed, struct modifiers *modifiers);

/* Takes over the state of the keymap that it replaces: keys that are held, and what is locked. */
void keymap_follow(struct keymap *keymap, const struct keymap *before, struct modifiers *modifiers);

#endif
