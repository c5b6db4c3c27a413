// SPDX-License-Identifier: MIT
/**
 * A stream that is recorded, as by any other of its readers. Of some of its frames a small picture
 * is kept; each other one is given back when the next one comes. The last frame is held, so that
 * there is a picture of it, too: when it is time for one, or when its memory is taken away, since
 * its producer died.
 */
#ifndef RECORDER_STREAM_WATCH_H
#define RECORDER_STREAM_WATCH_H

#include <gid/stream.h>
#include <systemd/sd-event.h>

#include "picture_tape.h"
#include "recorder_options.h"

struct stream_watch {
	const char *owner, *name; /* the domain whose stream it is */
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	struct picture_tape tape;
	sd_event_source *look;
	struct gid_frame held; /* the last one, of which there is no picture yet */
	uint64_t held_time;    /* when it came */
	uint64_t seen;	       /* until when all that came is on the tape */
	bool is_held;
	struct gid_frame asked; /* one whose slab gidd is asked for */
	uint64_t asked_time;
	bool is_asked;
	struct gid_slab *slab; /* of the last picture: we hear when it is taken away; or NULL */
	gid_id slab_gid;       /* any of its */
	uint64_t period_ns;    /* from one picture to the next */
	uint64_t due;	       /* the next picture is of a frame that comes then or later */
	int64_t left_ns;       /* of the time of a processor that its pictures may take */
	uint64_t paid, share;  /* when that was reckoned last; it grows by a part of the time */
	bool is_taken;	       /* the slab is being taken away, and is there at this moment */
	uint64_t unread;       /* frames of which no picture could be made */
	const char *reason;    /* of the last one; "" */
};

/*
 * Subscribes. `owner` NULL: our own domain. Returns 0 or -errno, as gid_consumer_create(); then
 * there is nothing to be finished.
 */
int stream_watch_init(struct stream_watch *watch, struct gid_domain *domain, sd_event *event,
		const struct recorder_stream *stream, const struct recorder_options *options);
void stream_watch_finish(struct stream_watch *watch);

#endif
