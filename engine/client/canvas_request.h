// SPDX-License-Identifier: MIT
/** A canvas as its requester has it. */
#ifndef GID_ENGINE_CANVAS_REQUEST_H
#define GID_ENGINE_CANVAS_REQUEST_H

#include <gid/engine.h>
#include <gid/stream.h>

#include "language.h"

#define LISTS_MAX 62u
#define LIST_SHORT 64u /* words that a list is begun with */
#define SLOTS_MAX 48u  /* and places in the ring for those that are sent again */

struct gid_canvas {
	struct gid_domain *domain;
	struct gid_canvas_options options; /* complete */
	struct gid_producer *lists;
	struct gid_consumer *reports;
	struct gid_slab *slab; /* whose slots are batches of lists */
	uint32_t slot_words;
	int epoll_fd;
	uint32_t engine; /* number of its domain; 0: it is away */
	uint64_t epoch;	 /* counts engines */
	struct gid_slab *report_slab;
	gid_id report_gid;		    /* GID_NONE: none was told */
	const struct engine_report *report; /* NULL: not known, or cannot be imported yet */
	bool has_canvas;		    /* this engine was told of format and size, */
	uint64_t canvas_fence;		    /* by this list, of which nobody asked yet; or 0 */
	uint64_t fence;			    /* of the last list that was submitted */
	uint64_t lost;			    /* those up to this one went with an engine, */
	uint64_t done;			    /* but for those up to this one */
	bool knows_refused;		    /* that engine's `refused` when we came to it */
	uint64_t refused;		    /* lists, that gid_canvas_wait() told of */
	uint64_t freed;			    /* slots that came back, ever */

	/* The batch that lists are added to. */
	struct engine_batch *batch; /* in the slab; NULL: there is none */
	uint32_t slot, end;	    /* words that are written */
	uint64_t emptied;	    /* gid_slab_emptied() when we looked last */
	uint64_t serial;	    /* of the last batch */
	uint64_t batch_epoch;	    /* the engine that it is for */
	uint64_t rung;		    /* the engine's sleep for which it was sent, or 0 */
	uint64_t rung_at;	    /* when it was last sent, ns */
	gid_id sent;		    /* as what it was sent; GID_NONE: not yet */

	/* The list that is being made. */
	uint32_t *words; /* in the batch; NULL: there is none */
	uint32_t count;
	bool sets_size; /* it begins with the canvas's format and size */
	int error;
	char text[256]; /* the last error */
};

/* Notes a sentence, and returns the error. */
__attribute__((format(printf, 3, 4))) int canvas_fail(
		struct gid_canvas *canvas, int error, const char *format, ...);

/* Whether the batch in work has room for so many words: the rule, where lists are short. */
static inline bool canvas_has_batch(const struct gid_canvas *canvas, uint64_t words) {
	return canvas->batch != NULL && canvas->batch_epoch == canvas->epoch &&
			canvas->report != NULL && canvas->end + words <= canvas->slot_words;
}

/* Whether a short list can be begun without waiting for a slot. */
bool canvas_has_room(struct gid_canvas *canvas);

/* Tells the engine what lists to come will name, if that can be told at once. */
void canvas_expect(struct gid_canvas *canvas, gid_id gid);

/* Has a batch with room for so many words; waits for a slot. Returns 0 or -errno. */
int canvas_open_batch(struct gid_canvas *canvas, uint32_t words);

/* The first words of the list become a part of the batch, and the engine's. Returns 0 or -errno. */
int canvas_publish(struct gid_canvas *canvas);

#endif
