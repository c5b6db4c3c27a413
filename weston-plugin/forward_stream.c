// SPDX-License-Identifier: MIT
#include "forward_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gid-safety-v1-protocol.h"
#include "libweston_exports.h"
#include "window_parts.h"

#define PUBLISH_AGAIN_MS 1000
#define MEMORY_AGAIN_MS 1000
/* The delay until Weston has read what the client sent. */
#define BEHIND_MS 2
#define MS_NS 1000000ull
/* A consumer shows one frame, examines one, has one on the way, and one is spare. */
#define CREDIT 4

static void forward_hide_now(struct forward *forward, int64_t reason, enum gid_hidden why);

/* --- buffers ---------------------------------------------------------------------------------- */

static void forward_give_back(struct forward *forward) {
	lent_buffers_give_back(&forward->lent, forward->current);
}

static void forward_set_current(struct forward *forward, struct lent_buffer *lent) {
	forward->current = lent;
	forward->awaits_grant = false;
	forward_give_back(forward);
}

/* --- progress of the consumers ---------------------------------------------------------------- */

static void forward_report_lost(struct forward *forward, int64_t reason) {
	if (forward->reason != reason) {
		forward->reason = reason;
		forward->events->lost(forward->data, (uint32_t)reason);
	}
}

/* Whether some consumer left frames unclaimed for as long as the lease. */
static bool forward_is_late(struct forward *forward, uint64_t now) {
	if (gid_producer_unread(forward->producer) == 0) {
		forward->untaken_since = 0;
	} else if (forward->untaken_since == 0) {
		forward->untaken_since = now;
	}
	return forward->untaken_since != 0 &&
			now - forward->untaken_since > (uint64_t)forward->config->lease_ms * MS_NS;
}

/* Why the stream is not published. */
static uint32_t forward_unpublished_reason(const struct forward *forward) {
	if (forward->domain == NULL || !gid_domain_is_connected(forward->domain)) {
		return GID_SAFETY_SURFACE_V1_REASON_NO_DAEMON;
	}
	switch (forward->publish_error) {
	case -EEXIST:
		return GID_SAFETY_SURFACE_V1_REASON_TAKEN;
	case -EPERM:
	case -EDQUOT:
		return GID_SAFETY_SURFACE_V1_REASON_NOT_ALLOWED;
	case -ENOTCONN:
	case -ETIMEDOUT:
		return GID_SAFETY_SURFACE_V1_REASON_NO_DAEMON;
	default:
		return GID_SAFETY_SURFACE_V1_REASON_WAITING; /* for the daemon's answer */
	}
}

/* Checks how far the consumers are, and sends an event if that changed. */
static void forward_report(struct forward *forward) {
	uint64_t now = gid_clock_now();
	if (!forward->published) {
		forward_report_lost(forward, forward_unpublished_reason(forward));
	} else if (gid_producer_consumers(forward->producer) == 0) {
		forward_report_lost(forward,
				forward->had_consumer ? GID_SAFETY_SURFACE_V1_REASON_GONE
						      : GID_SAFETY_SURFACE_V1_REASON_WAITING);
	} else if (forward_is_late(forward, now)) {
		forward_report_lost(forward, GID_SAFETY_SURFACE_V1_REASON_LATE);
	} else if (forward->untaken_since == 0 && forward->sent > forward->reported) {
		forward->reported = forward->sent;
		forward->reason = -1;
		forward->events->shown(forward->data, forward->reported, now);
	}
}

/* --- frames ----------------------------------------------------------------------------------- */

static int forward_send_frame(struct forward *forward, struct gid_frame *frame) {
	int count = gid_producer_send(forward->producer, frame);
	wl_event_source_timer_update(forward->timer, forward->config->heartbeat_ms);
	return count;
}

static void handle_redo(void *data) {
	struct forward *forward = data;
	forward->redo = NULL;
	forward->events->again(forward->data);
}

/* Has the content examined again, before the event loop next waits. */
static void forward_redo(struct forward *forward) {
	forward_outdate(forward);
	if (forward->redo == NULL) {
		forward->redo = wl_event_loop_add_idle(forward->loop, handle_redo, forward);
	}
}

static void handle_settled(void *data) {
	forward_redo(data);
}

/* Whether it is a client's own dma-buf, which we exported. */
static bool lent_is_dmabuf(const struct lent_buffer *lent) {
	struct gid_slab_info info;
	gid_slab_get_info(lent->slab, &info);
	return info.memory == GID_MEMORY_DMABUF && !info.imported;
}

/* Whether it was reclaimed by force from a consumer: it then needs another gid. */
static bool lent_is_revoked(const struct lent_buffer *lent) {
	struct gid_slab_info info;
	gid_slab_get_info(lent->slab, &info);
	return info.revoked;
}

/* `note` must stay valid until the frame is sent. */
static void forward_put_note(
		struct forward *forward, struct gid_frame *frame, uint8_t note[GID_NOTE_MAX]) {
	frame->note = note;
	frame->note_size = forward->events->note(forward->data, note);
}

static void forward_send(struct forward *forward, uint32_t flags) {
	struct gid_frame frame = forward->frame;
	const struct lent_buffer *lent = forward->current;
	/* After a reclaim from a machine that is gone, our slot has a new generation. */
	frame.gid = lent->is_copy ? gid_slab_gid(lent->slab, gid_slot_of(lent->gid)) : lent->gid;
	frame.flags |= flags;
	uint8_t note[GID_NOTE_MAX];
	forward_put_note(forward, &frame, note);
	int count = forward_send_frame(forward, &frame);
	forward->awaits_grant = count == -EINPROGRESS;
	if (count == -EINVAL && lent_is_dmabuf(lent) && lent_is_revoked(lent)) {
		forward_redo(forward);
	} else if (count == -EINVAL) {
		forward_hide_now(forward, GID_SAFETY_SURFACE_V1_REASON_REFUSED_MEMORY,
				lent->is_copy ? GID_HIDDEN_MEMORY : GID_HIDDEN_GONE);
	} else if (count > 0) {
		forward->sent = frame.sequence;
	}
}

void forward_show(struct forward *forward, const struct forward_picture *picture) {
	if (!forward->published) {
		return;
	}
	forward_report(forward);
	struct lent_buffer *lent = lent_buffers_add(&forward->lent, picture);
	if (lent == NULL) {
		forward_hide_now(forward, GID_SAFETY_SURFACE_V1_REASON_REFUSED_MEMORY,
				GID_HIDDEN_MEMORY);
		return;
	}
	forward->frame = (struct gid_frame)GID_FRAME_INIT;
	forward->frame.capture_time = picture->commit_time;
	forward->frame.damage = picture->damage;
	forward->frame.crop = picture->crop;
	forward->frame.transform = picture->transform;
	forward->seen = picture->seen;
	forward->frame.content_hash = picture->content_hash;
	forward->frame.flags = (forward->config->hash ? GID_FRAME_HASH : 0) | picture->flags;
	forward->hidden = false;
	forward->current = lent;
	forward->outdated = false;
	forward_send(forward, 0);
	forward_give_back(forward);
}

void forward_outdate(struct forward *forward) {
	forward->outdated = true;
}

static void forward_send_hidden(struct forward *forward) {
	struct gid_frame frame = GID_FRAME_INIT;
	uint8_t note[GID_NOTE_MAX];
	frame.flags = GID_FRAME_HIDDEN | (uint32_t)forward->why << GID_FRAME_HIDDEN_SHIFT;
	forward_put_note(forward, &frame, note);
	forward_send_frame(forward, &frame);
}

/* Unlike forward_hide(), keeps waiting for dma-bufs whose fences did not signal yet. */
static void forward_hide_now(struct forward *forward, int64_t reason, enum gid_hidden why) {
	forward->outdated = false;
	if (reason >= 0) {
		forward_report_lost(forward, reason);
	}
	forward_set_current(forward, NULL);
	if (forward->published && (!forward->hidden || forward->why != why)) {
		forward->hidden = true;
		forward->why = why;
		forward_send_hidden(forward);
	}
}

void forward_hide(struct forward *forward, int64_t reason, enum gid_hidden why) {
	drawn_wait_drop(&forward->wait);
	forward_hide_now(forward, reason, why);
}

void forward_repeat(struct forward *forward) {
	if (forward->published && forward->current != NULL) {
		forward_send(forward, 0);
	} else if (forward->published && forward->hidden) {
		forward_send_hidden(forward);
	}
}

/* The reason that the client gets. */
static uint32_t reason_of(enum gid_hidden hidden) {
	switch (hidden) {
	case GID_HIDDEN_SIZE:
	case GID_HIDDEN_CROP:
	case GID_HIDDEN_SUBSURFACE:
		return GID_SAFETY_SURFACE_V1_REASON_REFUSED_CONTENT;
	default:
		return GID_SAFETY_SURFACE_V1_REASON_REFUSED_MEMORY;
	}
}

void forward_refuse(struct forward *forward, const struct refusal *refusal) {
	if (!forward->hidden || forward->why != refusal->hidden) {
		forward_log(forward, "gid: %s: the surface cannot be forwarded: %s\n",
				forward->config->label, refusal->text);
	}
	forward_hide_now(forward, reason_of(refusal->hidden), refusal->hidden);
	if (refusal->hidden == GID_HIDDEN_MEMORY) {
		wl_event_source_timer_update(forward->timer, MEMORY_AGAIN_MS);
	}
}

void forward_end(struct forward *forward) {
	forward_hide(forward, -1, GID_HIDDEN_EMPTY);
	dmabuf_exports_forget(&forward->dmabufs);
}

void forward_begin(struct forward *forward) {
	forward->reported = forward->sent;
	forward->reason = -1;
	forward_report(forward);
}

/* --- the stream ------------------------------------------------------------------------------- */

static void handle_released(void *data, gid_id gid) {
	forward_give_back(data);
}

/*
 * Whether consumers hold buffers of the client that are not shown any more: it may run out of them.
 */
static bool forward_lacks_buffers(const struct forward *forward) {
	const struct lent_buffer *lent;
	wl_list_for_each(lent, &forward->lent, link) {
		if (lent != forward->current && !lent->is_copy) {
			return true;
		}
	}
	return false;
}

/* A repeated frame says that the content is still current. */
static bool forward_may_repeat(struct forward *forward) {
	return !forward->outdated && forward->events->is_alive(forward->data);
}

/* Waits a little first, if unread requests of the client may change the content. */
static void forward_send_again(struct forward *forward, uint32_t flags) {
	if (forward->events->is_behind(forward->data)) {
		wl_event_source_timer_update(forward->timer, BEHIND_MS);
	} else {
		forward_send(forward, flags);
	}
}

static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	struct forward *forward = data;
	if (joined) {
		forward->had_consumer = true;
		if (forward->current != NULL && lent_is_dmabuf(forward->current) &&
				gid_producer_needs_window(forward->producer)) {
			forward_redo(forward);
		} else if (forward->current != NULL && forward_may_repeat(forward)) {
			forward_send_again(forward, 0);
		} else if (forward->hidden && forward->why != GID_HIDDEN_UNSAID) {
			forward_send_hidden(forward);
		} else if (forward->hidden) {
			forward_redo(forward); /* the content was not examined yet */
		}
	} else if (forward->current != NULL) {
		forward_report(forward);
	}
}

static void handle_granted(void *data, gid_id gid, int error) {
	struct forward *forward = data;
	if (!forward->awaits_grant || forward->current == NULL) {
		return;
	}
	forward->awaits_grant = false;
	if (error == -ENOTCONN || error == -ETIMEDOUT) {
		return; /* the timer tries again */
	}
	if (error != 0) {
		forward_log(forward, "gid: %s: gidd refuses to lend the buffer: %s\n",
				forward->config->label, gid_strerror(error));
	}
	if (error == 0 || gid_producer_consumers(forward->producer) > 0) {
		forward_send(forward, 0);
	} else {
		forward_hide_now(forward, GID_SAFETY_SURFACE_V1_REASON_REFUSED_MEMORY,
				GID_HIDDEN_MEMORY);
	}
}

static void forward_end_stream(struct forward *forward) {
	if (forward->source != NULL) {
		wl_event_source_remove(forward->source);
		forward->source = NULL;
	}
	forward->published = false;
	gid_producer_destroy(forward->producer);
	forward->producer = NULL;
}

static void handle_published(void *data, int error) {
	struct forward *forward = data;
	if (error != 0 && error != forward->publish_error) {
		weston_log("gid: stream %s cannot be published: %s\n", forward->config->stream,
				gid_domain_error(forward->domain));
	}
	forward->publish_error = error;
	if (error != 0) {
		forward_end_stream(forward);
		forward_report(forward);
		wl_event_source_timer_update(forward->timer, PUBLISH_AGAIN_MS);
		return;
	}
	forward->published = true;
	forward->hidden = true;
	forward->why = GID_HIDDEN_UNSAID;
	if (forward->reason >= 0) {
		forward_report(forward); /* the reason that was sent is out of date */
	}
	forward->events->ready(forward->data);
}

static int handle_readable(int fd, uint32_t mask, void *data) {
	struct forward *forward = data;
	gid_producer_dispatch(forward->producer);
	if (forward->current != NULL) {
		forward_report(forward);
	}
	return 0;
}

static void forward_publish(struct forward *forward) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.lease_ns = (uint64_t)forward->config->lease_ms * MS_NS,
			.credit_max = CREDIT,
			.released = handle_released,
			.subscriber = handle_subscriber,
			.published = handle_published,
			.granted = handle_granted,
			.data = forward,
	};
	int error = gid_producer_create(
			forward->domain, forward->copies.stream, &options, &forward->producer);
	if (error == 0 && forward->config->protection != NULL) {
		gid_protection_protect(forward->config->protection, forward->producer);
	}
	if (error == 0) {
		forward->source = wl_event_loop_add_fd(forward->loop,
				gid_producer_get_fd(forward->producer), WL_EVENT_READABLE,
				handle_readable, forward);
	}
	if (error != 0 || forward->source == NULL) {
		forward->producer = error == 0 ? forward->producer : NULL;
		forward_end_stream(forward);
		wl_event_source_timer_update(forward->timer, PUBLISH_AGAIN_MS);
	}
}

static int handle_timer(void *data) {
	struct forward *forward = data;
	if (forward->producer == NULL) {
		if (forward->domain != NULL) {
			forward_publish(forward);
		}
	} else if (forward->current != NULL) {
		/*
		 * The release of a buffer with two roles reaches only the stream that sent it last.
		 */
		forward_give_back(forward);
		forward_report(forward);
		if (forward_lacks_buffers(forward)) {
			gid_producer_lacks_memory(forward->producer);
		}
		if (forward_may_repeat(forward)) {
			forward_send_again(forward, GID_FRAME_HEARTBEAT);
		} else {
			wl_event_source_timer_update(forward->timer, forward->config->heartbeat_ms);
		}
	} else if (forward_is_hidden(forward, GID_HIDDEN_MEMORY)) {
		forward_redo(forward); /* there may be memory now */
	}
	return 0;
}

/* --- create and destroy ----------------------------------------------------------------------- */

int forward_create(const struct safety_config *config, struct wl_event_loop *loop,
		const struct forward_events *events, void *data, struct forward **created) {
	struct forward *forward = calloc(1, sizeof(*forward));
	if (forward == NULL) {
		return -ENOMEM;
	}
	*forward = (struct forward){.config = config,
			.loop = loop,
			.events = events,
			.data = data,
			.reason = -1,
			.wait = {.loop = loop, .patience_ns = (uint64_t)config->lease_ms * MS_NS}};
	forward->timer = wl_event_loop_add_timer(loop, handle_timer, forward);
	if (forward->timer == NULL) {
		free(forward);
		return -ENOMEM;
	}
	memcpy(forward->copies.stream, config->stream, sizeof(forward->copies.stream));
	forward->copies.settled = handle_settled;
	forward->copies.data = forward;
	wl_list_init(&forward->lent);
	dmabuf_exports_init(&forward->dmabufs, handle_settled, forward);
	*created = forward;
	return 0;
}

void forward_set_domain(struct forward *forward, struct gid_domain *domain) {
	if (domain == forward->domain) {
		return;
	}
	drawn_wait_drop(&forward->wait);
	forward_end_stream(forward);
	forward->current = NULL;
	lent_buffers_end(&forward->lent);
	pixel_copies_finish(&forward->copies);
	dmabuf_exports_finish(&forward->dmabufs);
	forward->domain = domain;
	if (domain != NULL) {
		forward_publish(forward);
	}
}

void forward_destroy(struct forward *forward) {
	if (forward == NULL) {
		return;
	}
	forward_set_domain(forward, NULL);
	if (forward->redo != NULL) {
		wl_event_source_remove(forward->redo);
	}
	wl_event_source_remove(forward->timer);
	free(forward);
}

struct weston_log_pacer *forward_get_log_pacer(struct forward *forward) {
	return &forward->log_pacer;
}

bool forward_is_ready(const struct forward *forward) {
	return forward->published;
}

bool forward_may_copy(const struct forward *forward, uint32_t width, uint32_t height,
		struct refusal *refusal) {
	uint64_t max = forward->config->pixels_max;
	if (max == 0 || (uint64_t)width * height <= max) {
		return true;
	}
	*refusal = (struct refusal){GID_HIDDEN_SIZE, "it is too large to be copied"};
	return false;
}

bool forward_is_read(const struct forward *forward) {
	return forward->published && gid_producer_consumers(forward->producer) > 0;
}

struct gid_box forward_get_seen(const struct forward *forward, struct weston_surface *surface) {
	return forward->current != NULL ? forward->seen : window_frame(surface);
}

bool forward_is_refused(const struct forward *forward) {
	return forward->published && forward->hidden && forward->why != GID_HIDDEN_EMPTY &&
			forward->why != GID_HIDDEN_UNSAID;
}

bool forward_is_hidden(const struct forward *forward, enum gid_hidden why) {
	return forward->published && forward->hidden && forward->why == why;
}
