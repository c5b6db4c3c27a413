// SPDX-License-Identifier: MIT
/**
 * The pictures of an output that are lent to its readers, and not drawn: the buffers of programs
 * that lend= names, as long as one of them is all that is seen. In doubt nothing is lent: where
 * gidd has not granted the memory yet, or never does, and where readers keep what they have.
 *
 * Belongs to the compositor's thread, and waits for nobody.
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
	struct gid_domain *domain;     /* NULL: there is none */
	struct gid_producer *producer; /* NULL: likewise */
	/* What was lent must be drawn now: its memory was taken back. */
	void (*lost)(void *data);
	void *data;

	struct wl_list lent;	   /* struct lent_buffer: what is shown, and what readers have */
	struct lent_buffer *shown; /* what readers were sent last; NULL: what was drawn */
	struct gid_frame frame;	   /* of it, the next one */
	bool whole;		   /* all of it is new to readers */
	bool is_unsent;		   /* it is to be sent */
	bool is_begun; /* it was sent in this repaint, before it was known what changed */
	uint32_t granted[LENDING_SLABS]; /* keys of slabs that readers may read; 0: none */
	uint32_t next_granted;
	uint32_t asked;		       /* the key of that which gidd was asked for last */
	bool is_off;		       /* gidd refused one: until the stream is published anew */
	struct wl_event_source *timer; /* while readers have something that is not shown any more */
	bool is_ticking;	       /* it is armed */
	uint64_t paused_until;	       /* for readers kept what they had; 0: they did not */

	struct wl_client *client; /* that was looked at last; NULL: none */
	struct wl_listener client_destroy;
	bool is_programs; /* whether it is one of `programs` */

	const char *told; /* why it is drawn, as last said in the log; NULL: it is lent */
	uint32_t count;	  /* pictures that were lent since then */
	struct weston_log_pacer pacer;
};

/* `programs` and `output` outlive it. Returns 0 or -ENOMEM. */
int output_lending_init(struct output_lending *lending, const struct client_list *programs,
		struct weston_output *output, void (*lost)(void *data), void *data);
void output_lending_finish(struct output_lending *lending);

/* The stream is published by this producer; or it goes, with all that was lent. */
void output_lending_set_producer(struct output_lending *lending, struct gid_domain *domain,
		struct gid_producer *producer);

/*
 * In a repaint, before it is drawn. Returns whether the picture is lent: then nothing is to be
 * drawn, and output_lending_put() follows. `obstacle`: why that cannot be, whatever is seen; NULL:
 * it can. `present_time` is that of the refresh that it is for.
 */
bool output_lending_begin(
		struct output_lending *lending, const char *obstacle, uint64_t present_time);

/*
 * What changed since the last picture is known now; `whole`: all of it. Returns whether the picture
 * is to be sent.
 */
bool output_lending_put(struct output_lending *lending, struct gid_box changed, bool whole,
		uint64_t capture_time, uint64_t present_time);

/* After the repaint: sends it, if it is to be sent still. Returns 1: it was; 0: it need not be; or
 * why it must be drawn. */
int output_lending_send(struct output_lending *lending);

/* A picture that was drawn was sent. */
void output_lending_outdate(struct output_lending *lending);

/* Readers gave something back. */
void output_lending_give_back(struct output_lending *lending);

/* Looks for what readers gave back, and has the producer hear of what they give back later. */
void output_lending_collect(struct output_lending *lending);

/* gidd has answered; see gid_producer_options.granted. */
void output_lending_granted(struct output_lending *lending, gid_id gid, int error);

#endif
