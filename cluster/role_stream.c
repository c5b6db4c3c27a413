// SPDX-License-Identifier: MIT
#include "role_stream.h"

#include <errno.h>
#include <string.h>
#include <wlr/util/log.h>

#define CREDIT 4u
/* Frames whose pixels are looked at in one refresh: one that came in time, and one on its heels. */
#define LOOKS_MAX 2u
/* Entries of the ring, of any kind, that are taken in one refresh. */
#define ENTRIES_MAX (2 * CREDIT)
#define RETRY_NS 1000000000ull

/* --- memory ----------------------------------------------------------------------------------- */

/* The memory is there: shows the picture, or has it wait for who draws it still. */
static void role_stream_show(
		struct role_stream *stream, const struct gid_frame *frame, struct gid_slab *slab) {
	if (slab != NULL && !held_frame_is_drawn(slab)) {
		if (stream->waits != ROLE_STREAM_FENCED) {
			stream->fenced_since = gid_clock_now();
		}
		stream->waits = ROLE_STREAM_FENCED;
		stream->waiting = *frame;
		stream->slab = slab;
		return;
	}
	stream->waits = ROLE_STREAM_IDLE;
	role_view_frame(stream->view, stream->consumer, frame, slab, gid_clock_now());
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct role_stream *stream = data;
	struct gid_frame frame = stream->waiting;
	role_stream_show(stream, &frame, error == 0 ? slab : NULL);
}

/*
 * A picture that is not drawn yet is as none. The role's deadline is as long as it may take; and
 * when its lease is over, its memory has another picture.
 */
static bool role_stream_may_wait(const struct role_stream *stream) {
	return gid_slab_is_current(stream->slab, stream->waiting.gid) &&
			gid_clock_now() - stream->fenced_since <=
			stream->view->config->limits.deadline_ns;
}

/* What waits is not waited for any more; its frame stays the consumer's. */
static void role_stream_forget(struct role_stream *stream) {
	if (stream->waits == ROLE_STREAM_IMPORTING) {
		gid_slab_import_cancel(stream->domain, stream);
	}
	gid_slab_unref(stream->slab);
	stream->slab = NULL;
	stream->waits = ROLE_STREAM_IDLE;
}

static void role_stream_look_again(struct role_stream *stream) {
	struct gid_frame frame = stream->waiting;
	if (!role_stream_may_wait(stream)) {
		stream->view->history.undrawn_frames++;
		gid_consumer_release(stream->consumer, &frame);
		role_stream_forget(stream);
		return;
	}
	struct gid_slab *slab = stream->slab;
	stream->slab = NULL;
	role_stream_show(stream, &frame, slab);
}

/* Takes the frame. */
static void role_stream_look(struct role_stream *stream, const struct gid_frame *frame) {
	if (stream->waits == ROLE_STREAM_IMPORTING) {
		/* The newest picture of the memory that we wait for. */
		const struct gid_frame *old = frame;
		struct gid_frame kept;
		if (gid_slab_key(stream->waiting.gid) == gid_slab_key(frame->gid)) {
			kept = stream->waiting;
			stream->waiting = *frame;
			old = &kept;
		}
		gid_consumer_release(stream->consumer, old);
		return;
	}
	if (stream->waits == ROLE_STREAM_FENCED) {
		role_stream_look_again(stream);
	}
	if (stream->waits == ROLE_STREAM_FENCED) {
		/* The older one is nearer to being drawn. */
		stream->view->history.undrawn_frames++;
		gid_consumer_release(stream->consumer, frame);
		return;
	}
	stream->looked++;
	struct gid_slab *slab = NULL;
	int ret = gid_slab_import_async(stream->domain, frame->gid, handle_imported, stream, &slab);
	if (ret == -EINPROGRESS) {
		stream->waits = ROLE_STREAM_IMPORTING;
		stream->waiting = *frame;
		return;
	}
	role_stream_show(stream, frame, ret == 0 ? slab : NULL);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The stream ended or its surface is hidden, and a picture from before that is not shown any more.
 */
static void role_stream_lose(struct role_stream *stream, enum role_reason reason) {
	if (stream->waits != ROLE_STREAM_IDLE) {
		gid_consumer_release(stream->consumer, &stream->waiting);
		role_stream_forget(stream);
	}
	role_lost(&stream->view->role, reason, gid_clock_now());
}

static void role_stream_note(struct role_stream *stream, const struct gid_frame *frame) {
	if (frame->flags & GID_FRAME_EOS) {
		role_stream_lose(stream, ROLE_REASON_ENDED);
	} else if (frame->flags & GID_FRAME_HIDDEN) {
		stream->view->hidden = (enum gid_hidden)(frame->flags >> GID_FRAME_HIDDEN_SHIFT);
		role_stream_lose(stream, ROLE_REASON_HIDDEN);
	}
}

/* Looks at the newest frame, and gives those before it back. */
static void role_stream_receive(struct role_stream *stream) {
	struct gid_frame frame, newest;
	bool some = false;
	int ret = 1;
	for (unsigned i = 0; i < CREDIT && stream->entries < ENTRIES_MAX; i++) {
		ret = gid_consumer_receive(stream->consumer, &frame);
		if (ret != 1) {
			break;
		}
		stream->entries++;
		if (some) {
			gid_consumer_release(stream->consumer, &newest);
		}
		some = frame.gid != GID_NONE;
		if (some) {
			newest = frame;
		} else {
			role_stream_note(stream, &frame);
		}
	}
	if (some && (ret == 1 || ret == -EAGAIN)) {
		role_stream_look(stream, &newest);
	}
}

static int handle_readable(int fd, uint32_t mask, void *data) {
	struct role_stream *stream = data;
	if (stream->looked < LOOKS_MAX && stream->entries < ENTRIES_MAX) {
		role_stream_receive(stream);
	} else {
		wl_event_source_fd_update(stream->source, 0); /* until the next tick */
	}
	return 0;
}

/* --- the stream comes and goes ---------------------------------------------------------------- */

static enum role_reason reason_of(int reason) {
	switch (reason) {
	case 0:
		return ROLE_REASON_ENDED;
	case -EPROTO:
		return ROLE_REASON_PROTOCOL;
	default:
		return ROLE_REASON_DIED;
	}
}

static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct role_stream *stream = data;
	if (state == GID_CONSUMER_LIVE) {
		struct gid_showable showable[GID_SHOWABLE_MAX];
		gid_consumer_tell_showable(
				stream->consumer, showable, held_frame_showable(showable));
		return;
	}
	role_stream_forget(stream);
	role_view_lost(stream->view, reason_of(reason), gid_clock_now());
}

/* Said once, until it changes: gidd is asked again and again. */
static void handle_answered(void *data, int error) {
	struct role_stream *stream = data;
	const struct role_config *role = stream->view->config;
	if (error < 0 && error != stream->told) {
		wlr_log(WLR_ERROR, "role %s: cannot subscribe to %s of domain %s: %s", role->name,
				role->stream, role->domain != NULL ? role->domain : "(our own)",
				gid_domain_error(stream->domain));
	}
	stream->told = error;
}

static void role_stream_create(struct role_stream *stream) {
	const struct role_config *role = stream->view->config;
	struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = CREDIT,
			.drop_old = true,
			.reconnect = true,
			.state = handle_state,
			.data = stream,
			.timeline = stream->view->timeline,
			.answered = handle_answered,
	};
	int ret = gid_consumer_create(
			stream->domain, role->domain, role->stream, &options, &stream->consumer);
	if (ret < 0) {
		handle_answered(stream, ret);
		stream->consumer = NULL;
		stream->refused = gid_clock_now();
		return;
	}
	stream->source = wl_event_loop_add_fd(stream->loop, gid_consumer_get_fd(stream->consumer),
			WL_EVENT_READABLE, handle_readable, stream);
	if (stream->source == NULL) {
		wlr_log(WLR_ERROR, "role %s: cannot wait for its frames: %s", role->name,
				strerror(errno));
		gid_consumer_destroy(stream->consumer);
		stream->consumer = NULL;
		stream->refused = gid_clock_now();
		return;
	}
	stream->refused = 0;
}

static void role_stream_end(struct role_stream *stream) {
	role_stream_forget(stream);
	if (stream->source != NULL) {
		wl_event_source_remove(stream->source);
		stream->source = NULL;
	}
	held_frame_forget_consumer(&stream->view->held);
	gid_consumer_destroy(stream->consumer);
	stream->consumer = NULL;
}

void role_stream_init(
		struct role_stream *stream, struct role_view *view, struct wl_event_loop *loop) {
	*stream = (struct role_stream){.view = view, .loop = loop};
}

void role_stream_start(struct role_stream *stream, struct gid_domain *domain) {
	stream->domain = domain;
	stream->view->domain = gid_domain_number(domain);
	role_stream_create(stream);
}

void role_stream_stop(struct role_stream *stream) {
	if (stream->consumer != NULL) {
		role_stream_end(stream);
		role_view_lost(stream->view, ROLE_REASON_DIED, gid_clock_now());
	}
	stream->domain = NULL;
}

void role_stream_tick(struct role_stream *stream) {
	stream->looked = stream->entries = 0;
	if (stream->domain == NULL) {
		return;
	}
	if (stream->consumer != NULL) {
		if (gid_consumer_get_state(stream->consumer) == GID_CONSUMER_ENDED) {
			role_stream_end(stream); /* it broke the protocol: a later one may not */
			stream->refused = gid_clock_now();
			return;
		}
		if (stream->waits == ROLE_STREAM_FENCED) {
			role_stream_look_again(stream);
		}
		wl_event_source_fd_update(stream->source, WL_EVENT_READABLE);
		/* The doorbell rings only for those who found nothing more, which we may not have.
		 */
		role_stream_receive(stream);
	} else if (gid_clock_now() - stream->refused > RETRY_NS) {
		role_stream_create(stream);
	}
}
