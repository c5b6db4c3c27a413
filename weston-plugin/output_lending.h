// SPDX-License-Identifier: MIT
/**
 * Lends buffers of clients to the consumers of an output, instead of drawing it: those of programs
 * that lend= names, while one of them is all that is visible. In doubt nothing is lent: while gidd
 * did not grant the memory, and while consumers hold what they have.
 *
 * Runs on the compositor's thread, and never blocks.
 */
#ifndef GID_WESTON_OUTPUT_LENDING_H
#define GID_WESTON_OUTPUT_LENDING_H

#include "client_list.h"
#include "lent_buffers.h"
#include "output_cover.h"

#define LENDING_SLABS 8

struct output_lending {
	const struct client_list *programs; /* empty: nothing is ever lent */
	struct weston_output *output;
	struct gid_domain *domain;     /* NULL: none */
	struct gid_producer *producer; /* NULL: none */
	/* The memory of the shown buffer was reclaimed: the output must be drawn now. */
	void (*lost)(void *data);
	void *data;

	struct wl_list lent; /* struct lent_buffer: the shown one, and those that consumers hold */
	struct lent_buffer *shown; /* last sent to consumers; NULL: a drawn picture was */
	struct gid_frame frame;	   /* the next one, of `shown` */
	bool whole;		   /* it needs full damage */
	bool is_unsent;		   /* it still has to be sent */
	bool is_begun;		   /* it was sent in this repaint, before the damage was known */
	uint32_t granted[LENDING_SLABS]; /* keys of slabs that consumers may read; 0: none */
	uint32_t next_granted;
	uint32_t asked;		       /* key of the slab that gidd was last asked to grant */
	bool is_off;		       /* gidd refused one: until the stream is published again */
	struct wl_event_source *timer; /* runs while consumers hold something that is not shown */
	bool is_ticking;	       /* it is armed */
	uint64_t paused_until;	       /* as consumers held what they had; 0: not paused */

	struct wl_client *client; /* that was last checked; NULL: none */
	struct wl_listener client_destroy;
	bool is_programs; /* it runs one of `programs` */

	const char *told; /* why the output is drawn, as last logged; NULL: it lends */
	uint32_t count;	  /* pictures that were lent since then */
	struct weston_log_pacer pacer;
};

/* `programs` and `output` must outlive it. Returns 0 or -ENOMEM. */
int output_lending_init(struct output_lending *lending, const struct client_list *programs,
		struct weston_output *output, void (*lost)(void *data), void *data);
void output_lending_finish(struct output_lending *lending);

/* The stream is published by this producer. NULL: it ends, and so does all that was lent. */
void output_lending_set_producer(struct output_lending *lending, struct gid_domain *domain,
		struct gid_producer *producer);

/*
 * To be called in a repaint, before the renderer. Returns whether the picture is lent: then nothing
 * must be drawn, and output_lending_put() follows. `obstacle`: why nothing can be lent now; NULL:
 * something can. `present_time` is the refresh that the picture is for.
 */
bool output_lending_begin(
		struct output_lending *lending, const char *obstacle, uint64_t present_time);

/*
 * The damage since the last picture is known now; `whole`: full damage. Returns whether the frame
 * must be sent.
 */
bool output_lending_put(struct output_lending *lending, struct gid_box changed, bool whole,
		uint64_t capture_time, uint64_t present_time);

/*
 * To be called after the repaint: sends the frame, if it still must be sent. Returns 1: sent; 0:
 * not needed; -errno: the output must be drawn.
 */
int output_lending_send(struct output_lending *lending);

/* A frame with a drawn picture was sent. */
void output_lending_outdate(struct output_lending *lending);

/* Consumers have released something. */
void output_lending_give_back(struct output_lending *lending);

/* Finds what consumers have released, and asks the producer to report later releases. */
void output_lending_collect(struct output_lending *lending);

/* gidd has answered; see gid_producer_options.granted. */
void output_lending_granted(struct output_lending *lending, gid_id gid, int error);

#endif
