// SPDX-License-Identifier: MIT
/** A layout, the streams that it shows, and the canvas that they are composed on. */
#ifndef COMPOSE_COMPOSITION_H
#define COMPOSE_COMPOSITION_H

#include "layout_file.h"
#include "source_stream.h"

struct composition {
	struct gid_domain *domain;
	struct gid_canvas *canvas;
	struct layout_file layout;
	struct source_stream *sources;
	struct source_exports exports;
	bool connected; /* as told */
	bool changed;	/* the layout, or whether the engine is there */
	bool told;	/* why the engine refused the last list */
	uint64_t begin; /* of the pictures' times */
	uint64_t pictures, refused, layouts;
};

/*
 * Takes the layout, and connects to gidd as the domain `name` (NULL: $GID_DOMAIN). Returns 0, or
 * -errno after it said on stderr why.
 */
int composition_init(struct composition *composition, const char *name, struct layout_file *layout);
void composition_finish(struct composition *composition);

/*
 * Takes another layout, in whose place `layout` then has the one before. Streams that both have go
 * on. After an error, which it says on stderr, nothing has changed. Returns 0 or -errno.
 */
int composition_change(struct composition *composition, struct layout_file *layout);

/* Composes a picture, if anything has changed. Never waits for a program but the engine. */
void composition_step(struct composition *composition);

#endif
