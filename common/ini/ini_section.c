// SPDX-License-Identifier: MIT
#include "ini_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *name_of(const void *item) {
	char *name;
	memcpy(&name, item, sizeof(name));
	return name;
}

void *ini_section_find(struct ini_file *ini, const struct ini_sections *sections, const char *name,
		const void *fresh) {
	const size_t count = *sections->count, size = sections->size;
	char *items;
	memcpy(&items, sections->array, sizeof(items));
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name_of(items + i * size), name) == 0) {
			return items + i * size;
		}
	}
	if (count == sections->most) {
		ini_file_mistake(ini, "more than %zu %s", count, sections->plural);
		return NULL;
	}
	items = reallocarray(items, count + 1, size);
	if (items == NULL) {
		ini->result = -ENOMEM;
		return NULL;
	}
	memcpy(sections->array, &items, sizeof(items));
	char *copy = strdup(name);
	if (copy == NULL) {
		ini->result = -ENOMEM;
		return NULL;
	}
	char *item = items + count * size;
	memcpy(item, fresh, size);
	memcpy(item, &copy, sizeof(copy));
	*sections->count = count + 1;
	return item;
}
