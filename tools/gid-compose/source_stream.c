// SPDX-License-Identifier: MIT
#include "source_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A slab that was not to be had is asked for again after so long, while its frame is the newest. */
#define AGAIN_NS UINT64_C(1000000000)
#define SLABS_MAX (sizeof(((struct source_stream *)0)->slabs) / sizeof(struct source_slab))

static void forget_export(struct source_export *export) {
	struct gid_slab *slab = export->slab;
	*export = (struct source_export){0};
	gid_slab_destroy(slab, false);
}

static void forget(struct source_stream *source, struct source_slab *place) {
	const struct source_slab left = *place;
	*place = (struct source_slab){0};
	if (left.slab == NULL) {
		return;
	}
	for (size_t i = 0; i < SOURCE_EXPORTS_MAX; i++) {
		struct source_export *export = &source->exports->places[i];
		if (export->slab != NULL && export->key == left.key) {
			forget_export(export);
		}
	}
	gid_slab_unref(left.slab);
}

/* Nothing of a producer that is gone is shown. */
static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct source_stream *source = data;
	if (state != GID_CONSUMER_LIVE) {
		gid_slab_import_cancel(source->connection, source);
		source->asked = false;
		source->held = false; /* it went with its subscription */
		source->refusals = 0;
		source->frame.gid = GID_NONE;
		source->changed = true;
	}
}

int source_stream_create(struct gid_domain *connection, const char *domain, const char *name,
		struct source_exports *exports, struct source_stream **result) {
	struct source_stream *source = calloc(1, sizeof(*source));
	const struct gid_consumer_options options = {
			.size = sizeof(options),
			.drop_old = true,
			.reconnect = true,
			.state = handle_state,
			.data = source,
	};
	if (source == NULL) {
		return -ENOMEM;
	}
	source->connection = connection;
	source->exports = exports;
	source->frame.gid = GID_NONE;
	source->domain = domain != NULL ? strdup(domain) : NULL;
	source->name = strdup(name);
	if (source->name == NULL || (domain != NULL && source->domain == NULL)) {
		source_stream_destroy(source);
		return -ENOMEM;
	}
	int ret = gid_consumer_create(connection, domain, name, &options, &source->consumer);
	if (ret < 0) {
		source_stream_destroy(source);
		return ret;
	}
	*result = source;
	return 0;
}

void source_stream_destroy(struct source_stream *source) {
	gid_slab_import_cancel(source->connection, source);
	for (size_t i = 0; i < SLABS_MAX; i++) {
		forget(source, &source->slabs[i]);
	}
	gid_consumer_destroy(source->consumer);
	free(source->domain);
	free(source->name);
	free(source);
}

/* The place of the slab that the gid is in, or NULL. */
static struct source_slab *find_slab(struct source_stream *source, gid_id gid) {
	for (size_t i = 0; i < SLABS_MAX; i++) {
		struct source_slab *place = &source->slabs[i];
		if (place->slab != NULL) {
			gid_slab_get_info(place->slab, &place->info);
		}
		if (place->slab != NULL && place->info.revoked) {
			forget(source, place);
		}
		if (place->slab != NULL && place->key == gid_slab_key(gid)) {
			return place;
		}
	}
	return NULL;
}

/* In the place of the one that was unused longest. */
static void keep_slab(struct source_stream *source, gid_id gid, struct gid_slab *slab) {
	struct source_slab *oldest = &source->slabs[0];
	for (size_t i = 1; i < SLABS_MAX; i++) {
		if (source->slabs[i].used < oldest->used) {
			oldest = &source->slabs[i];
		}
	}
	forget(source, oldest);
	*oldest = (struct source_slab){.slab = slab, .key = gid_slab_key(gid)};
	gid_slab_get_info(slab, &oldest->info);
}

/* May be of the frame that is shown, whose slab was asked for again. */
static void show(struct source_stream *source, const struct gid_frame *frame) {
	if (source->held && source->frame.index != frame->index) {
		gid_consumer_release(source->consumer, &source->frame);
	}
	source->frame = *frame;
	source->held = true;
	source->changed = true;
}

/* What gidd said of a frame's slab. */
static void note_answer(struct source_stream *source, int error) {
	source->refusal = error;
	source->refusals = error < 0 ? source->refusals + 1 : 0;
	source->again = gid_clock_now() + AGAIN_NS;
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct source_stream *source = data;
	source->asked = false;
	if (slab != NULL) {
		keep_slab(source, gid, slab);
	}
	note_answer(source, error);
	show(source, &source->next_frame);
}

/*
 * Its slab may have to be asked for, and its domain answers when it likes. Until then the frame
 * before is shown, and other layers go on.
 */
static void take(struct source_stream *source, const struct gid_frame *frame) {
	struct gid_slab *slab;
	int ret = -EALREADY;
	if (frame->gid != GID_NONE && find_slab(source, frame->gid) == NULL) {
		ret = gid_slab_import_async(
				source->connection, frame->gid, handle_imported, source, &slab);
	}
	if (ret == -EINPROGRESS) {
		source->next_frame = *frame;
		source->asked = true;
		return;
	}
	if (ret == 0) {
		keep_slab(source, frame->gid, slab);
	}
	note_answer(source, ret == -EALREADY ? 0 : ret);
	show(source, frame);
}

/* A ring has no more in it. Who sends faster than we take does not keep us from the next layer. */
void source_stream_dispatch(struct source_stream *source) {
	struct gid_frame frame;
	for (uint32_t i = 0; i < GID_CREDIT_MAX && !source->asked &&
			gid_consumer_receive(source->consumer, &frame) == 1;
			i++) {
		if (frame.gid == GID_NONE && (frame.flags & GID_FRAME_HIDDEN) == 0) {
			gid_consumer_release(source->consumer, &frame);
			continue; /* the end of a film: its last picture stays */
		}
		take(source, &frame);
	}
	if (source->refusals > 0 && source->held && !source->asked &&
			gid_clock_now() >= source->again) {
		frame = source->frame;
		take(source, &frame);
	}
}

static struct source_export *find_export(
		struct source_exports *exports, uint32_t key, uint32_t slot) {
	for (size_t i = 0; i < SOURCE_EXPORTS_MAX; i++) {
		struct source_export *export = &exports->places[i];
		if (export->slab != NULL && export->key == key && export->slot == slot) {
			return export;
		}
	}
	return NULL;
}

/* A free place, or that which was unused longest: the engine is done with earlier pictures. */
static struct source_export *oldest_export(struct source_exports *exports, bool is_free) {
	struct source_export *oldest = NULL;
	for (size_t i = 0; i < SOURCE_EXPORTS_MAX; i++) {
		struct source_export *export = &exports->places[i];
		if ((export->slab == NULL) == is_free && export->used < exports->picture &&
				(oldest == NULL || export->used < oldest->used)) {
			oldest = export;
		}
	}
	return oldest;
}

/* A place that was made free. NULL: all there are are in this picture. */
static struct source_export *evict_export(struct source_exports *exports) {
	struct source_export *oldest = oldest_export(exports, false);
	if (oldest != NULL) {
		forget_export(oldest);
	}
	return oldest;
}

/* In a free place, for which others go as long as gidd says that there are too many. */
static int make_export(struct source_stream *source, const struct source_slab *place, uint32_t slot,
		struct source_export *export) {
	struct gid_slab *slab;
	int ret;
	do {
		ret = gid_slab_export(source->connection, place->info.fd,
				place->info.offset + slot * place->info.slot_size,
				&place->info.layout, place->info.description, &slab);
	} while (ret == -EDQUOT && evict_export(source->exports) != NULL);
	if (ret == 0) {
		*export = (struct source_export){.slab = slab, .key = place->key, .slot = slot};
	}
	return ret;
}

/*
 * The engine reads only what is our domain's. What another domain lets us read, we may pass on: as
 * memory that we export.
 */
static int export_slot(struct source_stream *source, struct source_slab *place, uint32_t slot,
		struct source_export **exported, const char **why) {
	if (place->info.memory == GID_MEMORY_WINDOW) {
		*why = "its frames are on another machine, and not of our domain: the engine "
		       "cannot read them";
		return -ENOTSUP;
	}
	struct source_exports *exports = source->exports;
	struct source_export *export = find_export(exports, place->key, slot);
	if (export == NULL) {
		export = oldest_export(exports, true);
		export = export != NULL ? export : evict_export(exports);
		int ret = export != NULL ? make_export(source, place, slot, export) : -EDQUOT;
		if (ret < 0) {
			*why = gid_domain_error(source->connection);
			return ret;
		}
	}
	export->used = exports->picture;
	*exported = export;
	return 0;
}

/* Lets the engine read the slab. */
static int grant(
		struct gid_canvas *canvas, struct gid_slab *slab, bool *granted, const char **why) {
	int ret = *granted ? 0 : gid_canvas_share(canvas, slab);
	*granted = ret == 0;
	*why = ret < 0 ? gid_canvas_error(canvas) : NULL;
	return ret;
}

/*
 * Why the newest frame's slab was not to be had; NULL: it may be there again at once. Once alone it
 * is said to be unknown where its producer took it back, or has not granted it yet.
 */
static const char *why_not(const struct source_stream *source) {
	bool may_pass = source->refusal == -ENOENT || source->refusal == -ENOTCONN;
	return source->refusals > (may_pass ? 1 : 0) ? gid_strerror(source->refusal) : NULL;
}

int source_stream_picture(struct source_stream *source, struct gid_canvas *canvas,
		struct source_picture *picture, const char **why) {
	gid_id gid = source->frame.gid;
	source->changed = false;
	*why = NULL;
	if (gid == GID_NONE) {
		return -ENODATA;
	}
	struct source_slab *place = find_slab(source, gid);
	if (place == NULL || !gid_slab_is_current(place->slab, gid)) {
		*why = why_not(source);
		return -ENODATA; /* it was taken back; another one comes */
	}
	/* Its pages would be allocated as it is exported; the engine would refuse the whole list.
	 */
	if (place->info.memory == GID_MEMORY_MEMFD &&
			gid_slab_view(place->slab, gid_slot_of(gid)) == NULL) {
		*why = gid_strerror(-ENODATA);
		return -ENODATA;
	}
	place->used = ++source->uses;
	*picture = (struct source_picture){gid, source->frame.crop, &place->info};
	if (gid_domain_of(gid) == gid_domain_number(source->connection)) {
		return grant(canvas, place->slab, &place->granted, why);
	}
	struct source_export *export;
	int ret = export_slot(source, place, gid_slot_of(gid), &export, why);
	if (ret < 0) {
		return ret;
	}
	picture->gid = gid_slab_gid(export->slab, 0);
	return grant(canvas, export->slab, &export->granted, why);
}

void source_stream_forget_grants(struct source_stream *source) {
	for (size_t i = 0; i < SLABS_MAX; i++) {
		source->slabs[i].granted = false;
	}
	for (size_t i = 0; i < SOURCE_EXPORTS_MAX; i++) {
		source->exports->places[i].granted = false;
	}
}
