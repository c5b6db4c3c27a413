// SPDX-License-Identifier: MIT
#include "examiner.h"

#include <drm_fourcc.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cold_memory.h"
#include "memory_pages.h"
#include "protection_sum.h"
#include "thread.h"

static bool is_plain(uint32_t fourcc) {
	return fourcc == DRM_FORMAT_XRGB8888 || fourcc == DRM_FORMAT_ARGB8888;
}

/* Adds the formats that need no conversion (`plain`), or those that do. */
static uint32_t add_showable(const struct accepted *accepted, bool plain, uint32_t count,
		struct gid_showable showable[GID_SHOWABLE_MAX]) {
	const struct gid_format_info *format;
	for (size_t i = 0; (format = gid_format_at(i)) != NULL && count < GID_SHOWABLE_MAX; i++) {
		if (is_plain(format->fourcc) == plain &&
				accepted_has_format(accepted, format->fourcc)) {
			showable[count++] = (struct gid_showable){
					.fourcc = format->fourcc,
					.memory = GID_SHOWABLE_SHARED | GID_SHOWABLE_DMABUF,
			};
		}
	}
	return count;
}

uint32_t examiner_showable(
		const struct accepted *accepted, struct gid_showable showable[GID_SHOWABLE_MAX]) {
	uint32_t count = add_showable(accepted, true, 0, showable);
	return add_showable(accepted, false, count, showable);
}

void examiner_finish(struct examiner *examiner) {
	frame_drawing_finish(&examiner->drawing);
	*examiner = (struct examiner){0};
}

/* --- checks ----------------------------------------------------------------------------------- */

void examination_get_check(struct examination *of, const struct examiner_rules *rules,
		struct gid_consumer *consumer) {
	of->check_error = rules->protection != NULL
			? gid_consumer_get_check(consumer, &of->frame, &of->check)
			: 0;
}

/* The field's offset in a descriptor: docs/wire-ring.md. */
#define DESCRIPTOR_SUBMIT_TIME 16

uint64_t examination_sent_time(const struct examination *of) {
	uint64_t time;
	memcpy(&time, of->check.descriptor + DESCRIPTOR_SUBMIT_TIME, sizeof(time));
	return le64toh(time);
}

/* The reason to refuse a frame without reading its pixels: it has no valid check. */
static enum role_reason reason_of_check(
		const struct examiner_rules *rules, const struct examination *of) {
	switch (of->check_error) {
	case 0:
		return of->check.kind == gid_protection_profile(rules->protection)
				? ROLE_REASON_NONE
				: ROLE_REASON_NO_CHECK;
	case -ENODATA:
		return ROLE_REASON_NO_CHECK;
	case -ESTALE:
	case -ENOTCONN:
		return ROLE_REASON_TAKEN_BACK;
	default:
		return ROLE_REASON_CHECK_MISMATCH;
	}
}

static void add_rows(void *data, const void *bytes, size_t size) {
	protection_sum_add(data, bytes, size);
}

/* With protection also -EBADMSG: the pixels that were drawn do not match the check. */
static int examiner_draw(const struct examiner_rules *rules, struct frame_drawing *drawing,
		struct examination *of, struct pixel_hashes *hashes) {
	struct protection_sum sum;
	uint8_t found[GID_CHECK_SIZE];
	const struct rows_reader reader = {.read = add_rows, .data = &sum};
	if (rules->protection == NULL) {
		return frame_drawing_draw(drawing, rules->fit, &of->frame, &of->slab, of->slot,
				of->picture, hashes, NULL);
	}
	protection_sum_begin(&sum, rules->protection, &of->slab.layout);
	int ret = frame_drawing_draw(drawing, rules->fit, &of->frame, &of->slab, of->slot,
			of->picture, hashes, &reader);
	protection_sum_end(&sum, of->check.descriptor, found);
	of->is_protected = ret >= 0 && protection_sums_are_equal(found, of->check.bytes);
	return ret < 0 || of->is_protected ? ret : -EBADMSG;
}

/* --- pictures --------------------------------------------------------------------------------- */

/*
 * Reading an undrawn dma-buf would wait for its device. Even the query can wait, while another
 * process has the dma-buf locked.
 */
static bool is_drawn(const struct gid_slab_info *info) {
	return info->memory != GID_MEMORY_DMABUF || gid_dmabuf_is_drawn(info->fd);
}

/*
 * Reading a missing page would allocate it, and charge it to us for as long as its owner keeps the
 * file.
 */
static bool has_pages(const struct examination *of) {
	const struct gid_slab_info *slab = &of->slab;
	const uint64_t at = slab->offset + gid_slot_of(of->frame.gid) * slab->slot_size;
	return slab->memory != GID_MEMORY_MEMFD ||
			gid_memory_check_pages(slab->fd, at, gid_layout_size(&slab->layout),
					of->slot) == 0;
}

static enum role_reason examiner_read(const struct examiner_rules *rules,
		struct frame_drawing *drawing, struct examination *of) {
	const struct gid_layout *layout = &of->slab.layout;
	struct pixel_hashes hashes = {0};
	if (of->frame.flags & GID_FRAME_CORRUPTED) {
		return ROLE_REASON_CORRUPTED;
	}
	if (of->slab.revoked || of->slot == NULL) {
		return ROLE_REASON_MEMORY;
	}
	if (gid_layout_check(layout, of->slab.slot_size) != 0) {
		return ROLE_REASON_LAYOUT;
	}
	if (!accepted_has_format(rules->accepted, layout->fourcc)) {
		accepted_format_name(layout->fourcc, of->not_taken);
		return ROLE_REASON_FORMAT;
	}
	if (!accepted_has_transform(rules->accepted, of->frame.transform)) {
		strcpy(of->not_taken, accepted_transform_name(of->frame.transform));
		return ROLE_REASON_TRANSFORM;
	}
	enum role_reason unchecked =
			rules->protection != NULL ? reason_of_check(rules, of) : ROLE_REASON_NONE;
	if (unchecked != ROLE_REASON_NONE) {
		return unchecked;
	}
	if (!has_pages(of)) {
		return ROLE_REASON_MEMORY;
	}
	int ret = examiner_draw(rules, drawing, of, &hashes);
	of->converted = ret == 1;
	of->content = hashes.content;
	of->picture->colour = hashes.colour;
	if (ret == -ERANGE) {
		return ROLE_REASON_LAYOUT;
	}
	if (ret == -EBADMSG) {
		return ROLE_REASON_CHECK_MISMATCH;
	}
	return ret >= 0 ? ROLE_REASON_NONE : ROLE_REASON_MEMORY;
}

void examiner_examine(struct examiner *examiner, struct examination *of) {
	of->converted = of->allowed = of->is_protected = false;
	of->content = 0;
	of->not_taken[0] = '\0';
	of->undrawn = of->slot != NULL && !is_drawn(&of->slab);
	of->reason = of->undrawn ? ROLE_REASON_MEMORY
				 : examiner_read(&examiner->rules, &examiner->drawing, of);
	if (of->reason != ROLE_REASON_NONE) {
		return;
	}
	const struct hashes *allowed = &examiner->rules.accepted->pictures;
	struct verdict *verdict = &examiner->verdicts[of->picture->colour % EXAMINER_VERDICTS];
	of->allowed = allowed->count == 0;
	/* A SHA-256 takes long: computed once for each new picture. */
	if (!of->allowed && (!verdict->known || verdict->colour != of->picture->colour)) {
		struct pixel_hashes hashes;
		struct digest digest;
		if (pixels_hash(&of->picture->pixels, &hashes, &digest) != 0) {
			return;
		}
		*verdict = (struct verdict){
				.known = true,
				.colour = of->picture->colour,
				.allowed = hashes_have(allowed, &digest),
		};
	}
	of->allowed = of->allowed || verdict->allowed;
}

/* --- measuring the cost ----------------------------------------------------------------------- */

/* The size of the test picture: the cost per pixel does not depend on it. */
#define COST_SIZE 256u
#define COST_RUNS 3 /* each with a fresh examiner */
/* Of a picture besides its pixels: what is computed once, and what calls take. */
#define PICTURE_NS 30000u
#define GREY 0x55

/* As a producer's pictures are: written, so that each page is one of its own, and by another core.
 */
static void make_cold(void *memory, size_t size) {
	memset(memory, GREY, size);
	cold_memory_make(memory, size);
}

/* In ns per pixel, or -ENOMEM. */
static double cost_measure(
		const struct examiner_rules *rules, uint32_t fourcc, uint32_t transform) {
	struct picture_pool pool = {0};
	struct examiner examiner = {.rules = *rules};
	struct examination of = {.frame.transform = transform};
	if (rules->protection != NULL) {
		of.check.kind = gid_protection_profile(rules->protection);
	}
	gid_layout_init(&of.slab.layout, fourcc, COST_SIZE, COST_SIZE, 4);
	of.slab.slot_size = gid_layout_size(&of.slab.layout);
	void *slot = malloc(of.slab.slot_size);
	double spent = -ENOMEM;
	of.slot = slot;
	if (slot != NULL && picture_pool_init(&pool, COST_SIZE, COST_SIZE) == 0) {
		of.picture = picture_pool_acquire(&pool);
		make_cold(slot, of.slab.slot_size);
		make_cold(of.picture->data, COST_SIZE * COST_SIZE * sizeof(uint32_t));
		uint64_t begin = gid_thread_used();
		examiner_examine(&examiner, &of);
		spent = (double)(gid_thread_used() - begin) / (COST_SIZE * COST_SIZE);
		own_picture_unref(of.picture);
	}
	picture_pool_finish(&pool);
	examiner_finish(&examiner);
	free(slot);
	return spent;
}

/* The fastest run: a hypervisor can charge time of other guests to our thread. */
static double cost_measure_runs(
		const struct examiner_rules *rules, uint32_t fourcc, uint32_t transform) {
	double least = cost_measure(rules, fourcc, transform);
	for (int i = 1; i < COST_RUNS && least >= 0; i++) {
		double spent = cost_measure(rules, fourcc, transform);
		least = spent < least ? spent : least;
	}
	return least;
}

/* A rotation by 90 degrees costs the most, an untransformed picture the least. */
static const uint32_t by_cost[] = {0, 2, 4, 6, 1, 3, 5, 7};

static uint32_t accepted_turn(const struct accepted *accepted, bool dearest) {
	size_t count = sizeof(by_cost) / sizeof(by_cost[0]);
	for (size_t i = 0; i < count; i++) {
		uint32_t turn = by_cost[dearest ? count - 1 - i : i];
		if (accepted_has_transform(accepted, turn)) {
			return turn;
		}
	}
	return 0;
}

/* In ns per pixel, over all accepted formats; or -ENOMEM. */
static int cost_measure_all(const struct examiner_rules *rules, uint32_t transform, double *least,
		double *most, uint32_t *dearest) {
	const struct gid_format_info *format;
	*least = *most = -1;
	for (size_t i = 0; (format = gid_format_at(i)) != NULL; i++) {
		if (!accepted_has_format(rules->accepted, format->fourcc)) {
			continue;
		}
		double spent = cost_measure_runs(rules, format->fourcc, transform);
		if (spent < 0) {
			return (int)spent;
		}
		*least = *least < 0 || spent < *least ? spent : *least;
		if (spent > *most) {
			*most = spent;
			*dearest = format->fourcc;
		}
	}
	return 0;
}

/* Measures the cheapest format only: all formats would delay the start by seconds. */
int examiner_measure_least(const struct examiner_rules *rules, uint32_t width, uint32_t height,
		uint64_t *least) {
	uint32_t transform = accepted_turn(rules->accepted, false), dearest;
	double spent = 0, most;
	*least = 0;
	int error = 0;
	if (accepted_has_format(rules->accepted, DRM_FORMAT_XRGB8888)) { /* is not converted */
		spent = cost_measure_runs(rules, DRM_FORMAT_XRGB8888, transform);
		error = spent < 0 ? (int)spent : 0;
	} else {
		error = cost_measure_all(rules, transform, &spent, &most, &dearest);
	}
	if (error == 0) {
		*least = PICTURE_NS + (uint64_t)(spent * width * height);
	}
	return error;
}

int examiner_measure_cost(const struct examiner_rules *rules, uint32_t width, uint32_t height,
		struct examiner_cost *cost) {
	double least, most;
	*cost = (struct examiner_cost){0};
	int error = examiner_measure_least(rules, width, height, &cost->least);
	if (error == 0) {
		error = cost_measure_all(rules, accepted_turn(rules->accepted, true), &least, &most,
				&cost->dearest);
	}
	if (error == 0) {
		cost->most = PICTURE_NS + (uint64_t)(most * width * height);
	}
	return error;
}
