// SPDX-License-Identifier: MIT
/** A canvas as its requester has it. */
#ifndef GID_ENGINE_CANVAS_REQUEST_H
#define GID_ENGINE_CANVAS_REQUEST_H

#include "language.h"
#include <gid/engine.h>
#include <gid/stream.h>

#define LISTS_MAX 62u

struct gid_canvas {
	struct gid_domain *domain;
	struct gid_canvas_options options; /* complete */
	struct gid_producer *lists;
	struct gid_consumer *reports;
	struct gid_slab *slab; /* of lists */
	int epoll_fd;
	uint32_t engine; /* number of its domain; 0: it is away */
	struct gid_slab *report_slab;
	const struct engine_report *report; /* NULL: not known yet */
	bool has_canvas;		    /* this engine was told of format and size */
	uint64_t fence;			    /* of the last list that was submitted */
	uint64_t lost;			    /* lists up to this one will never be done */
	uint64_t refused;		    /* lists, that gid_canvas_wait() told of */
	uint64_t slot_fences[LISTS_MAX];    /* of the list in each slot */
	uint64_t released;		    /* the greatest of those that came back */

	/* The list that is being made. */
	uint32_t *words; /* in the slab; NULL: there is none */
	uint32_t slot, count;
	int error;
	char text[256]; /* the last error */
};

/* Notes a sentence, and returns the error. */
__attribute__((format(printf, 3, 4))) int canvas_fail(
		struct gid_canvas *canvas, int error, const char *format, ...);

/* A free slot for a list; waits for one. Returns it or -errno. */
int canvas_take_slot(struct gid_canvas *canvas);

#endif
