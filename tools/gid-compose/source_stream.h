// SPDX-License-Identifier: MIT
/**
 * A stream that layers show: its newest frame, and slabs of it that the engine may read. Several
 * layers may show one.
 */
#ifndef COMPOSE_SOURCE_STREAM_H
#define COMPOSE_SOURCE_STREAM_H

#include <gid/engine.h>
#include <gid/stream.h>

/* A slab whose pictures are shown. */
struct source_slab {
	struct gid_slab *slab; /* imported; NULL: the place is free */
	struct gid_slab_info info;
	uint32_t key;
	uint64_t used; /* counts uses of the stream's slabs */
	bool granted;  /* to the engine */
};

/* A slot of another domain's, as a slab of ours. */
struct source_export {
	struct gid_slab *slab; /* NULL: the place is free */
	uint32_t key, slot;    /* of what it is */
	uint64_t used;	       /* the last picture that it was in */
	bool granted;
};

/*
 * Those of all streams. Other domains choose how many slots there are, and how large the memory is
 * that each of them is charged with; so what was unused longest goes where there is no more room.
 */
#define SOURCE_EXPORTS_MAX 256
struct source_exports {
	struct source_export places[SOURCE_EXPORTS_MAX];
	uint64_t picture; /* that is composed now, counted from 1 */
};

struct source_stream {
	struct source_stream *next;
	char *domain, *name; /* domain NULL: our own */
	struct gid_domain *connection;
	struct gid_consumer *consumer;
	struct gid_frame frame;	     /* the newest; GID_NONE: there is nothing to show */
	bool held;		     /* it is to be released */
	struct gid_frame next_frame; /* it is shown when gidd has answered for its slab */
	bool asked;		     /* there is one */
	int refusal;		     /* gidd's answer for the newest frame's slab */
	uint32_t refusals;	     /* in a row */
	uint64_t again;		     /* when it may be asked again, as gid_clock_now() */
	bool changed;		     /* since source_stream_picture() */
	bool told;		     /* of what is wrong with its frames */
	bool wanted;		     /* by the present layout */
	uint64_t uses;
	struct source_slab slabs[16];
	struct source_exports *exports; /* its owner's, which outlive it */
};

/* Returns 0 or -errno with what gid_consumer_create() returns. */
int source_stream_create(struct gid_domain *connection, const char *domain, const char *name,
		struct source_exports *exports, struct source_stream **source);
void source_stream_destroy(struct source_stream *source);

/* Takes what has come. The one before is given back: the engine must be done with it. */
void source_stream_dispatch(struct source_stream *source);

/* The picture to show, as the engine can read it, and what is known of its slab. */
struct source_picture {
	gid_id gid;
	struct gid_box crop; /* empty: all of it */
	const struct gid_slab_info *info;
};

/*
 * Returns 0; -ENODATA: there is none now; or another error: the engine cannot read it. `*why` is a
 * sentence where that does not pass by itself, and else NULL.
 */
int source_stream_picture(struct source_stream *source, struct gid_canvas *canvas,
		struct source_picture *picture, const char **why);

/* What was granted is not granted any more, of its exports either. */
void source_stream_forget_grants(struct source_stream *source);

#endif
