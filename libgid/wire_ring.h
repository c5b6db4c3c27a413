// SPDX-License-Identifier: MIT
/**
 * The shared memory of one subscription, little-endian, each struct pinned. ring.h says who does
 * what with it; docs/wire-ring.md is its published form.
 */
#ifndef GID_WIRE_RING_H
#define GID_WIRE_RING_H

#include <gid/stream.h>
#include <stddef.h>
#include <string.h>

#ifndef GID_RING_ENTRIES     /* tests/models has fewer */
#define GID_RING_ENTRIES 64u /* the most that a ring has; > GID_CREDIT_MAX, a power of two */
#endif
#define GID_RING_ENTRIES_MIN 16u
/*
 * Releases that there is room for, for each entry. More than a consumer can put in while its
 * producer does not look: for each entry one release of a frame whose lease ran out, one of the
 * frame after it, and one of a frame sent meanwhile.
 */
#define GID_RING_RELEASES_EACH 4u
#define GID_RING_RELEASES (GID_RING_RELEASES_EACH * GID_RING_ENTRIES)
#define GID_RING_MAGIC 0x32676e6972646967ull /* "gidring2" */

/*
 * An entry: two cache lines, of which the second one is only sent where it says something. All of
 * it is the producer's.
 */
struct gid_wire_frame {
	uint64_t index; /* its place in the stream of this subscription, from 0 */
	uint64_t gid;
	uint64_t sequence;
	uint64_t submit_time, capture_time;
	uint64_t pts;
	uint32_t flags;
	uint16_t transform;
	uint16_t more; /* 1: the second line counts; 0: it says nothing, and is not looked at */
	/* x, y, width, height; pixels fit in 16 bits: GID_SIZE_MAX */
	uint16_t damage[4];
	/* The second line: times and offsets are inverted, so that 0 is none. */
	uint64_t present_time, dts, duration;
	uint64_t offset, offset_end;
	uint64_t content_hash;
	uint16_t crop[4];
	uint32_t media_flags;
	uint16_t note_size;
	uint16_t metadata; /* where its metadata lies: a slot of the ring's slab, from 1; 0: none */
};

/* The first line of an entry, as it lies in a ring: whole words. */
struct gid_wire_entry {
	uint64_t index, gid, sequence;
	uint64_t submit_time, capture_time;
	uint64_t pts;
	uint64_t kind; /* flags, transform and more, from the lowest bit on */
	uint64_t damage;
};

#define GID_WIRE_MORE_SHIFT 48 /* in `kind` */

/* And the second one. */
struct gid_wire_more {
	uint64_t words[8];
};

/* What belongs to the entry at the same place, as many bytes as that says. */
struct gid_wire_note {
	uint64_t words[GID_NOTE_MAX / 8];
};

/* What protects the entry at the same place: it is carried, and not looked at. */
struct gid_wire_check {
	uint64_t index; /* of that entry, plus 1; any other: it has none */
	uint64_t kind;	/* what made it: struct gid_check */
	uint64_t words[GID_CHECK_SIZE / 8];
};

/* What lies in a slot of the slab for metadata. */
struct gid_wire_metadata {
	uint32_t size; /* of the bytes */
	uint32_t reserved;
	uint8_t bytes[];
};

#define GID_METADATA_PLACES 64u

/*
 * The producer's ring: written by it, read-only for the consumer. What changes with each frame has
 * cache lines apart from what the other side looks at with each frame.
 */
struct gid_wire_ring {
	uint64_t magic;
	uint32_t entries;  /* places that are used, a power of two: what credit needs, and more */
	uint32_t closed;   /* 1: ended in good order */
	uint64_t asleep;   /* odd: wants a doorbell for releases; changes with every sleep */
	uint64_t credit;   /* pictures that the consumer may have at once; 0: not told */
	uint64_t lease_ns; /* how long it has them after another was sent; 0: not told */
	uint64_t taken;	   /* bit p: the entry at place p was taken by force */
	uint64_t patient;  /* not 0: waits for credit, rather than that frames are missed */
	uint64_t checked;  /* not 0: entries can have checks */
	uint64_t tail;	   /* entries ever put in, or left out because their place was still held */
	uint64_t floor;	   /* entries below it that were not claimed are taken back */
	uint64_t reserved1[6];
	/* for people: gidctl reads them */
	uint64_t frames, dropped, copied_frames, copied_bytes, leases_expired, held;
	uint64_t wants_shown; /* not 0: the consumer is to tell what its display shows */
	uint64_t metadata;    /* slot 0 of the slab that frames' metadata lies in; 0: none */
	struct gid_wire_entry frames_ring[GID_RING_ENTRIES];
	struct gid_wire_more more_ring[GID_RING_ENTRIES];
	struct gid_wire_note notes[GID_RING_ENTRIES];
	/* for people, as above: of copied_frames, by enum gid_copy_reason */
	uint64_t copy_reasons[GID_COPY_REASONS_MAX];
	struct gid_wire_check checks[GID_RING_ENTRIES];
};

enum gid_wire_wake {
	GID_WIRE_BY_DOORBELL = 0,
	GID_WIRE_FUTEX = 1, /* on the lower half of the ring's tail; both are in one kernel */
};

/* The consumer's page: written by it, read-only for the producer. */
struct gid_wire_page {
	uint64_t magic;
	uint64_t asleep;  /* odd: wants to be woken for frames; changes with every sleep */
	uint64_t wake;	  /* how: enum gid_wire_wake; others are as the doorbell */
	uint64_t renewed; /* changes when the consumer says that it uses what it holds */
	uint64_t reserved0[4];
	uint64_t head; /* entries below it are claimed */
	uint64_t reserved1[7];
	uint64_t release_tail; /* releases ever put in */
	uint64_t reserved2[7];
	/*
	 * For people: frames received, the sum of submit -> receive in ns, and how often it was
	 * less than 2^n us (and not less than 2^(n-1)) for each bucket n; the last takes all the
	 * rest.
	 */
	uint64_t received, latency_sum_ns, latency_buckets[24];
	/*
	 * The frame that the consumer's display showed last; they change together: `shown_count` is
	 * odd meanwhile, and 0 as long as nothing is told. Times are of the producer's clock.
	 */
	uint64_t shown_count, shown_sequence, shown_time, shown_refresh_ns, shown_window_ns,
			reserved3;
	uint64_t releases[GID_RING_RELEASES]; /* indices of entries given back */
	/*
	 * Which formats the consumer can show, those that it likes best first: `showable_count` is
	 * odd while they change, and 0 as long as nothing is told.
	 */
	uint64_t showable_count, showable_number;
	struct gid_wire_showable {
		uint64_t format; /* in its lower half the fourcc, in the upper one the memory */
		uint64_t modifier;
	} showable[GID_SHOWABLE_MAX];
	/* for people: frames that the consumer itself had to copy, and why */
	uint64_t copied_frames, copied_bytes, copy_reasons[GID_COPY_REASONS_MAX];
};

_Static_assert(sizeof(struct gid_wire_frame) == 128, "wire");
_Static_assert(sizeof(struct gid_wire_entry) == 64, "wire");
_Static_assert(offsetof(struct gid_wire_frame, index) == 0, "wire");
_Static_assert(offsetof(struct gid_wire_frame, gid) == 8, "wire");
_Static_assert(offsetof(struct gid_wire_frame, present_time) == 64, "wire");
_Static_assert(offsetof(struct gid_wire_frame, gid) + GID_DESCRIPTOR_SIZE ==
				sizeof(struct gid_wire_frame),
		"wire");
_Static_assert(sizeof(struct gid_wire_ring) ==
				192 + (128 + 256 + 32) * GID_RING_ENTRIES +
						8 * GID_COPY_REASONS_MAX,
		"wire");
_Static_assert(sizeof(struct gid_wire_ring) <= 28672, "memory of older producers has as much");
_Static_assert(sizeof(struct gid_wire_page) ==
				448 + 8 * GID_RING_RELEASES + 16 + 16 * GID_SHOWABLE_MAX + 16 +
						8 * GID_COPY_REASONS_MAX,
		"wire");
_Static_assert(sizeof(struct gid_wire_page) <= 4096, "memory of older consumers has as much");

/* Whether a ring can have so many. */
static inline bool gid_wire_are_entries(uint32_t entries) {
	return entries >= 1 && entries <= GID_RING_ENTRIES && (entries & (entries - 1)) == 0;
}

static inline bool gid_wire_is_domain(uint32_t domain) {
	return domain >= 1 && domain <= GID_DOMAIN_MAX;
}

static inline bool gid_wire_is_slab(uint32_t slab) {
	return slab >= 1 && slab <= GID_SLAB_MAX;
}

/*
 * A ring entry, copied out of shared memory first. `domain` is who the producer is. Times are at
 * most 2^63-1 or GID_TIME_NONE; a frame has a gid or one of the flags EOS, FLUSH, HIDDEN, never
 * both. -EPROTO for an entry, -EINVAL for a frame that cannot be one. A note is not part of it, nor
 * is the slab that metadata lies in, which the ring says: only the slot of `metadata` is.
 */
int gid_wire_get_frame(struct gid_frame *restrict frame, const struct gid_wire_frame *restrict copy,
		uint32_t domain);
int gid_wire_put_frame(
		struct gid_wire_frame *restrict wire, const struct gid_frame *restrict frame);

/*
 * The same for what nearly every frame is: a whole picture, of which the first line says all.
 * False: it is another one, or none, which the functions above tell; what was got may be anything
 * then. `domain` is one, and the gid of a frame that is put is that of a slot. Inline, for a call
 * and a copy cost as much.
 */
static inline bool gid_wire_get_picture(struct gid_frame *restrict frame,
		const struct gid_wire_entry *restrict line, uint32_t domain);
static inline bool gid_wire_put_picture(
		struct gid_wire_frame *restrict wire, const struct gid_frame *restrict frame);

/* For who reads it where it lies, and has its index: `first` is gid_wire_first_gid(). */
static inline bool gid_wire_read_picture(struct gid_frame *restrict frame,
		const struct gid_wire_entry *restrict line, gid_id first);
static inline gid_id gid_wire_first_gid(uint32_t domain);

/*
 * For who writes that line by itself: whether a frame is such a picture, if its `submit_time` is a
 * time, which is not looked at; and its line.
 */
static inline bool gid_wire_is_plain(const struct gid_frame *frame);
static inline struct gid_wire_entry gid_wire_make_line(const struct gid_frame *frame);

/*
 * What a page says of frames that were shown: of what was sent, up to `last_sequence`, less than a
 * second ago, and of a display with refreshes of 1 ms to 1 s or none, and a window no longer than
 * that. Else it is as if nothing was said.
 */
bool gid_wire_shown_is_right(const struct gid_shown *shown, uint64_t last_sequence, uint64_t now);

/* Whether a format that a page names is one that libgid knows, in a kind of memory that there is.
 */
bool gid_wire_showable_is_right(const struct gid_showable *showable);

/* --- each frame ------------------------------------------------------------------------------- */

#define GID_WIRE_PICTURE_FLAGS                                                                     \
	(GID_FRAME_HASH | GID_FRAME_DISCONT | GID_FRAME_CORRUPTED | GID_FRAME_HEARTBEAT |          \
			GID_FRAME_INTERLACED | GID_FRAME_TOP_FIELD_FIRST |                         \
			GID_FRAME_REPEAT_FIRST | GID_FRAME_ONE_FIELD | GID_FRAME_COPIED |          \
			GID_FRAME_DELTA)
#define GID_WIRE_TRANSFORM_MAX 7u /* WL_OUTPUT_TRANSFORM_FLIPPED_270 */
#define GID_WIRE_PICTURE_KINDS (GID_WIRE_PICTURE_FLAGS | (uint64_t)GID_WIRE_TRANSFORM_MAX << 32)

/*
 * Whether a time is at most 2^63-1 or GID_TIME_NONE: then this is at most 2^63-1. Of all numbers
 * that are negative as signed ones, only that, -1, has a successor which is not.
 */
static inline uint64_t gid_wire_time_sign(uint64_t time) {
	return time & (time + 1);
}

/*
 * Word by word, each looked at once: it may be in shared memory. Field by field: to clear it all
 * before takes longer than all of this. What it is told by is looked at last, so that no word waits
 * for another one in a register.
 */
static inline __attribute__((always_inline)) bool gid_wire_read_picture(
		struct gid_frame *restrict frame, const struct gid_wire_entry *restrict line,
		gid_id first) {
	const uint64_t no_slot = (uint64_t)(0x10000 - GID_SLOTS_MAX) << 16;
	const uint64_t gid = __atomic_load_n(&line->gid, __ATOMIC_ACQUIRE);
	frame->gid = gid;
	frame->sequence = __atomic_load_n(&line->sequence, __ATOMIC_ACQUIRE);
	const uint64_t submit_time = __atomic_load_n(&line->submit_time, __ATOMIC_ACQUIRE);
	frame->submit_time = submit_time;
	uint64_t signs = gid_wire_time_sign(submit_time);
	const uint64_t capture_time = __atomic_load_n(&line->capture_time, __ATOMIC_ACQUIRE);
	frame->capture_time = capture_time;
	signs |= gid_wire_time_sign(capture_time);
	const uint64_t pts = __atomic_load_n(&line->pts, __ATOMIC_ACQUIRE);
	frame->pts = pts;
	signs |= gid_wire_time_sign(pts);
	const uint64_t kind = __atomic_load_n(&line->kind, __ATOMIC_ACQUIRE);
	memcpy(&frame->flags, &kind, sizeof(kind));
	const uint64_t others = (kind & ~GID_WIRE_PICTURE_KINDS) | (gid & no_slot) |
			__atomic_load_n(&line->damage, __ATOMIC_ACQUIRE);
	frame->present_time = GID_TIME_NONE;
	memset(&frame->dts, 0xff, sizeof(frame->dts) + sizeof(frame->duration));
	frame->damage = frame->crop = (struct gid_box){0};
	frame->content_hash = 0;
	frame->offset = frame->offset_end = GID_OFFSET_NONE;
	frame->media_flags = frame->note_size = 0;
	frame->note = NULL;
	frame->metadata = GID_NONE;
	return others == 0 && signs <= INT64_MAX && gid - first < (uint64_t)GID_SLAB_MAX << 32;
}

/* Of slab 1, slot 0, generation 0. */
static inline gid_id gid_wire_first_gid(uint32_t domain) {
	return (gid_id)domain << 56 | UINT64_C(1) << 32;
}

static inline bool gid_wire_get_picture(struct gid_frame *restrict frame,
		const struct gid_wire_entry *restrict line, uint32_t domain) {
	frame->index = line->index;
	return gid_wire_read_picture(frame, line, gid_wire_first_gid(domain));
}

static inline uint64_t gid_wire_box_bits(const struct gid_box *box) {
	uint64_t place, size;
	memcpy(&place, &box->x, sizeof(place));
	memcpy(&size, &box->width, sizeof(size));
	return place | size;
}

/* Two numbers of a frame that lie side by side, by one look. */
static inline uint64_t gid_wire_pair_bits(const uint32_t *first) {
	uint64_t both;
	memcpy(&both, first, sizeof(both));
	return both;
}

_Static_assert(offsetof(struct gid_frame, note_size) == offsetof(struct gid_frame, media_flags) + 4,
		"looked at as a pair");
_Static_assert(offsetof(struct gid_frame, transform) == offsetof(struct gid_frame, flags) + 4,
		"looked at as a pair");

/* Not 0: the frame has something for the second line. */
static inline uint64_t gid_wire_says_more(const struct gid_frame *frame) {
	uint64_t times = frame->present_time & frame->dts & frame->duration & frame->offset &
			frame->offset_end;
	return ~times | frame->content_hash | gid_wire_pair_bits(&frame->media_flags) |
			frame->metadata | gid_wire_box_bits(&frame->crop);
}

static inline bool gid_wire_is_plain(const struct gid_frame *frame) {
	uint64_t others = gid_wire_says_more(frame) | gid_wire_box_bits(&frame->damage) |
			(gid_wire_pair_bits(&frame->flags) & ~GID_WIRE_PICTURE_KINDS);
	uint64_t signs = gid_wire_time_sign(frame->capture_time) | gid_wire_time_sign(frame->pts);
	return others == 0 && signs <= INT64_MAX;
}

static inline struct gid_wire_entry gid_wire_make_line(const struct gid_frame *frame) {
	return (struct gid_wire_entry){
			.index = frame->index,
			.gid = frame->gid,
			.sequence = frame->sequence,
			.submit_time = frame->submit_time,
			.capture_time = frame->capture_time,
			.pts = frame->pts,
			.kind = gid_wire_pair_bits(&frame->flags),
			.damage = 0,
	};
}

static inline bool gid_wire_put_picture(
		struct gid_wire_frame *restrict wire, const struct gid_frame *restrict frame) {
	if (!gid_wire_is_plain(frame) || gid_wire_time_sign(frame->submit_time) > INT64_MAX) {
		return false;
	}
	struct gid_wire_entry line = gid_wire_make_line(frame);
	memcpy(wire, &line, sizeof(line));
	memset(&wire->present_time, 0, sizeof(struct gid_wire_more));
	return true;
}

#endif
