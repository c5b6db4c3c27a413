// SPDX-License-Identifier: MIT
/**
 * The configuration of gid-engine: one INI file, gid-engine(8).
 *
 * Read at the start and at SIGHUP, constant in between.
 */
#ifndef ENGINE_CONFIG_H
#define ENGINE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What draws. */
enum canvas_back_end {
	CANVAS_PIXMAN, /* the processor */
	CANVAS_GLES,   /* OpenGL ES: what it can, and the rest pixman */
	CANVAS_AUTO,   /* OpenGL ES where there is a graphics device for it */
};

/* One canvas, and the domain whose programs may draw on it. */
struct canvas_config {
	char *name;
	unsigned line; /* of its section */
	char *domain;
	uint64_t memory; /* bytes of all its slots */
	uint32_t slots;
	uint64_t pixels_per_second; /* that may be drawn; 0: any number */
	uint64_t list_ns;	    /* the longest time for one list */
	uint64_t lease_ns;	    /* of its frames */
	bool realtime;
	enum canvas_back_end back_end;
};

struct engine_config {
	uint32_t spin_us; /* how long an engine looks for the next list before it sleeps */
	uint32_t helpers; /* threads that help those of canvases, or HELPERS_AUTO */
	struct canvas_config *canvases;
	size_t canvas_count;
};

/*
 * Reads the file at `path`. Returns 0, -EINVAL with every mistake written to `errors` as a line
 * "path:line: what is wrong", -ENOMEM, or what opening it says. The configuration is to be finished
 * in either case.
 */
int engine_config_read(struct engine_config *config, const char *path, FILE *errors);

/* The same for a file that is open; `name` is how messages call it. */
int engine_config_read_file(
		struct engine_config *config, FILE *file, const char *name, FILE *errors);

void engine_config_finish(struct engine_config *config);

/* A copy of one canvas. Returns 0 or -ENOMEM. It is to be finished in either case. */
int canvas_config_copy(struct canvas_config *copy, const struct canvas_config *canvas);
void canvas_config_finish(struct canvas_config *canvas);

#endif
