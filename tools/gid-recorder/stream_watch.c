// SPDX-License-Identifier: MIT
#include "stream_watch.h"

#include <errno.h>

#include "shrink.h"
#include "thread.h"

/*
 * All streams are looked at at the same times, which wakes us once for all of them, and no producer
 * has to wake us. However fast frames come: what is too much drops out of the ring.
 */
#define LOOK_NS UINT64_C(16000000)
#define CREDIT 4u /* and so many at each look */
/*
 * The pictures of all streams may take a 100th of a processor: what one costs is its producer's
 * choice. If they are dearer, there are fewer of them. What was not used may be used later, up to
 * so much: the first pictures of a producer are the dearest.
 */
#define SHARE 100u
#define SAVED_NS INT64_C(20000000)

/* --- pictures --------------------------------------------------------------------------------- */

static const char *reason_of(int error) {
	switch (error) {
	case -ENOTSUP:
		return "its memory is not rows of pixels of a known format";
	case -EINVAL:
		return "its layout or its crop is wrong";
	case -EMSGSIZE:
		return "it is wider or higher than 16384 pixels";
	case -EBUSY:
		return "a device does not end drawing it";
	case -ESTALE:
		return "it was taken back while it was read";
	default:
		return gid_strerror(error);
	}
}

/* Whether the pixels are those that were sent, also after they were read. */
static bool is_true(const struct stream_watch *watch, const struct gid_slab *slab,
		const struct gid_frame *frame, bool is_taken) {
	int error = gid_consumer_holds(watch->consumer, frame, slab, NULL);
	if (is_taken) { /* at this moment: its content is there still */
		return error != -ESTALE;
	}
	return error == 0 || (error == -ENOTCONN && gid_slab_is_current(slab, frame->gid));
}

/* Writes the picture to where the next one is to be. Returns 0 or -errno. */
static int read_picture(struct stream_watch *watch, const struct gid_slab *slab,
		const struct gid_frame *frame, bool is_taken, struct tape_picture *picture) {
	static uint32_t row[SHRINK_SOURCE_MAX];
	struct gid_slab_info info;
	struct gid_box seen;
	gid_slab_get_info(slab, &info);
	int error = shrink_check(&info.layout, info.slot_size, &frame->crop, &seen);
	if (error < 0) {
		return error;
	}
	bool is_dmabuf = info.memory == GID_MEMORY_DMABUF;
	const void *slot = gid_slab_view(slab, gid_slot_of(frame->gid));
	if (slot == NULL && !info.revoked) {
		return is_dmabuf ? -ENOTSUP : -ENODATA;
	}
	if (slot == NULL) {
		return -ESTALE;
	}
	if (is_dmabuf && gid_dmabuf_begin_read(info.fd) != 0) {
		return -EBUSY;
	}
	uint32_t width = watch->tape.width, height = watch->tape.height;
	shrink_size(&seen, &width, &height);
	shrink(&info.layout, slot, &seen, width, height, row, picture_tape_room(&watch->tape));
	if (is_dmabuf) {
		gid_dmabuf_end_read(info.fd);
	}
	picture->width = (uint16_t)width;
	picture->height = (uint16_t)height;
	return is_true(watch, slab, frame, is_taken) ? 0 : -ESTALE;
}

static void let_go(struct stream_watch *watch) {
	if (watch->is_held) {
		gid_consumer_release(watch->consumer, &watch->held);
		watch->is_held = false;
	}
}

static void forget_slab(struct stream_watch *watch) {
	if (watch->slab != NULL) {
		gid_slab_on_revoked(watch->slab, NULL, watch);
		gid_slab_unref(watch->slab);
		watch->slab = NULL;
	}
}

static bool is_of_slab(const struct stream_watch *watch, gid_id gid) {
	return watch->slab != NULL && gid_slab_key(watch->slab_gid) == gid_slab_key(gid);
}

static void handle_revoked(void *data, struct gid_slab *slab);

/*
 * Takes the reference. Returns 0 or -errno. A slab whose end we would not hear is not used: it
 * would be taken for the one that has its number later, and its zeroes for pictures.
 */
static int use_slab(struct stream_watch *watch, gid_id gid, struct gid_slab *slab) {
	forget_slab(watch);
	int error = gid_slab_on_revoked(slab, handle_revoked, watch);
	if (error < 0) {
		gid_slab_unref(slab);
		return error;
	}
	watch->slab = slab;
	watch->slab_gid = gid;
	return 0;
}

/* Of a frame that came then, whose slab is there, or could not be had because of the error. */
static void take_picture(struct stream_watch *watch, const struct gid_frame *frame, uint64_t came,
		int error, bool is_taken) {
	const uint64_t now = gid_clock_now();
	struct tape_picture picture = {
			.time = came,
			.sequence = frame->sequence,
			.transform = (uint8_t)(frame->transform & 7),
	};
	uint64_t began = gid_thread_used();
	if (error == 0) {
		error = read_picture(watch, watch->slab, frame, is_taken, &picture);
	}
	if (error == 0) {
		picture_tape_add(&watch->tape, &picture);
	} else {
		watch->unread++;
		watch->reason = reason_of(error);
		picture_tape_add_gap(&watch->tape, TAPE_UNREAD, now);
	}
	watch->left_ns -= (int64_t)(gid_thread_used() - began);
	watch->due += watch->period_ns;
	if (watch->due < now) {
		watch->due = now + watch->period_ns;
	}
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct stream_watch *watch = data;
	watch->is_asked = false;
	if (error == 0) {
		error = use_slab(watch, gid, slab);
	}
	take_picture(watch, &watch->asked, watch->asked_time, error, false);
	gid_consumer_release(watch->consumer, &watch->asked);
}

/*
 * Of the frame that is held. Its slab may have to be asked for, and its domain answers when it
 * likes: that frame waits beside, and nothing else waits for it.
 */
static void take_held(struct stream_watch *watch, bool is_taken) {
	struct gid_slab *slab;
	int error = 0;
	if (!is_of_slab(watch, watch->held.gid)) {
		error = gid_slab_import_async(
				watch->domain, watch->held.gid, handle_imported, watch, &slab);
		if (error == -EINPROGRESS) {
			watch->asked = watch->held;
			watch->asked_time = watch->held_time;
			watch->is_asked = true;
			watch->is_held = false;
			return;
		}
		if (error == 0) {
			error = use_slab(watch, watch->held.gid, slab);
		}
	}
	take_picture(watch, &watch->held, watch->held_time, error, is_taken);
	let_go(watch);
}

/* Whether there is time for a picture. */
static bool can_afford(struct stream_watch *watch, uint64_t now) {
	watch->left_ns += (int64_t)((now - watch->paid) / watch->share);
	watch->left_ns = watch->left_ns < SAVED_NS ? watch->left_ns : SAVED_NS;
	watch->paid = now;
	return watch->left_ns > 0;
}

static bool is_due(struct stream_watch *watch, uint64_t now) {
	return now >= watch->due && !watch->is_asked && can_afford(watch, now);
}

/* Of the last frame, which nobody will ever have a picture of else. */
static void take_last(struct stream_watch *watch) {
	if (watch->is_held && is_of_slab(watch, watch->held.gid) &&
			can_afford(watch, gid_clock_now())) {
		take_held(watch, watch->is_taken);
	}
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Its producer says when it sent it, and is believed between what was seen last and now. */
static uint64_t note_coming(
		struct stream_watch *watch, const struct gid_frame *frame, uint64_t now) {
	uint64_t came = frame->submit_time < now ? frame->submit_time : now;
	watch->seen = came > watch->seen ? came : watch->seen;
	return watch->seen;
}

static void take_frame(struct stream_watch *watch, const struct gid_frame *frame, uint64_t now) {
	const uint64_t came = note_coming(watch, frame, now);
	if (frame->gid == GID_NONE) {
		if ((frame->flags & (GID_FRAME_HIDDEN | GID_FRAME_EOS)) != 0) {
			bool is_hidden = (frame->flags & GID_FRAME_HIDDEN) != 0;
			picture_tape_add_gap(
					&watch->tape, is_hidden ? TAPE_HIDDEN : TAPE_ENDED, came);
		}
		gid_consumer_release(watch->consumer, frame);
		return;
	}
	const struct tape_frame entry = {
			.sequence = frame->sequence,
			.capture_time = frame->capture_time,
			.submit_time = frame->submit_time,
			.receive_time = came,
			.gid = frame->gid,
	};
	picture_tape_add_frame(&watch->tape, &entry);
	let_go(watch);
	watch->held = *frame;
	watch->held_time = came;
	watch->is_held = true;
}

static void take_frames(struct stream_watch *watch, uint64_t now) {
	struct gid_frame frame;
	for (uint32_t i = 0; i < CREDIT && gid_consumer_receive(watch->consumer, &frame) == 1;
			i++) {
		take_frame(watch, &frame, now);
	}
	watch->seen = now;
}

/*
 * The memory goes, with what came since the last look. If it is lent again, it has the same number,
 * and is asked for.
 */
static void handle_revoked(void *data, struct gid_slab *slab) {
	struct stream_watch *watch = data;
	watch->is_taken = true;
	take_frames(watch, gid_clock_now());
	take_last(watch);
	watch->is_taken = false;
	forget_slab(watch);
}

/* The next look is at a time that all streams have; at none while there is nothing to be seen. */
static void look_again(struct stream_watch *watch, uint64_t now) {
	if (watch->is_held || gid_consumer_get_state(watch->consumer) == GID_CONSUMER_LIVE) {
		uint64_t next = now - now % LOOK_NS + LOOK_NS;
		sd_event_source_set_time(watch->look, next / 1000);
		sd_event_source_set_enabled(watch->look, SD_EVENT_ONESHOT);
	}
}

static int handle_look(sd_event_source *source, uint64_t usec, void *data) {
	struct stream_watch *watch = data;
	const uint64_t now = gid_clock_now();
	take_frames(watch, now);
	if (watch->is_held && is_due(watch, now)) {
		take_held(watch, false);
	}
	look_again(watch, now);
	return 0;
}

static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct stream_watch *watch = data;
	const uint64_t now = gid_clock_now();
	if (state != GID_CONSUMER_LIVE) {
		take_last(watch);
		picture_tape_add_gap(&watch->tape, TAPE_GONE, now);
		return;
	}
	watch->seen = now; /* what it shows may be old: it came now */
	if (watch->look != NULL) {
		look_again(watch, now);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

int stream_watch_init(struct stream_watch *watch, struct gid_domain *domain, sd_event *event,
		const struct recorder_stream *stream, const struct recorder_options *options) {
	*watch = (struct stream_watch){
			.owner = stream->owner != NULL ? stream->owner : gid_domain_name(domain),
			.name = stream->name,
			.domain = domain,
			.period_ns = UINT64_C(1000000000) / options->rate,
			.share = SHARE * options->stream_count,
			.paid = gid_clock_now(),
			.left_ns = SAVED_NS,
			.reason = "",
	};
	const struct gid_consumer_options how = {
			.size = sizeof(how),
			.credit = CREDIT,
			.drop_old = true,
			.reconnect = true,
			.quiet = true,
			.state = handle_state,
			.data = watch,
	};
	int error = picture_tape_init(
			&watch->tape, options->width, options->seconds, options->rate);
	if (error < 0) {
		return error;
	}
	error = gid_consumer_create(domain, stream->owner, stream->name, &how, &watch->consumer);
	if (error < 0) {
		goto error_tape;
	}
	error = sd_event_add_time(
			event, &watch->look, CLOCK_MONOTONIC, 0, 1000, handle_look, watch);
	if (error < 0) {
		goto error_consumer;
	}
	return 0;

error_consumer:
	gid_consumer_destroy(watch->consumer);
error_tape:
	picture_tape_finish(&watch->tape);
	return error;
}

void stream_watch_finish(struct stream_watch *watch) {
	watch->look = sd_event_source_disable_unref(watch->look);
	let_go(watch);
	gid_slab_import_cancel(watch->domain, watch);
	forget_slab(watch);
	gid_consumer_destroy(watch->consumer);
	picture_tape_finish(&watch->tape);
}
