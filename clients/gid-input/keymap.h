// SPDX-License-Identifier: MIT
/* What keys mean, and which modifiers are on: a compositor wants to be told both. */
#ifndef GID_INPUT_KEYMAP_H
#define GID_INPUT_KEYMAP_H

#include <stdbool.h>
#include <stdint.h>

struct keymap;

struct modifiers {
	uint32_t depressed, latched, locked, group;
};

/*
 * Of a text, or with NULL the one of $XKB_DEFAULT_LAYOUT and its kin. It includes no files that a
 * text names. NULL after saying on stderr why there is none.
 */
struct keymap *keymap_create(const char *text);
void keymap_destroy(struct keymap *keymap);

/* A descriptor of its text for others, and the size with the NUL. Returns it, or -1. */
int keymap_open(const struct keymap *keymap, uint32_t *size);

/* A key of Linux was pressed or released. Returns whether the modifiers are others now. */
bool keymap_press(struct keymap *keymap, uint32_t code, bool pressed, struct modifiers *modifiers);

/* Takes the place of another one: what is held there is held here, and what is locked is locked. */
void keymap_follow(struct keymap *keymap, const struct keymap *before, struct modifiers *modifiers);

#endif
