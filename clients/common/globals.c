// SPDX-License-Identifier: MIT
#include "globals.h"

#include <string.h>

static void **place_of(const struct global_row *row, void *object) {
	return (void **)((char *)object + row->offset);
}

void *globals_bind(const struct global_table *table, void *object, struct wl_registry *registry,
		uint32_t name, const char *interface, uint32_t version) {
	for (size_t i = 0; i < table->count; i++) {
		const struct global_row *row = &table->rows[i];
		void **place = place_of(row, object);
		if (strcmp(interface, row->interface->name) == 0 && version >= row->version &&
				*place == NULL) {
			*place = wl_registry_bind(registry, name, row->interface, row->version);
			return *place;
		}
	}
	return NULL;
}

void globals_finish(const struct global_table *table, void *object) {
	for (size_t i = 0; i < table->count; i++) {
		void **place = place_of(&table->rows[i], object);
		if (*place != NULL) {
			wl_proxy_destroy(*place);
			*place = NULL;
		}
	}
}
