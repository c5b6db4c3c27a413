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
 * The one of that name; where there is none, a new one as `fresh` is, with a copy of the name. NULL
 * where there are too many already, which is told, and without memory.
 */
void *ini_section_find(struct ini_file *ini, const struct ini_sections *sections, const char *name,
		const void *fresh);

#endif
