// SPDX-License-Identifier: MIT
/* Binds the globals that a client uses, by a table: a row says which member gets which global. */
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

/*
 * To be called for each wl_registry.global event: binds the first global of its kind. Returns it;
 * NULL: the table does not have it, or it is bound already.
 */
void *globals_bind(const struct global_table *table, void *object, struct wl_registry *registry,
		uint32_t name, const char *interface, uint32_t version);

/* Frees the proxies of all bound globals, without a request: for the end of the connection. */
void globals_finish(const struct global_table *table, void *object);

#endif
