// SPDX-License-Identifier: MIT
/**
 * From a frame to a picture of our own: reads what another domain sent, in whatever format, turns
 * it as it is seen, and finds out about its pixels what the checks want to know.
 *
 * How long that takes is the producer's choice. It is the work of a worker (worker.h), never of the
 * display's thread.
 */
#ifndef CLUSTER_EXAMINER_H
#define CLUSTER_EXAMINER_H

#include <gid/protection.h>
#include <gid/stream.h>

#include "accepted.h"
#include "frame_drawing.h"
#include "role.h"

/* One frame, and what was found out about it. */
struct examination {
	struct gid_frame frame;
	struct gid_slab_info slab;
	const void *slot;	     /* its memory; NULL: it cannot be read */
	struct own_picture *picture; /* to be drawn */
	struct gid_check check;	     /* where the rules have a protection */
	int check_error;	     /* why there is no check; 0: there is one */
	/* The result: */
	bool undrawn;		 /* its device is still drawing: nothing was examined */
	enum role_reason reason; /* why the picture cannot be shown; else ROLE_REASON_NONE */
	bool is_protected;	 /* by its check, which is right */
	uint64_t content;	 /* of the visible rows as they lie in memory */
	bool allowed;		 /* the picture is one of those that may be shown */
	bool converted;		 /* it came in another format than XRGB8888 or ARGB8888 */
	char not_taken[16];	 /* the format or transform that is the reason; else "" */
	uint64_t spent_ns;	 /* of a processor */
};

#define EXAMINER_VERDICTS 64

/* Whether a picture, known by its `colour`, is one that may be shown. */
struct verdict {
	bool known, allowed;
	uint64_t colour;
};

/* What is made of the frames. What it points to outlives the examiner. */
struct examiner_rules {
	enum fit fit; /* with FIT_EXACT pixels are hashed, and compared; else they are only drawn */
	const struct accepted *accepted;
	/* With FIT_EXACT: what each frame's check has to be of. NULL: frames need none. */
	const struct gid_protection *protection;
};

/* What outlives a frame. Used by one thread. */
struct examiner {
	struct examiner_rules rules;
	struct verdict verdicts[EXAMINER_VERDICTS];
	struct frame_drawing drawing;
};

void examiner_finish(struct examiner *examiner);

/* Sets the result, and the picture's pixels and colour. */
void examiner_examine(struct examiner *examiner, struct examination *examination);

/*
 * Gets the frame's check, if the rules ask for one: before it is examined, while it is held, on the
 * consumer's thread. Sets the frame anew.
 */
void examination_get_check(struct examination *examination, const struct examiner_rules *rules,
		struct gid_consumer *consumer);

/* Whether it is known what the pixels should be, and the hash that they should have then. */
static inline bool examination_has_hash(const struct examination *of) {
	return of->is_protected || (of->frame.flags & GID_FRAME_HASH) != 0;
}

static inline uint64_t examination_stated_hash(const struct examination *of) {
	return (of->frame.flags & GID_FRAME_HASH) != 0 ? of->frame.content_hash : of->content;
}

/* When it was sent by its producer's clock, which nobody translated: of one that is protected. */
uint64_t examination_sent_time(const struct examination *of);

/* The formats of frames that are shown, those first that need no conversion: their number. */
uint32_t examiner_showable(
		const struct accepted *accepted, struct gid_showable showable[GID_SHOWABLE_MAX]);

/* The processor time of one picture, in ns. */
struct examiner_cost {
	uint64_t least; /* see examiner_measure_least() */
	uint64_t most;	/* of the dearest, turned as costs most */
	uint32_t dearest;
};

/*
 * Measures what a worker takes for a picture of this size in the cheapest format that the rules
 * take, turned as costs least: in ns of a processor. It takes some milliseconds where that format
 * needs no conversion. The display's thread pays none of that later. Returns 0 or -ENOMEM.
 */
int examiner_measure_least(const struct examiner_rules *rules, uint32_t width, uint32_t height,
		uint64_t *least);

/* Measures that, and each format that the rules take: with many formats that takes a second. */
int examiner_measure_cost(const struct examiner_rules *rules, uint32_t width, uint32_t height,
		struct examiner_cost *cost);

#endif
