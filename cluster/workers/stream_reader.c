// SPDX-License-Identifier: MIT
#include "stream_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <wlr/util/log.h>

#define CREDIT 4u
/* Frames whose memory is imported in one refresh: one in time, and one right after it. */
#define IMPORTS_MAX 2u
#define ENTRIES_MAX STREAM_READER_ENTRIES
/* Wake-ups by the doorbell in one refresh: a producer may ring for nothing. */
#define WAKES_MAX ENTRIES_MAX
#define RETRY_NS 1000000000ull
#define ASK_AGAIN_NS 100000000ull

_Static_assert(ENTRIES_MAX == 2 * CREDIT, "a ring of libgid's has as many places, or 16");

/* --- the worker ------------------------------------------------------------------------------- */

/* Producers choose how often they are wrong: the log tells it once, the status tells the last. */
static void stream_reader_log_refused(struct stream_reader *reader, const struct examination *of) {
	bool format = of->reason == ROLE_REASON_FORMAT;
	bool *logged = format ? &reader->logged_format : &reader->logged_transform;
	if (of->not_taken[0] == '\0') {
		return;
	}
	strcpy(reader->not_taken, of->not_taken);
	if (!*logged) {
		*logged = true;
		wlr_log(WLR_ERROR, "%s %s: frames of %s%s are not shown, unless %s= has it",
				reader->config.kind, reader->config.name,
				format ? "" : "transform ", of->not_taken,
				format ? "formats" : "transform");
	}
}

/* Checked after the pixels were read: so these were the pixels that the frame names. */
static enum role_reason reason_of_memory(const struct stream_reader *reader,
		const struct gid_slab *slab, const struct gid_frame *frame) {
	struct gid_slab_info info;
	/* The slabs of a machine that was restored to an earlier state do not show it. */
	bool is_lost = reader->work.owed &&
			gid_consumer_holds(reader->consumer, frame, slab, NULL) == -ESTALE;
	if (!is_lost && gid_slab_is_current(slab, frame->gid)) {
		return ROLE_REASON_NONE;
	}
	gid_slab_get_info(slab, &info);
	return info.revoked ? ROLE_REASON_MEMORY : ROLE_REASON_TAKEN_BACK;
}

/*
 * Whether a frame whose device still draws may wait: for a limited time, and only while its lease
 * lasts, after which the memory holds another picture.
 */
static bool stream_reader_fence_may_wait(const struct stream_reader *reader) {
	return gid_slab_is_current(reader->slab, reader->waiting.gid) &&
			gid_clock_now() - reader->fenced_since <= reader->config.undrawn_ns;
}

/* Drops the waiting frame's import and slab; the frame itself stays the caller's. */
static void stream_reader_cancel(struct stream_reader *reader) {
	if (reader->waits == STREAM_READER_IMPORTING) {
		gid_slab_import_cancel(reader->domain, reader);
	}
	gid_slab_unref(reader->slab);
	reader->slab = NULL;
	reader->waits = STREAM_READER_IDLE;
}

static void stream_reader_drop_waiting(struct stream_reader *reader) {
	gid_consumer_release(reader->consumer, &reader->waiting);
	stream_reader_cancel(reader);
}

/*
 * The worker found the frame's device still drawing. The frame waits, as it is closer to being
 * drawn than later ones, unless an import is pending. Takes ownership of the frame and of `slab`.
 */
static void stream_reader_fence(struct stream_reader *reader, const struct gid_frame *frame,
		struct gid_slab *slab) {
	if (reader->waits == STREAM_READER_IMPORTING || reader->waits == STREAM_READER_MISSING) {
		reader->undrawn++;
		gid_consumer_release(reader->consumer, frame);
		gid_slab_unref(slab);
		return;
	}
	if (reader->waits == STREAM_READER_QUEUED) {
		reader->undrawn++;
		stream_reader_drop_waiting(reader);
	}
	uint64_t since = reader->work.fenced_since;
	reader->waits = STREAM_READER_FENCED;
	reader->waiting = *frame;
	reader->fenced_since = since != 0 ? since : gid_clock_now();
	reader->slab = slab;
}

/* Hands the queued frame to the worker, if that is free. */
static void stream_reader_begin(struct stream_reader *reader) {
	if (reader->waits != STREAM_READER_QUEUED) {
		return;
	}
	struct examination work = {.frame = reader->waiting};
	if (reader->slab != NULL) {
		gid_slab_get_info(reader->slab, &work.slab);
		work.slot = gid_slab_view_untouched(reader->slab, gid_slot_of(work.frame.gid));
	}
	examination_get_check(&work, &reader->config.rules, reader->consumer);
	if (worker_start(reader->worker, &work)) {
		reader->work.on = reader->work.owed = true;
		reader->work.is_void = false;
		reader->work.fenced_since = reader->fenced_since;
		reader->work.slab = reader->slab;
		reader->slab = NULL;
		reader->waits = STREAM_READER_IDLE;
	}
}

/* The frame was refused or not kept: releases it, or asks for its memory again. */
static void stream_reader_return(struct stream_reader *reader, const struct gid_frame *frame,
		const struct gid_slab *slab) {
	if (slab == NULL && reader->config.asks_again && !reader->work.is_void &&
			reader->waits == STREAM_READER_IDLE) {
		reader->waits = STREAM_READER_MISSING;
		reader->waiting = *frame;
		reader->asked = gid_clock_now();
		return;
	}
	gid_consumer_release(reader->consumer, frame);
}

/* The worker has a result; `of` NULL: it has become free. */
static void handle_examined(void *data, struct examination *of) {
	struct stream_reader *reader = data;
	struct gid_slab *slab = reader->work.slab;
	if (of == NULL) {
		stream_reader_begin(reader);
		return;
	}
	bool taken = false;
	reader->work.on = false;
	reader->work.slab = NULL;
	if (of->undrawn && !reader->work.is_void) {
		stream_reader_fence(reader, &of->frame, slab);
		return;
	}
	if (of->reason == ROLE_REASON_NONE) {
		of->reason = reason_of_memory(reader, slab, &of->frame);
	}
	if (!reader->work.is_void) {
		stream_reader_log_refused(reader, of);
		if (of->reason == ROLE_REASON_NONE) {
			gid_slab_unref(reader->used);
			reader->used = gid_slab_ref(slab);
		}
		taken = reader->hooks->examined(reader->data, of, slab, gid_clock_now());
	}
	if (reader->work.owed && !taken) {
		stream_reader_return(reader, &of->frame, slab);
	}
	gid_slab_unref(slab);
	samples_add(&reader->spent, of->spent_ns);
	stream_reader_begin(reader);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Takes ownership of the frame and of `slab`; NULL: the memory may not be read. */
static void stream_reader_accept(struct stream_reader *reader, const struct gid_frame *frame,
		struct gid_slab *slab) {
	reader->waiting = *frame;
	reader->fenced_since = 0;
	reader->slab = slab;
	reader->waits = STREAM_READER_QUEUED;
	stream_reader_begin(reader);
}

/*
 * Foreign memory must not stay resident on our account: --realtime locks all mappings. This is
 * fast, as no page was touched yet.
 */
static void unlock_memory(const struct gid_slab *slab) {
	struct gid_slab_info info;
	const void *view = gid_slab_view_untouched(slab, 0);
	gid_slab_get_info(slab, &info);
	if (view != NULL) {
		munlock(view, (size_t)(info.slot_count * info.slot_size));
	}
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct stream_reader *reader = data;
	struct gid_frame frame = reader->waiting;
	if (error == 0) {
		unlock_memory(slab);
	} else if (reader->asked_again) {
		reader->waits = STREAM_READER_MISSING;
		return;
	}
	stream_reader_accept(reader, &frame, error == 0 ? slab : NULL);
}

static void stream_reader_ask_again(struct stream_reader *reader) {
	struct gid_frame frame = reader->waiting;
	struct gid_slab *slab = NULL;
	if (gid_clock_now() - reader->asked < ASK_AGAIN_NS) {
		return;
	}
	reader->asked = gid_clock_now();
	int ret = gid_slab_import_async(reader->domain, frame.gid, handle_imported, reader, &slab);
	if (ret == -EINPROGRESS) {
		reader->waits = STREAM_READER_IMPORTING;
		reader->asked_again = true;
	} else if (ret == 0) {
		stream_reader_accept(reader, &frame, slab);
	}
}

static void stream_reader_recheck_fence(struct stream_reader *reader) {
	if (!stream_reader_fence_may_wait(reader)) {
		reader->undrawn++;
		stream_reader_drop_waiting(reader);
		return;
	}
	reader->waits = STREAM_READER_QUEUED;
	stream_reader_begin(reader);
}

/*
 * Decides between a new frame and the one that waits. True: the new one was kept or released here.
 * False: the old one was dropped, and the new one goes on.
 */
static bool stream_reader_supersede(struct stream_reader *reader, const struct gid_frame *frame) {
	if (reader->waits == STREAM_READER_IMPORTING) {
		/* Keeps the newest frame of the memory that is being imported. */
		const struct gid_frame *old = frame;
		struct gid_frame kept;
		if (gid_slab_key(reader->waiting.gid) == gid_slab_key(frame->gid)) {
			kept = reader->waiting;
			reader->waiting = *frame;
			reader->asked_again = false;
			old = &kept;
		}
		gid_consumer_release(reader->consumer, old);
		return true;
	}
	if (reader->waits == STREAM_READER_FENCED) {
		/* The older frame is closer to being drawn; each tick checks its fence again. */
		reader->undrawn++;
		gid_consumer_release(reader->consumer, frame);
		return true;
	}
	if (reader->waits == STREAM_READER_QUEUED || reader->waits == STREAM_READER_MISSING) {
		stream_reader_drop_waiting(reader);
	}
	return false;
}

/* Takes ownership of the frame. */
static void stream_reader_import(struct stream_reader *reader, const struct gid_frame *frame) {
	if (stream_reader_supersede(reader, frame)) {
		return;
	}
	reader->imports++;
	struct gid_slab *slab = NULL;
	int ret = gid_slab_import_async(reader->domain, frame->gid, handle_imported, reader, &slab);
	if (ret == -EINPROGRESS) {
		reader->waits = STREAM_READER_IMPORTING;
		reader->waiting = *frame;
		reader->asked_again = false;
		return;
	}
	stream_reader_accept(reader, frame, ret == 0 ? slab : NULL);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The stream ended or its surface is hidden: a picture from before must not be shown any more. */
static void stream_reader_mark_absent(struct stream_reader *reader, const struct gid_frame *frame) {
	if (!(frame->flags & (GID_FRAME_EOS | GID_FRAME_HIDDEN))) {
		return;
	}
	if (reader->waits != STREAM_READER_IDLE) {
		stream_reader_drop_waiting(reader);
	}
	reader->work.is_void = true;
	reader->hooks->absent(reader->data, frame, gid_clock_now());
}

/*
 * Goes through entries in their order. Leaves the newest picture in `newest` (GID_NONE: none), and
 * releases those before it.
 */
static void stream_reader_sift(struct stream_reader *reader, const struct gid_frame *frames,
		uint32_t count, struct gid_frame *newest) {
	struct gid_frame old[CREDIT];
	uint32_t olds = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (newest->gid != GID_NONE) {
			old[olds++] = *newest;
		}
		*newest = frames[i];
		if (newest->gid == GID_NONE) {
			stream_reader_mark_absent(reader, newest);
		}
	}
	gid_consumer_release_burst(reader->consumer, old, olds);
}

/* Takes the newest frame of the next entries, at most `most`. */
static void stream_reader_receive(struct stream_reader *reader, uint32_t most) {
	struct gid_frame frames[CREDIT], newest = {.gid = GID_NONE};
	uint32_t left = ENTRIES_MAX - reader->entries;
	int count = 1;
	left = left < most ? left : most;
	while (left > 0 && count > 0) {
		count = gid_consumer_receive_burst(
				reader->consumer, frames, left < CREDIT ? left : CREDIT);
		if (count > 0) {
			reader->entries += (unsigned)count;
			left -= (uint32_t)count;
			stream_reader_sift(reader, frames, (uint32_t)count, &newest);
		}
	}
	/* Otherwise its subscription ended, and the frame with it. */
	bool is_live = gid_consumer_get_state(reader->consumer) == GID_CONSUMER_LIVE;
	if (newest.gid != GID_NONE && is_live) {
		stream_reader_import(reader, &newest);
	}
}

static int handle_readable(int fd, uint32_t mask, void *data) {
	struct stream_reader *reader = data;
	if (reader->imports < IMPORTS_MAX && reader->entries < ENTRIES_MAX &&
			reader->wakes < WAKES_MAX) {
		reader->wakes++;
		/* Reads a part only: a newer frame may come later in the refresh. */
		stream_reader_receive(reader, CREDIT);
	} else {
		wl_event_source_fd_update(reader->source, 0); /* until the next tick */
	}
	return 0;
}

/* --- state of the stream ---------------------------------------------------------------------- */

/* Frames from before are neither released nor shown any more. */
static void stream_reader_disown(struct stream_reader *reader) {
	stream_reader_cancel(reader);
	gid_slab_unref(reader->used);
	reader->used = NULL;
	reader->work.is_void = true;
	reader->work.owed = false;
}

static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct stream_reader *reader = data;
	if (state == GID_CONSUMER_LIVE) {
		struct gid_showable showable[GID_SHOWABLE_MAX];
		gid_consumer_tell_showable(reader->consumer, showable,
				examiner_showable(reader->config.rules.accepted, showable));
		return;
	}
	stream_reader_disown(reader);
	reader->hooks->disconnected(reader->data, reason, gid_clock_now());
}

/* Logged once until it changes: the request is repeated. */
static void handle_answered(void *data, int error) {
	struct stream_reader *reader = data;
	const struct stream_reader_config *config = &reader->config;
	if (error < 0 && error != reader->logged_error) {
		wlr_log(WLR_ERROR, "%s %s: cannot subscribe to %s of domain %s: %s", config->kind,
				config->name, config->stream,
				config->domain != NULL ? config->domain : "(our own)",
				gid_domain_error(reader->domain));
	}
	reader->logged_error = error;
}

static void stream_reader_create(struct stream_reader *reader) {
	const struct stream_reader_config *config = &reader->config;
	struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = CREDIT,
			.drop_old = true,
			.reconnect = true,
			.state = handle_state,
			.data = reader,
			.timeline = config->timeline,
			.answered = handle_answered,
	};
	int ret = gid_consumer_create(reader->domain, config->domain, config->stream, &options,
			&reader->consumer);
	if (ret < 0) {
		handle_answered(reader, ret);
		reader->consumer = NULL;
		reader->refused = gid_clock_now();
		return;
	}
	reader->source = wl_event_loop_add_fd(reader->loop, gid_consumer_get_fd(reader->consumer),
			WL_EVENT_READABLE, handle_readable, reader);
	if (reader->source == NULL) {
		wlr_log(WLR_ERROR, "%s %s: cannot wait for its frames: %s", config->kind,
				config->name, strerror(errno));
		gid_consumer_destroy(reader->consumer);
		reader->consumer = NULL;
		reader->refused = gid_clock_now();
		return;
	}
	reader->refused = 0;
}

static void stream_reader_end(struct stream_reader *reader) {
	stream_reader_disown(reader);
	if (reader->source != NULL) {
		wl_event_source_remove(reader->source);
		reader->source = NULL;
	}
	gid_consumer_destroy(reader->consumer);
	reader->consumer = NULL;
}

int stream_reader_init(struct stream_reader *reader, const struct stream_reader_config *config,
		const struct stream_reader_hooks *hooks, void *data, struct wl_event_loop *loop) {
	*reader = (struct stream_reader){
			.config = *config, .hooks = hooks, .data = data, .loop = loop};
	reader->worker = worker_create(&(struct worker_options){
			.rules = config->rules,
			.width = config->width,
			.height = config->height,
			.loop = loop,
			.examined = handle_examined,
			.data = reader,
	});
	return reader->worker != NULL ? 0 : -ENOMEM;
}

void stream_reader_finish(struct stream_reader *reader) {
	worker_destroy(reader->worker);
}

void stream_reader_start(struct stream_reader *reader, struct gid_domain *domain) {
	reader->domain = domain;
	reader->own_domain = gid_domain_number(domain);
	stream_reader_create(reader);
}

void stream_reader_stop(struct stream_reader *reader) {
	if (reader->consumer != NULL) {
		reader->hooks->disconnected(reader->data, -ENOTCONN, gid_clock_now());
		stream_reader_end(reader);
	}
	reader->domain = NULL;
}

bool stream_reader_reads(const struct stream_reader *reader) {
	return reader->work.on;
}

bool stream_reader_drain(struct stream_reader *reader, uint64_t until) {
	return worker_wait(reader->worker, until);
}

void stream_reader_tick(struct stream_reader *reader) {
	reader->imports = reader->entries = reader->wakes = 0;
	worker_tick(reader->worker);
	if (reader->domain == NULL) {
		return;
	}
	if (reader->consumer != NULL) {
		if (reader->waits == STREAM_READER_FENCED) {
			stream_reader_recheck_fence(reader);
		} else if (reader->waits == STREAM_READER_MISSING) {
			stream_reader_ask_again(reader);
		}
		stream_reader_begin(reader); /* it may have a picture free now */
		wl_event_source_fd_update(reader->source, WL_EVENT_READABLE);
		/*
		 * The doorbell rings only for a consumer that found its ring empty, which may not
		 * be the case.
		 */
		stream_reader_receive(reader, ENTRIES_MAX);
	} else if (gid_clock_now() - reader->refused > RETRY_NS) {
		stream_reader_create(reader);
	}
}
