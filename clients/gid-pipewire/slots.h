// SPDX-License-Identifier: MIT
/*
 * The memory that a camera of PipeWire shows: a few slots of our own, then the slots of a stream's
 * slabs. All have one layout. PipeWire negotiates memory with its readers once, and some readers
 * cannot do that again: so what of the slabs is offered is fixed then, and a picture in a slab that
 * came later is copied into a slot of our own.
 *
 * Or only slots of our own, which are packed: what is seen of a picture, without padding. Browsers
 * take nothing else, and read a slot from where its file begins.
 */
#ifndef GID_PIPEWIRE_SLOTS_H
#define GID_PIPEWIRE_SLOTS_H

#include <gid/stream.h>

/* A stream that changes its memory often has that many slabs at once. */
#define SLABS_MAX 8u
/* PipeWire takes no more buffers. */
#define SLOTS_MAX 64u
/* Enough for two readers with a picture in work each, and one to come. */
#define OWN_SLOTS 4u
/* The number of no slot. */
#define SLOT_NONE UINT32_MAX

struct slots {
	struct gid_layout layout;     // of the stream's pictures
	struct gid_layout own_layout; // of own slots: the same, or packed
	bool packed;
	struct slots_slab {
		struct gid_slab *slab; // a reference of ours
		struct gid_slab_info info;
		bool offered; // those come first
	} slabs[SLABS_MAX];
	uint32_t slab_count;
	struct own_slot {
		uint8_t *data; // NULL: there is none
		int fd;	       // which can only be read by whoever gets it
	} own[OWN_SLOTS];
	uint64_t size; // of a picture, bytes: PipeWire wants the same of all buffers
};

/* Where a slot is, for who maps it. */
struct slots_place {
	int fd;
	uint32_t offset; // of the slot
	uint32_t size;	 // bytes
	bool dmabuf;
};

/*
 * Of an imported slab's layout. `packed`: what is seen of its pictures, where slots are to be
 * packed; else NULL. Returns 0 or -errno; -ENOTSUP: it is not for processors, or no browser has
 * such a format.
 */
int slots_init(struct slots *slots, const struct gid_layout *layout, const struct gid_box *packed);
/* Also of what slots_init() failed for, and of zeroes. */
void slots_finish(struct slots *slots);

/* Takes over the reference. Forgets those that were revoked, or the oldest, that are not offered.
 */
void slots_add(struct slots *slots, struct gid_slab *slab);

/*
 * Nobody has any slot now: the slabs that there are are offered, as far as there are numbers.
 * `dmabufs`: those of dma-bufs, too.
 */
void slots_offer(struct slots *slots, bool dmabufs);

/* How many are offered, own ones first. */
uint32_t slots_count(const struct slots *slots);

/* The number of the gid's slot; SLOT_NONE: it is not offered. */
uint32_t slots_find(const struct slots *slots, gid_id gid);

/* The slab of the gid; NULL: it is not known. */
struct gid_slab *slots_slab(const struct slots *slots, gid_id gid);

/* `number` is less than slots_count(). */
struct slots_place slots_place(const struct slots *slots, uint32_t number);

/* The memory of an own slot, to be written while nobody reads it. */
uint8_t *slots_own(const struct slots *slots, uint32_t number);

/*
 * Copies what is seen of a picture into an own slot that is packed. `seen` is as large as that, and
 * lies in the picture, at whole samples.
 */
void slots_pack(const struct slots *slots, uint32_t number, const uint8_t *picture,
		const struct gid_box *seen);

/* Makes an own slot black. */
void slots_fill_black(const struct slots *slots, uint32_t number);

#endif
