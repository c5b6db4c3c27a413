// SPDX-License-Identifier: MIT
/*
 * The way of a frame: received from the stream, kept until the compositor wants one and its time
 * has come, committed as a wl_buffer, given back when the compositor has released that.
 */
#ifndef GID_VIEW_VIEW_H
#define GID_VIEW_VIEW_H

#include <gid/stream.h>
#include <systemd/sd-event.h>

#include "buffers.h"
#include "common/client_role.h"
#include "common/surface_colours.h"
#include "common/surface_timing.h"
#include "common/wayland.h"
#include "common/window.h"
#include "converter.h"
#include "naming.h"
#include "options.h"
#include "stats.h"
#include "view_input.h"
#include "waiting.h"

// What the compositor was sent of the picture; it holds until it is sent anew.
struct metadata {
	bool valid;
	struct gid_box source;
	uint32_t transform;
	bool opaque;
};

struct view {
	const struct options *options;
	sd_event *event;
	struct wayland wayland;
	struct window window;
	struct client_role role;
	struct buffers buffers;
	struct converter converter;
	struct surface_colours colours;
	struct surface_timing timing;
	struct view_input input; // zeroes without --input
	struct naming naming;
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	enum gid_consumer_state reported_state; // 0: none yet
	bool subscribed;			// gidd has taken the subscription, at least once
	struct wl_callback *frame_callback; // not NULL: the compositor does not want a frame yet
	struct wl_list feedbacks;	    // struct feedback.link: commits not presented yet
	struct waiting waiting;		    // without --fifo and --timed: the newest frame at most
	struct metadata sent;
	sd_event_source *gone;	// is about to veil the picture, or has; NULL: its producer is there
	sd_event_source *alarm; // looks again at what waits; NULL: there was nothing to wait for
	sd_event_source *renewal; // of the leases of what is held
	bool renews;		  // it is to come
	bool ended;		  // --once, and the stream has ended
	uint64_t close_time;	  // the program was asked to close its window; 0: it was not
	struct stats stats;
	struct gid_timeline *timeline; // of $GID_TIMELINE; NULL: none
};

/* Begins to show the stream. Returns 0, or -1 after saying why not on stderr. */
int view_init(struct view *view, sd_event *event, const struct options *options);

/* Valid after a failed view_init(), too. */
void view_finish(struct view *view);

#endif
