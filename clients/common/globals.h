// SPDX-License-Identifier: MIT
/* The globals of a compositor that a client uses: a row says where each goes. */
#ifndef CLIENTS_GLOBALS_H
#define CLIENTS_GLOBALS_H

#include <stddef.h>
#include <wayland-client.h>

struct global_row {
	const struct wl_interface *interface;
	uint32_t version; /* that is bound; older ones are not */
	size_t offset;	  /* of the pointer to it in the client's object, NULL until it is there */
};

struct global_table {
	const struct global_row *rows;
	size_t count;
};

#define GLOBAL_TABLE(rows) {rows, sizeof(rows) / sizeof((rows)[0])}

/* Of a registry's event: binds the first of its kind. Returns it; NULL: it is of no use. */
void *globals_bind(const struct global_table *table, void *object, struct wl_registry *registry,
		uint32_t name, const char *interface, uint32_t version);

/* Frees those that are there. For the end: the compositor has them until the connection is closed.
 */
void globals_finish(const struct global_table *table, void *object);

#endif
