// SPDX-License-Identifier: MIT
/**
 * Metadata of frames on the producer's side: a slab of places, each for the bytes of one frame. A
 * place is in use as long as the slot that its frame lies in is held. Nobody says when that ends:
 * it is looked at when a place is needed.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

/* So many frames can have their metadata put before the first of them is sent. */
#define UNSENT GID_BURST_MAX
/* How long gidd is not asked again for memory that it did not give. */
#define AGAIN_NS UINT64_C(1000000000)
#define PAGE 4096u
#define DESCRIPTION "application/x-gid-metadata"

struct place {
	gid_id gid;	 /* of its frame; GID_NONE: it was never used */
	uint64_t serial; /* of the call that put it */
};

struct gid_metadata {
	struct gid_slab *slab; /* NULL: there is none, because of `error` */
	int error;
	uint64_t again;	  /* when to try the first one once more */
	gid_id published; /* the slab's slot 0, as consumers know it */
	uint32_t next;	  /* where to look first */
	uint64_t serial;
	struct place places[GID_METADATA_PLACES];
};

/* --- the slab --------------------------------------------------------------------------------- */

static uint32_t room_of(const struct gid_producer *producer) {
	uint32_t most = producer->options.metadata_max;
	return most == 0 ? GID_METADATA_DEFAULT : most;
}

/* The slab's memory is new: nobody can read what was put before. */
static void forget_places(struct gid_metadata *metadata) {
	memset(metadata->places, 0, sizeof(metadata->places));
}

static void handle_made(void *data, int error, struct gid_slab *slab) {
	struct gid_metadata *metadata = data;
	metadata->error = error;
	forget_places(metadata);
}

static int make_slab(struct gid_producer *producer, struct gid_metadata *metadata) {
	struct gid_layout layout;
	uint64_t size = sizeof(struct gid_wire_metadata) + room_of(producer);
	int error = gid_layout_init(&layout, DRM_FORMAT_R8, PAGE, 1, PAGE);
	if (error < 0) {
		return error;
	}
	if (producer->options.granted != NULL) { /* it waits for nothing */
		return gid_slab_create_async(producer->domain, producer->name, &layout, size,
				GID_METADATA_PLACES, DESCRIPTION, handle_made, metadata,
				&metadata->slab);
	}
	return gid_slab_create_for_stream(producer->domain, producer->name, &layout, size,
			GID_METADATA_PLACES, DESCRIPTION, &metadata->slab);
}

/* Consumers find metadata by this gid. It changes when the slab had to move. */
static int publish_slab(struct gid_producer *producer, struct gid_metadata *metadata) {
	gid_id gid = gid_slab_gid(metadata->slab, 0);
	if (metadata->published == gid) {
		return 0;
	}
	int error = gid_producer_add_slab(producer, gid);
	if (error < 0) {
		return error;
	}
	metadata->published = gid;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		__atomic_store_n(&sub->ring.ring->metadata, gid, __ATOMIC_RELAXED);
	}
	return 0;
}

gid_id gid_producer_metadata_slab(const struct gid_producer *producer) {
	return producer->metadata == NULL ? GID_NONE : producer->metadata->published;
}

/* Grants the slab to all consumers. Returns 0, -EINPROGRESS, or why one of them has no grant. */
static int grant_slab(struct gid_producer *producer, struct gid_slab *slab) {
	if (producer->options.granted != NULL) {
		return gid_producer_request_grants(producer, slab, gid_slab_gid(slab, 0));
	}
	int error = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && gid_subscription_can_see(sub, slab) &&
				gid_subscription_needs_grant(sub, slab)) {
			int ret = gid_slab_grant(slab, sub->domain);
			error = ret < 0 ? ret : error;
		}
	}
	return error;
}

static int renew_slab(struct gid_metadata *metadata) {
	int ret = gid_slab_renew(metadata->slab);
	if (ret == 1) {
		forget_places(metadata);
	}
	if (ret == -EAGAIN && metadata->error < 0) {
		return metadata->error; /* why gidd gave none */
	}
	return ret < 0 ? ret : 0;
}

static int get_slab(struct gid_producer *producer) {
	if (producer->metadata == NULL) {
		producer->metadata = calloc(1, sizeof(*producer->metadata));
		if (producer->metadata == NULL) {
			return -ENOMEM;
		}
	}
	struct gid_metadata *metadata = producer->metadata;
	if (metadata->slab == NULL) {
		uint64_t now = gid_clock_now();
		if (now < metadata->again) {
			return metadata->error;
		}
		metadata->error = make_slab(producer, metadata);
		if (metadata->error < 0) {
			metadata->again = now + AGAIN_NS;
			return metadata->error;
		}
	}
	int error = renew_slab(metadata); /* also one that is just being made */
	error = error < 0 ? error : publish_slab(producer, metadata);
	return error < 0 ? error : grant_slab(producer, metadata->slab);
}

void gid_producer_end_metadata(struct gid_producer *producer) {
	if (producer->metadata == NULL) {
		return;
	}
	gid_slab_unref(producer->metadata->slab); /* nobody waits for gidd */
	free(producer->metadata);
	producer->metadata = NULL;
}

/* --- places ----------------------------------------------------------------------------------- */

static bool is_same_slot(gid_id a, gid_id b) {
	return gid_slab_key(a) == gid_slab_key(b) && gid_slot_of(a) == gid_slot_of(b);
}

static bool is_held(struct gid_producer *producer, gid_id gid) {
	struct gid_slab *slab = gid_slab_find_held(producer->domain, gid, &producer->slab_memo);
	return slab != NULL && gid_slab_holders(slab, gid_slot_of(gid)) > 0;
}

/* The slot is about to have another frame: nobody reads what was put for the frames before. */
static void free_places_of(struct gid_metadata *metadata, gid_id gid) {
	for (uint32_t i = 0; i < GID_METADATA_PLACES; i++) {
		if (is_same_slot(metadata->places[i].gid, gid)) {
			metadata->places[i].gid = GID_NONE;
		}
	}
}

static struct gid_wire_metadata *bytes_of(const struct gid_metadata *metadata, uint32_t place) {
	return gid_slab_data(metadata->slab, place);
}

/* A place of a frame in the same slot, which is held, with the same bytes; or -1. */
static int find_same(
		const struct gid_metadata *metadata, gid_id gid, const void *bytes, uint32_t size) {
	for (uint32_t i = 0; i < GID_METADATA_PLACES; i++) {
		const struct gid_wire_metadata *there = bytes_of(metadata, i);
		if (is_same_slot(metadata->places[i].gid, gid) && there->size == size &&
				memcmp(there->bytes, bytes, size) == 0) {
			return (int)i;
		}
	}
	return -1;
}

static int find_free(struct gid_producer *producer) {
	const struct gid_metadata *metadata = producer->metadata;
	for (uint32_t i = 0; i < GID_METADATA_PLACES; i++) {
		uint32_t at = (metadata->next + i) % GID_METADATA_PLACES;
		const struct place *place = &metadata->places[at];
		bool unsent = metadata->serial - place->serial < UNSENT;
		if (place->gid == GID_NONE || (!unsent && !is_held(producer, place->gid))) {
			return (int)at;
		}
	}
	return -ENOBUFS;
}

static int choose_place(
		struct gid_producer *producer, gid_id gid, const void *bytes, uint32_t size) {
	struct gid_metadata *metadata = producer->metadata;
	if (is_held(producer, gid)) {
		int same = find_same(metadata, gid, bytes, size);
		if (same >= 0) {
			return same;
		}
	} else {
		free_places_of(metadata, gid);
	}
	int place = find_free(producer);
	if (place >= 0) {
		struct gid_wire_metadata *to = bytes_of(metadata, (uint32_t)place);
		to->size = size;
		memcpy(to->bytes, bytes, size);
		metadata->next = (uint32_t)place + 1;
	}
	return place;
}

int gid_producer_put_metadata(struct gid_producer *producer, struct gid_frame *frame,
		const void *bytes, uint32_t size) {
	frame->metadata = GID_NONE;
	if (producer->domain == NULL) {
		return -EPIPE;
	}
	if (frame->gid == GID_NONE) {
		return -EINVAL;
	}
	if (size > room_of(producer)) {
		return -EMSGSIZE;
	}
	int error = size == 0 ? 0 : get_slab(producer);
	if (error < 0 || size == 0) {
		return error;
	}
	int place = choose_place(producer, frame->gid, bytes, size);
	if (place < 0) {
		return place;
	}
	struct gid_metadata *metadata = producer->metadata;
	metadata->places[place] = (struct place){frame->gid, ++metadata->serial};
	frame->metadata = gid_slab_gid(metadata->slab, (uint32_t)place);
	return 0;
}

void gid_producer_bind_metadata(struct gid_producer *producer, struct gid_frame *frame) {
	struct gid_metadata *metadata = producer->metadata;
	uint32_t place = gid_slot_of(frame->metadata);
	if (metadata == NULL ||
			gid_slab_key(frame->metadata) != gid_slab_key(metadata->published) ||
			place >= GID_METADATA_PLACES || frame->gid == GID_NONE) {
		frame->metadata = GID_NONE; /* of the stream that the frame was received from */
		return;
	}
	metadata->places[place].gid = frame->gid;
}
