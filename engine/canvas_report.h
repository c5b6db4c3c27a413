// SPDX-License-Identifier: MIT
/** The engine's report on one canvas: a page that requesters read, and the stream that names it. */
#ifndef ENGINE_CANVAS_REPORT_H
#define ENGINE_CANVAS_REPORT_H

#include <gid/stream.h>

#include "language.h"

struct report {
	struct gid_producer *producer;
	struct gid_slab *slab;
	struct engine_report *page; /* in the slab */
	gid_id announced;	    /* to the readers, as the gid of the page */
	bool reader_joined;
};

/* Publishes the stream. Returns 0 or what gid_producer_create() and gid_slab_create() return. */
int report_init(struct report *report, struct gid_domain *domain, const char *stream);
void report_finish(struct report *report);

/* Whether its memory is lost, see canvas_slab_is_lost(): readers cannot read it any more. */
bool report_is_lost(const struct report *report);

/* To be called when the producer's descriptor is readable, and from time to time. */
void report_dispatch(struct report *report);

/* Reports that a list is done. */
void report_done(struct report *report, uint64_t fence);

/* Reports that a list was refused, and is done: `error` is -errno, `text` a sentence. */
void report_refused(
		struct report *report, uint64_t fence, uint32_t word, int error, const char *text);

/* Wakes programs that wait for the report. */
void report_send(struct report *report);

/*
 * From now on, until report_wake(), the program that draws has to send a frame to be noticed. Look
 * at its batch once more after this.
 */
void report_sleep(struct report *report);
void report_wake(struct report *report);

/* Sets another number of the page. */
static inline void report_set(uint64_t *field, uint64_t value) {
	__atomic_store_n(field, value, __ATOMIC_RELAXED);
}

#endif
