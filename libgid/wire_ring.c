// SPDX-License-Identifier: MIT
/** Decoding what the other end of a ring wrote: entries, and what a page tells. Pure and total. */
#include "wire_ring.h"

#include <errno.h>
#include <string.h>

#define FRAME_FLAGS_NO_PICTURE (GID_FRAME_EOS | GID_FRAME_FLUSH | GID_FRAME_HIDDEN)
#define FRAME_FLAGS_ALL                                                                            \
	(GID_FRAME_HASH | GID_FRAME_DISCONT | GID_FRAME_CORRUPTED | GID_FRAME_HEARTBEAT |          \
			FRAME_FLAGS_NO_PICTURE | GID_FRAME_INTERLACED |                            \
			GID_FRAME_TOP_FIELD_FIRST | GID_FRAME_REPEAT_FIRST | GID_FRAME_ONE_FIELD | \
			GID_FRAME_COPIED | GID_FRAME_DELTA)
#define FRAME_TRANSFORM_MAX 7u /* WL_OUTPUT_TRANSFORM_FLIPPED_270 */

/*
 * Whether each time is at most 2^63-1 or GID_TIME_NONE. Of all numbers that are negative as signed
 * ones, only that, -1, has a successor which is not. Without branches: this is done for each frame.
 */
static bool are_times(const struct gid_wire_frame *entry) {
	uint64_t wrong = (entry->capture_time & (entry->capture_time + 1)) |
			(entry->submit_time & (entry->submit_time + 1)) |
			(entry->present_time & (entry->present_time + 1)) |
			(entry->pts & (entry->pts + 1)) | (entry->dts & (entry->dts + 1)) |
			(entry->duration & (entry->duration + 1));
	return wrong <= INT64_MAX;
}

static inline bool is_box(const uint16_t box[static 4]) {
	const uint32_t max = GID_SIZE_MAX;
	uint64_t all;
	memcpy(&all, box, sizeof(all));
	/* Nearly always the whole picture. */
	return all == 0 ||
			(box[0] <= max && box[1] <= max && box[2] <= max - box[0] &&
					box[3] <= max - box[1]);
}

static inline bool are_flags(uint32_t flags) {
	uint32_t hidden = flags >> GID_FRAME_HIDDEN_SHIFT;
	uint32_t others = flags - (hidden << GID_FRAME_HIDDEN_SHIFT);
	return (others & ~(uint32_t)FRAME_FLAGS_ALL) == 0 && hidden <= GID_HIDDEN_LAST &&
			(hidden == 0 || (flags & GID_FRAME_HIDDEN) != 0);
}

static inline bool is_gid_for(gid_id gid, uint32_t flags) {
	if ((flags & FRAME_FLAGS_NO_PICTURE) != 0) {
		return gid == GID_NONE;
	}
	return gid_wire_is_domain(gid_domain_of(gid)) && gid_wire_is_slab(gid_slab_of(gid)) &&
			gid_slot_of(gid) < GID_SLOTS_MAX;
}

/* What holds for each frame on its way in or out. */
static bool entry_is_valid(const struct gid_wire_frame *entry) {
	return are_flags(entry->flags) && entry->transform <= FRAME_TRANSFORM_MAX &&
			entry->note_size <= GID_NOTE_MAX && is_gid_for(entry->gid, entry->flags) &&
			are_times(entry) && is_box(entry->damage) && is_box(entry->crop);
}

static inline struct gid_box get_box(const uint16_t wire[static 4]) {
	return (struct gid_box){.x = wire[0], .y = wire[1], .width = wire[2], .height = wire[3]};
}

/* Whether its numbers are such as an entry can have at all. */
static inline bool box_fits(const struct gid_box *box) {
	return (uint32_t)(box->x | box->y | box->width | box->height) <= UINT16_MAX;
}

int gid_wire_get_frame(struct gid_frame *restrict frame, const struct gid_wire_frame *restrict copy,
		uint32_t domain) {
	if (!entry_is_valid(copy) ||
			(copy->gid != GID_NONE && gid_domain_of(copy->gid) != domain)) {
		return -EPROTO;
	}
	*frame = (struct gid_frame){
			.gid = copy->gid,
			.sequence = copy->sequence,
			.capture_time = copy->capture_time,
			.submit_time = copy->submit_time,
			.present_time = copy->present_time,
			.pts = copy->pts,
			.dts = copy->dts,
			.duration = copy->duration,
			.damage = get_box(copy->damage),
			.crop = get_box(copy->crop),
			.content_hash = copy->content_hash,
			.flags = copy->flags,
			.transform = copy->transform,
			.index = copy->index,
			.offset = ~copy->offset,
			.offset_end = ~copy->offset_end,
			.media_flags = copy->media_flags,
			.note_size = copy->note_size,
	};
	return 0;
}

#define PUT_BOX(box)                                                                               \
	{                                                                                          \
			(uint16_t)(box).x,                                                         \
			(uint16_t)(box).y,                                                         \
			(uint16_t)(box).width,                                                     \
			(uint16_t)(box).height,                                                    \
	}

int gid_wire_put_frame(
		struct gid_wire_frame *restrict wire, const struct gid_frame *restrict frame) {
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
			.damage = PUT_BOX(frame->damage),
			.crop = PUT_BOX(frame->crop),
			.offset = ~frame->offset,
			.offset_end = ~frame->offset_end,
			.media_flags = frame->media_flags,
			.note_size = frame->note_size,
	};
	bool good = box_fits(&frame->damage) && box_fits(&frame->crop) && frame->reserved == 0 &&
			entry_is_valid(wire);
	return good ? 0 : -EINVAL;
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
