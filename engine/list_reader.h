// SPDX-License-Identifier: MIT
/** Reads lists of commands. Pure: any bytes are fine. */
#ifndef ENGINE_LIST_READER_H
#define ENGINE_LIST_READER_H

#include "language.h"
#include <stddef.h>

/* Where and why a list is refused. `text` is constant. */
struct list_mistake {
	uint32_t word;
	const char *text;
};

/*
 * Copies a list out of memory that its writer may change meanwhile: `size` bytes at `shared`. The
 * buffer has room for ENGINE_LIST_WORDS_MAX words. Returns the number of words, or -EINVAL. The
 * copy has as many words as its header says.
 */
int list_copy(uint32_t *buffer, const void *shared, size_t size, struct list_mistake *mistake);

/* Checks all commands of a copied list. Returns 0; -EINVAL: nothing of it may be used. */
int list_check(const uint32_t *words, uint32_t count, struct list_mistake *mistake);

/*
 * Goes over the commands of a list that was checked. Begin with `at` = 0. Returns the next command
 * that this version knows, or NULL at the end.
 */
const struct engine_head *list_next(const uint32_t *words, uint32_t count, uint32_t *at);

/* How many elements (points, rectangles …) of that size stand behind the command's own fields. */
#define list_elements(command, array)                                                              \
	(((command)->head.words * 4u - sizeof(*(command))) / sizeof((command)->array[0]))

static inline uint64_t list_fence(const uint32_t *words) {
	const struct engine_list *list = (const struct engine_list *)words;
	return (uint64_t)list->fence_high << 32 | list->fence_low;
}

#endif
