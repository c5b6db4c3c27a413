// SPDX-License-Identifier: MIT
/* Captures from a source into a stream: which buffer, and when. */
#ifndef GID_CAPTURE_CAPTURE_H
#define GID_CAPTURE_CAPTURE_H

#include <systemd/sd-event.h>

#include "capture_clipboard.h"
#include "capture_options.h"
#include "screen_buffer.h"

struct capture_counts {
	uint64_t captured;  // pictures that the compositor gave
	uint64_t unchanged; // of these, those that were not sent, as they were like the last
	uint64_t refused;   // pictures that had to be asked for again
};

struct capture {
	const struct capture_options *options;
	sd_event *event;
	struct screens screens;
	sd_event_source *connection, *domain_source, *producer_source, *pause;
	const struct screens_output *output; // NULL: a window; or it is gone
	const struct screens_window *shown;  // NULL: an output; or it is closed
	char *output_name;		     // of the first one; NULL: a window, or it has none
	struct source *source;		     // NULL: the output is gone
	struct wl_callback *ending;	     // after which it is known whether that is why it ended
	char why[256];			     // it ended
	struct gid_domain *domain;
	struct capture_clipboard clipboard;
	struct gid_producer *producer;	// NULL: the output is gone
	struct gid_producer_stats past; // of those before
	struct source_form form;	// of the pictures now
	struct wl_list buffers;		// struct screen_buffer
	struct wl_callback *sync;	// after which the newest buffers can be exported
	struct screen_buffer *asked;	// a picture is being written to it
	struct screen_buffer *current;	// the stream's picture
	struct gid_frame frame;		// as which it was sent
	uint8_t note[GID_NOTE_MAX];	// of the frame that is being sent
	struct gid_slab *window;	// for readers on other machines; NULL: not needed yet
	struct gid_layout layout;	// of the present form
	bool renamed;			// since the last picture: another one was asked for
	bool asleep;			// there is no picture, until one is asked for anew
	bool refused;			// the last picture, which is asked for again
	uint64_t pause_us;		// after a picture in which nothing was new
	uint64_t asked_time;		// when the last picture was asked for
	struct capture_counts counts;
};

/* Returns 0, or -1 after saying on stderr what is wrong. `capture` must not move. */
int capture_init(struct capture *capture, const struct capture_options *options, sd_event *event);
void capture_finish(struct capture *capture);

/* Writes the counts to stdout, as JSON. */
void capture_report(const struct capture *capture);

#endif
