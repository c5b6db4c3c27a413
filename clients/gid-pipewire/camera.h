// SPDX-License-Identifier: MIT
/*
 * A stream as a camera of PipeWire: a node of the class Video/Source whose buffers are the slots of
 * the stream's slabs themselves, by their own read-only descriptors. A picture that readers hold is
 * held here, and its lease renewed; it goes back when PipeWire gives the buffer back. A picture in
 * memory that came after PipeWire had negotiated with its readers is copied for them, and for
 * browsers each picture is. While there is no producer, a black picture is shown, so that readers
 * go on.
 *
 * Everything is on the thread of the loop.
 */
#ifndef GID_PIPEWIRE_CAMERA_H
#define GID_PIPEWIRE_CAMERA_H

#include <gid/stream.h>
#include <pipewire/pipewire.h>

#include "pipewire_options.h"
#include "slots.h"

/* A frame of the stream, for as long as anybody has it. */
struct camera_frame {
	struct gid_frame frame;
	struct gid_box seen; // what readers see of it
	uint32_t uses;	     // buffers that show it, and one for the stream's present picture
};

/* A buffer that PipeWire has, or that can be filled. */
struct camera_buffer {
	struct pw_buffer *buffer; // NULL: none has this number
	uint32_t slot;		  // SLOT_NONE: it is not filled again
	bool queued;
	struct camera_frame *shown; // NULL: an own slot
};

struct camera {
	const struct pipewire_options *options;
	struct pw_main_loop *main_loop;
	struct pw_loop *loop;
	struct pw_stream *stream; // NULL: no picture has come yet
	bool streaming;
	struct spa_source *domain_source, *consumer_source, *tick, *turn;

	struct gid_domain *domain;
	struct gid_consumer *consumer;
	struct slots slots;
	uint32_t width, height; // of what readers see of a picture
	struct camera_buffer buffers[SLOTS_MAX];
	struct camera_frame *present; // what the stream shows; NULL: nothing
	struct gid_frame fetching;    // whose memory is being asked for
	struct gid_frame next;	      // newer, and in memory that is not known, either
	bool is_fetching, has_next, filled, failed, finishing;
	bool is_passed;	  // what is fetched is older than what was shown since
	bool told_fault;  // why a frame was left out
	bool told_unable; // why a reader gets none
	bool is_early; // what is fetched has another form, and PipeWire is to be told of that later
	uint64_t tick_ns;    // how often on_tick() comes
	uint64_t last_frame; // CLOCK_MONOTONIC, ns
	uint64_t last_shown; // the same, of what was shown last
	uint64_t last_time;  // the same, which readers were told of a picture last
	uint64_t last_form;  // the same, when PipeWire was told of a form last
	struct camera_counts {
		uint64_t frames, shown, busy, new_memory, forms, copied, fillers;
	} counts;
};

/* Returns 0, or -1 when it has said why not. */
int camera_init(struct camera *camera, const struct pipewire_options *options,
		struct pw_main_loop *loop);
void camera_finish(struct camera *camera);

/* Writes what it counted to standard output, as JSON. */
void camera_report(const struct camera *camera);

#endif
