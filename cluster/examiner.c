// SPDX-License-Identifier: MIT
#include "examiner.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <wayland-server-protocol.h>
#include <xxhash.h>

#include "../convert/to_rgb.h"
#include "../convert/visible.h"

static bool is_plain(uint32_t fourcc) {
	return fourcc == DRM_FORMAT_XRGB8888 || fourcc == DRM_FORMAT_ARGB8888;
}

bool examiner_is_words(const struct gid_layout *layout) {
	return is_plain(layout->fourcc) && layout->planes[0].offset % 4 == 0 &&
			layout->planes[0].stride % 4 == 0;
}

bool examiner_is_drawn(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory != GID_MEMORY_DMABUF || gid_dmabuf_is_drawn(info.fd);
}

/* Adds those that are plain, or those that are not. */
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

/* Memory that is there for the next frame, too. NULL: there is none. */
static void *examiner_rows(struct examiner *examiner, int which, size_t size) {
	if (examiner->sizes[which] < size) {
		free(examiner->rows[which]);
		examiner->rows[which] = malloc(size);
		examiner->sizes[which] = examiner->rows[which] != NULL ? size : 0;
	}
	return examiner->rows[which];
}

void examiner_finish(struct examiner *examiner) {
	for (size_t i = 0; i < sizeof(examiner->rows) / sizeof(examiner->rows[0]); i++) {
		free(examiner->rows[i]);
	}
	*examiner = (struct examiner){0};
}

/* Whose device writes to it anew, after the frame was sent, has a picture that may not be read. */
static bool begin_read(const struct gid_slab_info *info) {
	return info->memory != GID_MEMORY_DMABUF || gid_dmabuf_begin_read(info->fd) == 0;
}

static void end_read(const struct gid_slab_info *info) {
	if (info->memory == GID_MEMORY_DMABUF) {
		gid_dmabuf_end_read(info->fd);
	}
}

/* Where the picture is drawn as it lies in memory: not the place where it is shown, if it is
 * turned.
 */
static uint32_t *examiner_target(struct examiner *examiner, const struct examination *of,
		const struct visible *visible) {
	const struct gid_box *seen = &visible->seen;
	size_t size = (size_t)seen->width * (size_t)seen->height * 4;
	return of->frame.transform == WL_OUTPUT_TRANSFORM_NORMAL ? of->picture->data
								 : examiner_rows(examiner, 0, size);
}

/* Of a picture of words: the part that is seen, where it lies. */
static struct pixels words_of(const struct examination *of, const struct visible *visible) {
	const struct gid_layout *layout = &of->slab.layout;
	struct pixels whole = {
			.data = (const uint8_t *)of->slot + layout->planes[0].offset,
			.width = layout->width,
			.height = layout->height,
			.stride = layout->planes[0].stride,
	};
	return pixels_part(&whole, visible->x, visible->y, visible->layout.width,
			visible->layout.height);
}

static int read_words(struct examination *of, const struct visible *visible, uint32_t *target,
		struct pixel_hashes *hashes) {
	struct pixels part = words_of(of, visible);
	return pixels_copy(&part, target, (size_t)part.width * 4, hashes);
}

/* Draws what is seen as words. Returns the rows that it is made of, a copy; NULL: there is no
 * memory.
 */
static const void *convert(struct examiner *examiner, struct examination *of,
		const struct visible *visible, uint32_t *target) {
	const struct gid_box *seen = &visible->seen;
	void *rows = examiner_rows(examiner, 1, gid_layout_size(&visible->layout));
	if (rows != NULL) {
		visible_copy(visible, of->slot, rows);
		to_rgb(&visible->layout, rows, (uint32_t)seen->x, (uint32_t)seen->y,
				(uint32_t)seen->width, (uint32_t)seen->height, target,
				(size_t)seen->width * 4);
		of->converted = true;
	}
	return rows;
}

/* Any other format: all that follows is of a copy of the rows, which nobody else can change. */
static int read_others(struct examiner *examiner, struct examination *of,
		const struct visible *visible, uint32_t *target, struct pixel_hashes *hashes) {
	const struct gid_box *seen = &visible->seen;
	size_t size = gid_layout_size(&visible->layout);
	const void *rows = convert(examiner, of, visible, target);
	if (rows == NULL) {
		return -ENOMEM;
	}
	struct pixels pixels = {target, (uint32_t)seen->width, (uint32_t)seen->height,
			(size_t)seen->width * 4};
	int ret = pixels_copy(&pixels, target, pixels.stride, hashes);
	hashes->content = XXH3_64bits(rows, size);
	return ret;
}

static int examiner_draw(
		struct examiner *examiner, struct examination *of, const struct visible *visible) {
	struct pixel_hashes hashes = {0}, of_seen = {0};
	uint32_t *target = examiner_target(examiner, of, visible);
	if (target == NULL) {
		return -ENOMEM;
	}
	if (!begin_read(&of->slab)) {
		return -EAGAIN;
	}
	int ret = examiner_is_words(&of->slab.layout)
			? read_words(of, visible, target, &hashes)
			: read_others(examiner, of, visible, target, &hashes);
	end_read(&of->slab);
	of->content = hashes.content;
	of->picture->colour = hashes.colour;
	if (ret == 0 && target != of->picture->data) {
		const struct gid_box *seen = &visible->seen;
		struct pixels own = {target, (uint32_t)seen->width, (uint32_t)seen->height,
				(size_t)seen->width * 4};
		struct pixels pixels = own_picture_pixels(of->picture);
		pixels_turn(&own, of->frame.transform, of->picture->data);
		ret = pixels_hash(&pixels, &of_seen, NULL);
		of->picture->colour = of_seen.colour;
	}
	return ret;
}

/* --- pictures of any size, which nobody checks -------------------------------------------------
 */

/* Of the largest picture that is scaled: 8K has 7680 x 4320. */
#define PIXELS_MAX ((size_t)1 << 25)
/* As many are copied and converted at once. */
#define BAND_ROWS 64

static size_t pixels_of(const struct visible *visible) {
	return (size_t)visible->seen.width * (size_t)visible->seen.height;
}

/* As convert(), with memory for a few of its rows. */
static int convert_in_bands(struct examiner *examiner, struct examination *of,
		const struct visible *visible, uint32_t *target) {
	const struct gid_box *seen = &visible->seen;
	for (int32_t y = 0; y < seen->height; y += BAND_ROWS) {
		int32_t rows = seen->height - y < BAND_ROWS ? seen->height - y : BAND_ROWS;
		struct gid_box box = {(int32_t)visible->x + seen->x,
				(int32_t)visible->y + seen->y + y, seen->width, rows};
		struct visible band;
		if (visible_init(&band, &of->slab.layout, &box) != 0 ||
				convert(examiner, of, &band, target + (ptrdiff_t)y * seen->width) ==
						NULL) {
			return -ENOMEM;
		}
	}
	return 0;
}

/* Words as they lie in the frame are read there: what changes meanwhile is the producer's business.
 */
static int examiner_find_words(struct examiner *examiner, struct examination *of,
		const struct visible *visible, struct pixels *words) {
	if (examiner_is_words(&of->slab.layout)) {
		*words = words_of(of, visible);
		return 0;
	}
	const struct gid_box *seen = &visible->seen;
	uint32_t *target = examiner_rows(examiner, 0, pixels_of(visible) * 4);
	*words = (struct pixels){target, (uint32_t)seen->width, (uint32_t)seen->height,
			(size_t)seen->width * 4};
	return target != NULL ? convert_in_bands(examiner, of, visible, target) : -ENOMEM;
}

/* Turned when it has the place's size, which is not the producer's choice. */
static int examiner_draw_fitted(
		struct examiner *examiner, struct examination *of, const struct visible *visible) {
	struct own_picture *picture = of->picture;
	uint32_t transform = of->frame.transform;
	bool turned = transform != WL_OUTPUT_TRANSFORM_NORMAL;
	bool across = transform & WL_OUTPUT_TRANSFORM_90;
	struct pixels place = own_picture_pixels(picture), words;
	uint32_t *data = picture->data;
	if (turned) {
		data = examiner_rows(examiner, 2, place.stride * place.height);
		place.width = across ? picture->height : picture->width;
		place.height = across ? picture->width : picture->height;
		place.stride = (size_t)place.width * 4;
		place.data = data;
	}
	if (data == NULL) {
		return -ENOMEM;
	}
	if (!begin_read(&of->slab)) {
		return -EAGAIN;
	}
	int ret = examiner_find_words(examiner, of, visible, &words);
	if (ret == 0) {
		ret = fit_draw(examiner->rules.fit, &words, data, place.width, place.height);
	}
	end_read(&of->slab);
	if (ret == 0 && turned) {
		pixels_turn(&place, transform, picture->data);
	}
	return ret;
}

/* --- all ---------------------------------------------------------------------------------------
 */

/* What is seen, turned, must have the picture's size; or any that there is memory for. */
static bool examiner_fits(const struct examiner *examiner, const struct visible *visible,
		const struct examination *of) {
	const struct gid_box *seen = &visible->seen;
	const struct own_picture *picture = of->picture;
	bool across = of->frame.transform & WL_OUTPUT_TRANSFORM_90;
	if (examiner->rules.fit != FIT_EXACT) {
		return pixels_of(visible) <= PIXELS_MAX;
	}
	return (uint32_t)seen->width == (across ? picture->height : picture->width) &&
			(uint32_t)seen->height == (across ? picture->width : picture->height);
}

static enum role_reason examiner_read(struct examiner *examiner, struct examination *of) {
	if (of->frame.flags & GID_FRAME_CORRUPTED) {
		return ROLE_REASON_CORRUPTED;
	}
	if (of->slab.revoked || of->slot == NULL) {
		return ROLE_REASON_MEMORY;
	}
	const struct accepted *accepted = examiner->rules.accepted;
	struct visible visible;
	if (gid_layout_check(&of->slab.layout, of->slab.slot_size) != 0) {
		return ROLE_REASON_LAYOUT;
	}
	if (!accepted_has_format(accepted, of->slab.layout.fourcc)) {
		return ROLE_REASON_FORMAT;
	}
	if (!accepted_has_transform(accepted, of->frame.transform)) {
		return ROLE_REASON_TRANSFORM;
	}
	if (visible_init(&visible, &of->slab.layout, &of->frame.crop) != 0 ||
			!examiner_fits(examiner, &visible, of)) {
		return ROLE_REASON_LAYOUT;
	}
	int ret = examiner->rules.fit == FIT_EXACT ? examiner_draw(examiner, of, &visible)
						   : examiner_draw_fitted(examiner, of, &visible);
	return ret == 0 ? ROLE_REASON_NONE : ROLE_REASON_MEMORY;
}

/* What that takes is long: it is done once for each picture that is new. */
static bool examiner_allows(struct examiner *examiner, const struct own_picture *picture) {
	const struct hashes *allowed = &examiner->rules.accepted->pictures;
	if (allowed->count == 0) {
		return true;
	}
	struct verdict *verdict = &examiner->verdicts[picture->colour % EXAMINER_VERDICTS];
	if (!verdict->known || verdict->colour != picture->colour) {
		struct pixels pixels = own_picture_pixels(picture);
		struct pixel_hashes hashes;
		struct digest digest;
		if (pixels_hash(&pixels, &hashes, &digest) != 0) {
			return false;
		}
		*verdict = (struct verdict){
				.known = true,
				.colour = picture->colour,
				.allowed = hashes_have(allowed, &digest),
		};
	}
	return verdict->allowed;
}

void examiner_examine(struct examiner *examiner, struct examination *examination) {
	examination->converted = false;
	examination->content = 0;
	examination->reason = examiner_read(examiner, examination);
	examination->allowed = examination->reason == ROLE_REASON_NONE &&
			examiner_allows(examiner, examination->picture);
}

/* --- what that takes -------------------------------------------------------------------------- */

/* Of a picture: what each pixel takes does not depend on how many there are. */
#define COST_SIZE 256u
#define COST_RUNS 3 /* each by an examiner that has seen nothing yet */

static double own_ns(void) {
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* In ns for a pixel, or -ENOMEM. */
static double cost_measure(
		const struct examiner_rules *rules, uint32_t fourcc, uint32_t transform) {
	struct picture_pool pool;
	struct examiner examiner = {.rules = *rules};
	struct examination of = {.frame.transform = transform};
	gid_layout_init(&of.slab.layout, fourcc, COST_SIZE, COST_SIZE, 4);
	of.slab.slot_size = gid_layout_size(&of.slab.layout);
	void *slot = calloc(1, of.slab.slot_size);
	double spent = -ENOMEM;
	of.slot = slot;
	if (slot != NULL && picture_pool_init(&pool, COST_SIZE, COST_SIZE) == 0) {
		of.picture = picture_pool_take(&pool);
		double begin = own_ns();
		examiner_examine(&examiner, &of);
		spent = (own_ns() - begin) / (COST_SIZE * COST_SIZE);
		own_picture_unref(of.picture);
		picture_pool_finish(&pool);
	}
	examiner_finish(&examiner);
	free(slot);
	return spent;
}

/* The quickest of some: time in which a hypervisor ran others may be said to be ours. */
static double cost_measure_runs(
		const struct examiner_rules *rules, uint32_t fourcc, uint32_t transform) {
	double least = cost_measure(rules, fourcc, transform);
	for (int i = 1; i < COST_RUNS && least >= 0; i++) {
		double spent = cost_measure(rules, fourcc, transform);
		least = spent < least ? spent : least;
	}
	return least;
}

/* The dearest of all that the rules take. A picture that is turned by 90 costs most. */
static double cost_measure_all(const struct examiner_rules *rules, uint32_t *dearest) {
	const struct gid_format_info *format;
	const uint32_t turns[] = {0, 1, 3, 5, 7, 2, 4, 6};
	double most = 0;
	uint32_t transform = 0;
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]) && transform == 0; i++) {
		transform = accepted_has_transform(rules->accepted, turns[i]) ? turns[i] : 0;
	}
	for (size_t i = 0; (format = gid_format_at(i)) != NULL; i++) {
		if (!accepted_has_format(rules->accepted, format->fourcc)) {
			continue;
		}
		double spent = cost_measure_runs(rules, format->fourcc, transform);
		if (spent < 0) {
			return spent;
		}
		if (spent > most) {
			most = spent;
			*dearest = format->fourcc;
		}
	}
	return most;
}

int examiner_print_cost(const struct examiner_rules *rules, const char *kind, const char *name,
		const struct gid_box *box, FILE *file) {
	uint32_t dearest = 0;
	char pixels[24], format[5];
	double spent = cost_measure_all(rules, &dearest);
	if (spent < 0) {
		return (int)spent;
	}
	accepted_format_name(dearest, format);
	snprintf(pixels, sizeof(pixels), "%dx%d", box->width, box->height);
	fprintf(file, "%-5s %-16s %11s %8s %5.2f ms\n", kind, name, pixels, format,
			spent * box->width * box->height / 1e6);
	return 0;
}
