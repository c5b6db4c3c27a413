// SPDX-License-Identifier: MIT
/*
 * The path of a frame: received from the stream, kept until the compositor's frame callback and its
 * own time, committed as a wl_buffer, and released to the producer when the compositor has released
 * that.
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

// State of the picture's surface, as last sent to the compositor.
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
	struct view_input input; // all zero without --input
	struct naming naming;
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	enum gid_consumer_state reported_state; // 0: none yet
	bool subscribed;			// gidd has accepted the subscription at least once
	struct wl_callback *frame_callback;	// NULL: the compositor is ready for a frame
	struct wl_list feedbacks; // struct feedback.link: commits without feedback so far
	struct waiting waiting;	  // without --fifo and --timed: the newest frame at most
	struct metadata sent;
	sd_event_source *gone;	  // veils the picture of a producer that is gone; NULL: it is not
	sd_event_source *alarm;	  // shows waiting frames later; NULL: not needed yet
	sd_event_source *renewal; // renews the leases of held frames
	bool renews;		  // `renewal` is armed
	bool ended;		  // with --once: the stream has ended
	uint64_t close_time;	  // when the shown window was asked to close; 0: never
	struct stats stats;
	struct gid_timeline *timeline; // of $GID_TIMELINE; NULL: none
};

/* Starts to show the stream. Returns 0, or -1 after an error message. */
int view_init(struct view *view, sd_event *event, const struct options *options);

/* Also to be called after a failed view_init(). */
void view_finish(struct view *view);

#endif
