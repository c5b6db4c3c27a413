// SPDX-License-Identifier: MIT
#include "shown_picture.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <gid/timeline.h>
#include <stdlib.h>
#include <wayland-server-protocol.h>

#include "kms_layer.h"
#include "screen.h"

/* --- frames shown directly -------------------------------------------------------------------- */

/* A frame of another domain, held while a plane scans out its dma-buf. */
struct lent_frame {
	struct memory_view view;
	struct wl_list link;	       /* shown_picture::lents */
	struct gid_consumer *consumer; /* NULL: its subscription ended, so it is not released */
	struct gid_slab *slab;
	struct gid_frame frame;
};

/*
 * Whether a plane can scan out the frame as it is. Only without an offset: vkms of Linux 6.12 adds
 * it twice, and reads past the end.
 */
static bool lent_frame_is_possible(const struct examination *of) {
	return of->slab.memory == GID_MEMORY_DMABUF && !of->converted && of->slab.offset == 0 &&
			of->slab.layout.planes[0].offset == 0 && gid_slot_of(of->frame.gid) == 0 &&
			of->frame.crop.x == 0 && of->frame.crop.y == 0 &&
			of->frame.transform == WL_OUTPUT_TRANSFORM_NORMAL;
}

static void handle_destroyed(struct memory_view *view) {
	struct lent_frame *lent = wl_container_of(view, lent, view);
	if (lent->consumer != NULL) {
		gid_consumer_release(lent->consumer, &lent->frame);
	}
	wl_list_remove(&lent->link);
	gid_slab_unref(lent->slab);
	free(lent);
}

/*
 * Takes the frame, and a reference to its slab. Both are released with the object, when the buffer
 * has no more users; lent_frame_drop() ends our own use. NULL: out of memory, nothing taken.
 */
static struct lent_frame *lent_frame_create(struct wl_list *list, struct gid_consumer *consumer,
		const struct examination *of, struct gid_slab *slab) {
	struct lent_frame *lent = calloc(1, sizeof(*lent));
	if (lent == NULL) {
		return NULL;
	}
	const struct pixels *pixels = &of->picture->pixels;
	uint32_t stride = of->slab.layout.planes[0].stride;
	memory_view_init(&lent->view, gid_slab_view_untouched(slab, 0), DRM_FORMAT_XRGB8888,
			pixels->width, pixels->height, stride, handle_destroyed);
	lent->view.dmabuf = (struct wlr_dmabuf_attributes){
			.width = (int32_t)pixels->width,
			.height = (int32_t)pixels->height,
			.format = DRM_FORMAT_XRGB8888,
			.modifier = DRM_FORMAT_MOD_LINEAR,
			.n_planes = 1,
			.stride = {stride},
			.fd = {of->slab.fd},
	};
	lent->consumer = consumer;
	lent->slab = gid_slab_ref(slab);
	lent->frame = of->frame;
	wl_list_insert(list, &lent->link);
	return lent;
}

static void lent_frame_drop(struct lent_frame *lent) {
	if (lent != NULL) {
		wlr_buffer_drop(&lent->view.base);
	}
}

void shown_picture_detach_consumer(struct shown_picture *shown) {
	struct lent_frame *lent, *next;
	wl_list_for_each_safe(lent, next, &shown->lents, link) {
		lent->consumer = NULL;
		wl_list_remove(&lent->link);
		wl_list_init(&lent->link);
	}
}

bool shown_picture_is_reclaimed(const struct shown_picture *shown) {
	const struct lent_frame *lent = shown->lent;
	if (lent == NULL || !gid_slab_is_current(lent->slab, lent->frame.gid)) {
		return lent != NULL;
	}
	return lent->consumer != NULL &&
			gid_consumer_holds(lent->consumer, &lent->frame, lent->slab, NULL) ==
			-ESTALE;
}

/* --- the picture to show ---------------------------------------------------------------------- */

static void shown_picture_write_point(const struct shown_picture *shown,
		const struct gid_frame *frame, enum gid_timeline_event event, uint64_t time) {
	const struct stream_reader *reader = shown->reader;
	if (reader->config.timeline != NULL) {
		gid_timeline_write(reader->config.timeline,
				&(struct gid_timeline_point){
						.event = event,
						.time = time,
						.gid = frame->gid,
						.stream = reader->config.stream,
						.sequence = frame->sequence,
						.domain = reader->own_domain,
				});
	}
}

/* Records what the pending commit shows, before something else is set. */
static void shown_picture_keep_given(struct shown_picture *shown) {
	shown->given = (struct given_picture){
			.commit = shown->pending_commit,
			.is_frame = shown->is_frame,
			.frame = shown->frame,
	};
	shown->pending_commit = 0;
}

/* Called before something else is set: what was committed already will still be shown. */
static void shown_picture_leave(struct shown_picture *shown) {
	if (shown->pending_commit != 0 &&
			shown->pending_commit != screen_next_commit(shown->screen)) {
		shown_picture_keep_given(shown);
	}
}

/* Takes ownership of `lent`. */
static void shown_picture_change(struct shown_picture *shown, bool is_frame,
		struct own_picture *picture, struct lent_frame *lent) {
	struct own_picture *old = shown->picture;
	bool on_plane = shown_picture_is_on_plane(shown);
	lent_frame_drop(shown->lent);
	shown->lent = lent;
	shown->is_frame = is_frame;
	shown->picture = own_picture_ref(picture);
	part_set_picture(shown->part, picture);
	part_show(shown->part, !on_plane);
	own_picture_unref(old);
	shown->pending_commit = screen_next_commit(shown->screen);
	if (on_plane) {
		shown->stale = true;
		screen_schedule_frame(shown->screen);
	}
}

void shown_picture_set_fallback(struct shown_picture *shown) {
	struct own_picture *old = NULL;
	/* What the output showed last was checked. A later frame may not have been composed yet. */
	if (shown->falls_to_last && shown->last != NULL) {
		old = shown->fallback;
		shown->fallback = shown->last;
		shown->last = NULL;
	}
	if (shown->fallback != NULL) {
		shown_picture_leave(shown);
		shown_picture_change(shown, false, shown->fallback, NULL);
	}
	own_picture_unref(old);
}

bool shown_picture_set_frame(
		struct shown_picture *shown, const struct examination *of, struct gid_slab *slab) {
	struct lent_frame *lent = NULL;
	if (slab != NULL && shown->screen->config->planes == PLANES_DIRECT &&
			lent_frame_is_possible(of)) {
		lent = lent_frame_create(&shown->lents, shown->reader->consumer, of, slab);
	}
	shown_picture_leave(shown);
	shown->frame = of->frame;
	shown_picture_write_point(shown, &of->frame, GID_TIMELINE_COMMIT, gid_clock_now());
	shown_picture_change(shown, true, of->picture, lent);
	return lent != NULL;
}

bool shown_picture_repeats(struct shown_picture *shown, const struct examination *of) {
	bool repeats = shown->is_frame && shown->frame.gid == of->frame.gid &&
			shown->picture->colour == of->picture->colour;
	if (repeats) {
		shown->frame = of->frame;
	}
	return repeats;
}

/* --- composition or plane --------------------------------------------------------------------- */

bool shown_picture_is_on_plane(const struct shown_picture *shown) {
	return shown->place == SHOWN_PLACE_PLANE;
}

/* Has it composed or on the plane, according to `place`. */
static void shown_picture_show_part(struct shown_picture *shown) {
	bool on_plane = shown_picture_is_on_plane(shown);
	part_show(shown->part, !on_plane && shown->picture != NULL);
	shown->stale = shown->stale || on_plane;
}

static void shown_picture_destroy_layer(struct shown_picture *shown, enum shown_place why) {
	kms_layer_destroy(shown->layer);
	shown->layer = NULL;
	shown->place = why;
}

void shown_picture_prepare_plan(
		struct shown_picture *shown, struct kms_output *kms, enum shown_place why) {
	const struct gid_box *box = shown->box;
	if (why != SHOWN_PLACE_PLANE) {
		shown_picture_destroy_layer(shown, why);
	} else if (shown->layer == NULL) {
		shown->layer = kms_layer_create(
				kms, box->x, box->y, (uint32_t)box->width, (uint32_t)box->height);
		shown->place = SHOWN_PLACE_MEMORY;
	}
}

void shown_picture_apply_plan(struct shown_picture *shown) {
	static const enum shown_place places[] = {
			[KMS_LAYER_ON_PLANE] = SHOWN_PLACE_PLANE,
			[KMS_LAYER_UNPLANNED] = SHOWN_PLACE_REFUSED,
			[KMS_LAYER_NO_PLANE] = SHOWN_PLACE_NO_PLANE,
			[KMS_LAYER_REFUSED] = SHOWN_PLACE_REFUSED,
	};
	if (shown->layer != NULL && shown->layer->place != KMS_LAYER_TAKEN) {
		shown->place = places[shown->layer->place];
		shown->stale = true;
	}
	shown_picture_show_part(shown);
}

void shown_picture_release_plane(struct shown_picture *shown, enum shown_place why) {
	if (shown_picture_is_on_plane(shown)) {
		kms_layer_release_plane(shown->layer, why == SHOWN_PLACE_COPIED);
		shown->place = why;
		shown_picture_show_part(shown);
	}
}

void shown_picture_detach_output(struct shown_picture *shown) {
	shown_picture_destroy_layer(shown, SHOWN_PLACE_OFF);
	shown_picture_show_part(shown);
}

void shown_picture_attach_output(struct shown_picture *shown) {
	shown->given.commit = 0;
	if (shown->pending_commit != 0) {
		shown->pending_commit = screen_next_commit(shown->screen);
	}
}

const char *shown_place_name(enum shown_place place) {
	static const char *const names[] = {
			[SHOWN_PLACE_PLANE] = "",
			[SHOWN_PLACE_OFF] = "off",
			[SHOWN_PLACE_OFF_OUTPUT] = "off-output",
			[SHOWN_PLACE_MEMORY] = "memory",
			[SHOWN_PLACE_NO_PLANE] = "no-plane",
			[SHOWN_PLACE_REFUSED] = "refused",
			[SHOWN_PLACE_COPIED] = "copied",
			[SHOWN_PLACE_DIFFERED] = "differed",
	};
	return names[place];
}

/* --- the picture on display ------------------------------------------------------------------- */

const char *shown_picture_checked_by(const struct shown_picture *shown) {
	if (screen_is_read_back(shown->screen)) {
		return "writeback";
	}
	return shown_picture_is_on_plane(shown) ? "copy" : "composition";
}

/* The next commit shows the current picture. */
static void shown_picture_set_displayed(struct shown_picture *shown) {
	struct own_picture *last = shown->is_frame ? own_picture_ref(shown->picture) : NULL;
	own_picture_unref(shown->last);
	shown->last = last;
	shown->displayed = shown->picture->colour;
}

static void shown_picture_set_on_plane(struct shown_picture *shown) {
	shown->colour = shown->picture->colour;
	shown->stale = false;
	shown_picture_set_displayed(shown);
}

/* Whether the plane shows a copy of this same picture, with nothing else pending. */
static bool shown_picture_has_copy(const struct shown_picture *shown) {
	return kms_layer_is_shown(shown->layer) && !kms_layer_is_lent(shown->layer) &&
			shown->colour == shown->picture->colour;
}

/* Returns 0, -EAGAIN, -EILSEQ or -ENOMEM. */
static int shown_picture_copy(struct shown_picture *shown) {
	size_t stride;
	void *target = kms_layer_begin(shown->layer, &stride);
	if (target == NULL) {
		return -EAGAIN;
	}
	shown->colour = 0; /* unknown until the copy is complete */
	struct pixel_hashes hashes;
	int error = pixels_copy(&shown->picture->pixels, target, stride, &hashes, NULL);
	if (error < 0) {
		return error;
	}
	shown->copies++;
	if (hashes.colour != shown->picture->colour) {
		return -EILSEQ;
	}
	kms_layer_submit(shown->layer);
	return 0;
}

/*
 * Returns as shown_picture_copy(); -EACCES: it cannot be read; any other error: the device refuses
 * it.
 */
static int shown_picture_lend(struct shown_picture *shown) {
	struct memory_view *frame = &shown->lent->view;
	uint64_t colour;
	size_t stride;
	uint32_t format;
	void *data;
	if (!wlr_buffer_begin_data_ptr_access(&frame->base, WLR_BUFFER_DATA_PTR_ACCESS_READ, &data,
			    &format, &stride)) {
		return -EACCES;
	}
	struct pixels pixels = {
			data, (uint32_t)frame->base.width, (uint32_t)frame->base.height, stride};
	int error = pixels_hash_colour(&pixels, &colour);
	wlr_buffer_end_data_ptr_access(&frame->base);
	if (error < 0) {
		return error;
	}
	if (colour != shown->picture->colour) {
		return -EILSEQ;
	}
	error = kms_layer_lend(shown->layer, &frame->base, &frame->dmabuf);
	shown->direct += error == 0;
	return error;
}

/* Memory that others can still write goes on a plane only while read-back would notice a change. */
static int shown_picture_put(struct shown_picture *shown) {
	if (shown->lent != NULL && screen_is_read_back(shown->screen)) {
		int error = shown_picture_lend(shown);
		if (error == 0 || error == -EAGAIN || error == -EACCES || error == -EILSEQ) {
			return error;
		}
	}
	return shown_picture_copy(shown);
}

int shown_picture_update_plane(struct shown_picture *shown) {
	if (!shown_picture_is_on_plane(shown)) {
		return 0;
	}
	if (kms_layer_is_lent(shown->layer) && !screen_is_read_back(shown->screen)) {
		shown->stale = true;
	}
	if (!shown->stale) {
		return 0;
	}
	if (shown_picture_has_copy(shown)) { /* the same picture from other memory needs no copy */
		shown_picture_set_on_plane(shown);
		shown->pending_commit = 0;
		return 1;
	}
	int error = shown_picture_put(shown);
	if (error == 0) {
		shown_picture_set_on_plane(shown);
	}
	return error;
}

/* Returns false if the box is not within `whole`. */
static bool shown_picture_find_region(const struct shown_picture *shown, const struct pixels *whole,
		struct pixels *region) {
	const struct gid_box *box = shown->box;
	if ((uint32_t)(box->x + box->width) > whole->width ||
			(uint32_t)(box->y + box->height) > whole->height) {
		return false;
	}
	*region = pixels_part(whole, (uint32_t)box->x, (uint32_t)box->y, (uint32_t)box->width,
			(uint32_t)box->height);
	return true;
}

bool shown_picture_check(struct shown_picture *shown, const struct pixels *composed) {
	struct pixels region;
	uint64_t colour;
	if (shown_picture_is_on_plane(shown)) {
		return true; /* it was checked when it was copied */
	}
	if (shown_picture_find_region(shown, composed, &region) &&
			pixels_hash_colour(&region, &colour) == 0 &&
			colour == shown->picture->colour) {
		shown_picture_set_displayed(shown);
		return true;
	}
	shown->displayed = 0;
	return false;
}

void shown_picture_expect_readback(struct shown_picture *shown) {
	shown->expected = shown->displayed;
}

int shown_picture_read_back(struct shown_picture *shown, const struct pixels *device) {
	struct pixels region;
	uint64_t colour;
	if (shown->expected == 0 || !shown_picture_find_region(shown, device, &region) ||
			pixels_hash_colour(&region, &colour) != 0) {
		return 0;
	}
	return colour == shown->expected ? 1 : -EILSEQ;
}

static bool has_come(uint32_t commit, uint32_t of) {
	return of != 0 && (int32_t)(commit - of) >= 0;
}

const struct given_picture *shown_picture_presented(
		struct shown_picture *shown, uint32_t commit, uint64_t when) {
	struct given_picture *given = &shown->given;
	if (has_come(commit, shown->pending_commit)) {
		shown_picture_keep_given(shown);
	} else if (!has_come(commit, given->commit)) {
		return NULL;
	}
	given->commit = 0;
	if (given->is_frame) {
		uint64_t submitted = given->frame.submit_time, captured = given->frame.capture_time;
		samples_add(&shown->latency, when > submitted ? when - submitted : 0);
		if (captured != GID_TIME_NONE) {
			samples_add(&shown->capture_latency, when > captured ? when - captured : 0);
		}
		shown_picture_write_point(shown, &given->frame, GID_TIMELINE_SHOWN, when);
	}
	return given;
}

/* --- begin and end ---------------------------------------------------------------------------- */

int shown_picture_init(struct shown_picture *shown, struct screen *screen,
		enum composition_level level, const struct gid_box *box,
		const struct stream_reader *reader, struct own_picture *fallback) {
	*shown = (struct shown_picture){
			.screen = screen,
			.box = box,
			.reader = reader,
			.fallback = fallback,
			.part = composition_add(screen->composition, level, box),
			.place = SHOWN_PLACE_OFF,
	};
	wl_list_init(&shown->lents);
	return shown->part != NULL ? 0 : -ENOMEM;
}

void shown_picture_finish(struct shown_picture *shown) {
	if (shown->part != NULL) {
		shown_picture_detach_consumer(shown);
		part_destroy(shown->part);
	}
	kms_layer_destroy(shown->layer);
	lent_frame_drop(shown->lent);
	own_picture_unref(shown->picture);
	own_picture_unref(shown->fallback);
	own_picture_unref(shown->last);
	*shown = (struct shown_picture){0};
}
