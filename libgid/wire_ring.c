// SPDX-License-Identifier: MIT
/** Decoding what the other end of a ring wrote: entries, and what a page tells. Pure and total. */
#include "wire_ring.h"

#include <errno.h>

#define FRAME_FLAGS_NO_PICTURE (GID_FRAME_EOS | GID_FRAME_FLUSH | GID_FRAME_HIDDEN)
#define FRAME_FLAGS_ALL                                                                            \
	(GID_FRAME_HASH | GID_FRAME_DISCONT | GID_FRAME_CORRUPTED | GID_FRAME_HEARTBEAT |          \
			FRAME_FLAGS_NO_PICTURE | GID_FRAME_INTERLACED |                            \
			GID_FRAME_TOP_FIELD_FIRST | GID_FRAME_REPEAT_FIRST | GID_FRAME_ONE_FIELD | \
			GID_FRAME_COPIED | GID_FRAME_DELTA)
#define FRAME_TRANSFORM_MAX 7u /* WL_OUTPUT_TRANSFORM_FLIPPED_270 */

static bool is_time(uint64_t time) {
	return time <= INT64_MAX || time == GID_TIME_NONE;
}

/* What is negative is very large then. */
static bool is_box(const struct gid_box *box) {
	const uint32_t max = GID_SIZE_MAX;
	uint32_t x = (uint32_t)box->x, y = (uint32_t)box->y;
	return x <= max && y <= max && (uint32_t)box->width <= max - x &&
			(uint32_t)box->height <= max - y;
}

/* What holds for each frame on its way in or out. */
static bool frame_is_valid(const struct gid_frame *frame) {
	uint32_t hidden = frame->flags >> GID_FRAME_HIDDEN_SHIFT;
	if (hidden > GID_HIDDEN_LAST || (hidden != 0 && !(frame->flags & GID_FRAME_HIDDEN))) {
		return false;
	}
	uint32_t flags = frame->flags - (hidden << GID_FRAME_HIDDEN_SHIFT);
	if ((flags & ~(uint32_t)FRAME_FLAGS_ALL) != 0 || frame->transform > FRAME_TRANSFORM_MAX) {
		return false;
	}
	if (frame->reserved != 0 || frame->note_size > GID_NOTE_MAX) {
		return false;
	}
	bool no_picture = (frame->flags & FRAME_FLAGS_NO_PICTURE) != 0;
	if (no_picture != (frame->gid == GID_NONE)) {
		return false;
	}
	if (!no_picture &&
			(!gid_wire_is_domain(gid_domain_of(frame->gid)) ||
					!gid_wire_is_slab(gid_slab_of(frame->gid)) ||
					gid_slot_of(frame->gid) >= GID_SLOTS_MAX)) {
		return false;
	}
	return is_time(frame->capture_time) && is_time(frame->submit_time) &&
			is_time(frame->present_time) && is_time(frame->pts) &&
			is_time(frame->dts) && is_time(frame->duration) && is_box(&frame->damage) &&
			is_box(&frame->crop);
}

static void get_box(struct gid_box *box, const uint16_t wire[4]) {
	*box = (struct gid_box){.x = wire[0], .y = wire[1], .width = wire[2], .height = wire[3]};
}

static void put_box(uint16_t wire[4], const struct gid_box *box) {
	wire[0] = (uint16_t)box->x;
	wire[1] = (uint16_t)box->y;
	wire[2] = (uint16_t)box->width;
	wire[3] = (uint16_t)box->height;
}

int gid_wire_get_frame(
		struct gid_frame *frame, const struct gid_wire_frame *copy, uint32_t domain) {
	struct gid_frame out = {
			.gid = copy->gid,
			.sequence = copy->sequence,
			.capture_time = copy->capture_time,
			.submit_time = copy->submit_time,
			.present_time = copy->present_time,
			.pts = copy->pts,
			.dts = copy->dts,
			.duration = copy->duration,
			.content_hash = copy->content_hash,
			.flags = copy->flags,
			.transform = copy->transform,
			.index = copy->index,
			.offset = ~copy->offset,
			.offset_end = ~copy->offset_end,
			.media_flags = copy->media_flags,
			.note_size = copy->note_size,
	};
	get_box(&out.damage, copy->damage);
	get_box(&out.crop, copy->crop);
	if (!frame_is_valid(&out) || (out.gid != GID_NONE && gid_domain_of(out.gid) != domain)) {
		return -EPROTO;
	}
	*frame = out;
	return 0;
}

int gid_wire_put_frame(struct gid_wire_frame *wire, const struct gid_frame *frame) {
	if (!frame_is_valid(frame)) {
		return -EINVAL;
	}
	*wire = (struct gid_wire_frame){
			.index = frame->index,
			.gid = frame->gid,
			.sequence = frame->sequence,
			.capture_time = frame->capture_time,
			.submit_time = frame->submit_time,
			.present_time = frame->present_time,
			.pts = frame->pts,
			.dts = frame->dts,
			.duration = frame->duration,
			.content_hash = frame->content_hash,
			.flags = frame->flags,
			.transform = frame->transform,
			.offset = ~frame->offset,
			.offset_end = ~frame->offset_end,
			.media_flags = frame->media_flags,
			.note_size = frame->note_size,
	};
	put_box(wire->damage, &frame->damage);
	put_box(wire->crop, &frame->crop);
	return 0;
}

bool gid_wire_showable_is_right(const struct gid_showable *showable) {
	const uint32_t known = GID_SHOWABLE_SHARED | GID_SHOWABLE_DMABUF;
	return gid_format_find(showable->fourcc) != NULL && showable->memory != 0 &&
			(showable->memory & ~known) == 0;
}

#define SHOWN_REFRESH_MIN_NS 1000000u
#define SHOWN_NS 1000000000u /* the longest refresh, and the oldest and the newest time */

bool gid_wire_shown_is_right(const struct gid_shown *shown, uint64_t last_sequence, uint64_t now) {
	uint64_t apart = shown->time > now ? shown->time - now : now - shown->time;
	bool has_refresh =
			shown->refresh_ns >= SHOWN_REFRESH_MIN_NS && shown->refresh_ns <= SHOWN_NS;
	return shown->sequence >= 1 && shown->sequence <= last_sequence && apart <= SHOWN_NS &&
			(has_refresh || shown->refresh_ns == 0);
}
