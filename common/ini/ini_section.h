// SPDX-License-Identifier: MIT
/** The sections [KIND NAME] of one kind: items of an array, each of which begins with its name. */
#ifndef GID_INI_SECTION_H
#define GID_INI_SECTION_H

#include "ini_file.h"

struct ini_sections {
	const char *plural; /* as messages call them: "roles" */
	void *array;	    /* the address of the pointer to the first item */
	size_t *count;
	size_t size; /* of an item, whose first member is `char *name` */
	size_t most;
};

/*
 * Finds the section of that name, or adds one: a copy of `fresh` with a copy of the name. NULL
 * where there are too many, which is reported, or without memory.
 */
void *ini_section_find(struct ini_file *ini, const struct ini_sections *sections, const char *name,
		const void *fresh);

#endif
