// SPDX-License-Identifier: MIT
/** Decoding what the other end of a ring wrote: entries, and what a page tells. Pure and total. */
#include "wire_ring.h"

#include <errno.h>
#include <string.h>

#define FRAME_FLAGS_NO_PICTURE (GID_FRAME_EOS | GID_FRAME_FLUSH | GID_FRAME_HIDDEN)
#define FRAME_FLAGS_ALL (GID_WIRE_PICTURE_FLAGS | FRAME_FLAGS_NO_PICTURE)

static inline bool is_box(const uint16_t box[static 4]) {
	const uint32_t max = GID_SIZE_MAX;
	uint64_t all;
	memcpy(&all, box, sizeof(all));
	/* Nearly always the whole picture. */
	return all == 0 ||
			(box[0] <= max && box[1] <= max && box[2] <= max - box[0] &&
					box[3] <= max - box[1]);
}

static inline bool is_picture(gid_id gid) {
	return gid_wire_is_domain(gid_domain_of(gid)) && gid_wire_is_slab(gid_slab_of(gid)) &&
			gid_slot_of(gid) < GID_SLOTS_MAX;
}

/* Of an entry that has other flags than pictures have. */
static bool is_without_picture(gid_id gid, uint32_t flags) {
	uint32_t hidden = flags >> GID_FRAME_HIDDEN_SHIFT;
	uint32_t others = flags - (hidden << GID_FRAME_HIDDEN_SHIFT);
	bool why = hidden == 0 || (hidden <= GID_HIDDEN_LAST && (flags & GID_FRAME_HIDDEN) != 0);
	return (others & ~(uint32_t)FRAME_FLAGS_ALL) == 0 && why && gid == GID_NONE;
}

/* The second line. */
static bool more_is_valid(const struct gid_wire_frame *entry) {
	uint64_t signs = gid_wire_time_sign(~entry->present_time) |
			gid_wire_time_sign(~entry->dts) | gid_wire_time_sign(~entry->duration);
	bool places = entry->metadata <= (entry->gid == GID_NONE ? 0 : GID_SLOTS_MAX);
	return signs <= INT64_MAX && entry->note_size <= GID_NOTE_MAX && places &&
			is_box(entry->crop);
}

static inline uint64_t line_signs(const struct gid_wire_frame *entry) {
	return gid_wire_time_sign(entry->submit_time) | gid_wire_time_sign(entry->capture_time) |
			gid_wire_time_sign(entry->pts);
}

/* What holds for each frame on its way in or out. */
static bool entry_is_valid(const struct gid_wire_frame *entry) {
	bool has_picture = (entry->flags & ~(uint32_t)GID_WIRE_PICTURE_FLAGS) == 0;
	return line_signs(entry) <= INT64_MAX && entry->transform <= GID_WIRE_TRANSFORM_MAX &&
			entry->more <= 1 &&
			(has_picture ? is_picture(entry->gid)
				     : is_without_picture(entry->gid, entry->flags)) &&
			is_box(entry->damage) && (entry->more == 0 || more_is_valid(entry));
}

static struct gid_box get_box(const uint16_t wire[static 4]) {
	return (struct gid_box){.x = wire[0], .y = wire[1], .width = wire[2], .height = wire[3]};
}

static void get_more(struct gid_frame *frame, const struct gid_wire_frame *copy, uint32_t domain) {
	frame->present_time = ~copy->present_time;
	frame->dts = ~copy->dts;
	frame->duration = ~copy->duration;
	frame->offset = ~copy->offset;
	frame->offset_end = ~copy->offset_end;
	frame->content_hash = copy->content_hash;
	frame->crop = get_box(copy->crop);
	frame->media_flags = copy->media_flags;
	frame->note_size = copy->note_size;
	frame->metadata = copy->metadata == 0 ? GID_NONE
					      : gid_make(domain, 1, copy->metadata - 1u, 0);
}

static void get_no_more(struct gid_frame *frame) {
	frame->present_time = frame->dts = frame->duration = GID_TIME_NONE;
	frame->offset = frame->offset_end = GID_OFFSET_NONE;
	frame->content_hash = 0;
	frame->crop = (struct gid_box){0};
	frame->media_flags = frame->note_size = 0;
	frame->metadata = GID_NONE;
}

static void get_line(struct gid_frame *frame, const struct gid_wire_frame *copy) {
	frame->gid = copy->gid;
	frame->sequence = copy->sequence;
	frame->capture_time = copy->capture_time;
	frame->submit_time = copy->submit_time;
	frame->pts = copy->pts;
	frame->flags = copy->flags;
	frame->transform = copy->transform;
	frame->index = copy->index;
	frame->note = NULL;
}

static int get_any(struct gid_frame *frame, const struct gid_wire_frame *copy, uint32_t domain) {
	if (!entry_is_valid(copy) ||
			(copy->gid != GID_NONE && gid_domain_of(copy->gid) != domain)) {
		return -EPROTO;
	}
	get_line(frame, copy);
	frame->damage = get_box(copy->damage);
	if (copy->more != 0) {
		get_more(frame, copy, domain);
	} else {
		get_no_more(frame);
	}
	return 0;
}

int gid_wire_get_frame(struct gid_frame *restrict frame, const struct gid_wire_frame *restrict copy,
		uint32_t domain) {
	struct gid_wire_entry line;
	memcpy(&line, copy, sizeof(line));
	bool plain = gid_wire_is_domain(domain) && gid_wire_get_picture(frame, &line, domain);
	return plain ? 0 : get_any(frame, copy, domain);
}

/* False: its numbers are none that an entry can have. */
static bool put_box(uint16_t wire[static 4], const struct gid_box *box) {
	wire[0] = (uint16_t)box->x;
	wire[1] = (uint16_t)box->y;
	wire[2] = (uint16_t)box->width;
	wire[3] = (uint16_t)box->height;
	return (uint32_t)(box->x | box->y | box->width | box->height) <= UINT16_MAX;
}

/* 0: it is none, or cannot be one. */
static uint16_t put_metadata(gid_id gid) {
	return is_picture(gid) ? (uint16_t)(gid_slot_of(gid) + 1) : 0;
}

static bool put_more(struct gid_wire_frame *wire, const struct gid_frame *frame) {
	wire->present_time = ~frame->present_time;
	wire->dts = ~frame->dts;
	wire->duration = ~frame->duration;
	wire->offset = ~frame->offset;
	wire->offset_end = ~frame->offset_end;
	wire->content_hash = frame->content_hash;
	wire->media_flags = frame->media_flags;
	wire->note_size = (uint16_t)frame->note_size;
	wire->metadata = put_metadata(frame->metadata);
	return put_box(wire->crop, &frame->crop) && frame->note_size <= GID_NOTE_MAX &&
			(frame->metadata == GID_NONE || wire->metadata != 0);
}

static int put_any(struct gid_wire_frame *wire, const struct gid_frame *frame) {
	const struct gid_wire_entry line = gid_wire_make_line(frame);
	memcpy(wire, &line, sizeof(line));
	wire->more = gid_wire_says_more(frame) != 0;
	memset(&wire->present_time, 0, sizeof(struct gid_wire_more));
	bool good = frame->transform <= GID_WIRE_TRANSFORM_MAX &&
			put_box(wire->damage, &frame->damage) &&
			(wire->more == 0 || put_more(wire, frame));
	return good && entry_is_valid(wire) ? 0 : -EINVAL;
}

int gid_wire_put_frame(
		struct gid_wire_frame *restrict wire, const struct gid_frame *restrict frame) {
	return is_picture(frame->gid) && gid_wire_put_picture(wire, frame) ? 0
									   : put_any(wire, frame);
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
			(has_refresh || shown->refresh_ns == 0) &&
			shown->window_ns <= shown->refresh_ns;
}
