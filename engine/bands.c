// SPDX-License-Identifier: MIT
#include "bands.h"

#include <errno.h>

#include "drawing_parts.h"
#include "helpers.h"

#define HELP_PIXELS ((uint64_t)64 << 10) /* of a band, with helpers: about 0.1 ms of work */
#define HELP_BANDS 4			 /* fewer bands are done before a helper is awake */
#define ELEMENT_PIXELS 64		 /* of a band for each of its elements, at least */
#define JOB_PIXELS ((uint64_t)32 << 20)	 /* of bands that are drawn together, at most */

/* The bands of one command, drawn by several threads. */
struct together {
	const struct bands *bands;
	const struct back_end *back_end;
	const struct drawing *drawing;
	int32_t rows; /* of a band */
	atomic_int error;
	atomic_ullong cost; /* of helpers */
};

/* How many rows have at least so many pixels. */
static int32_t rows_of(const struct bands *bands, uint64_t pixels) {
	const uint64_t rows = pixels / bands->width + 1;
	const int32_t all = bands->last - bands->first;
	return rows < (uint64_t)all ? (int32_t)rows : all;
}

static int draw_one(const struct bands *bands, struct drawing *drawing, int32_t y, int32_t rows) {
	const int32_t left = bands->last - y;
	return bands->draw(drawing, bands->data, y, rows < left ? rows : left);
}

/* --- alone ------------------------------------------------------------------------------------ */

static int draw_alone(const struct bands *bands, struct drawing *drawing) {
	const int32_t rows =
			rows_of(bands, bands->band_pixels != 0 ? bands->band_pixels : PART_PIXELS);
	uint64_t looked = drawing->cost;
	for (int32_t y = bands->first; y < bands->last; y += rows) {
		int ret = draw_one(bands, drawing, y, rows);
		if (ret < 0) {
			return ret;
		}
		if (drawing->cost - looked >= PART_PIXELS / 2 && y + rows < bands->last) {
			looked = drawing->cost;
			if (!drawing_goes_on(drawing)) {
				return -ECANCELED;
			}
		}
	}
	return 0;
}

/* --- together --------------------------------------------------------------------------------- */

static bool helper_goes_on(void *data) {
	return !helper_job_is_stopped(data);
}

static void fail(struct together *together, struct helper_job *job, int error) {
	int none = 0;
	atomic_compare_exchange_strong(&together->error, &none, error);
	helper_job_stop(job);
}

/* A helper's share of the job, with its own target and scratch memory. */
static void help(struct helper_job *job, struct helper_memory *memory) {
	struct together *together = job->data;
	const struct drawing *of = together->drawing;
	struct drawing own = {.layout = of->layout,
			.slot = of->slot,
			.memory = of->memory,
			.clip = of->clip, /* shared, as nobody changes its rectangles */
			.go_on = helper_goes_on,
			.data = job,
			.scratch = memory->bytes,
			.scratch_size = memory->size / sizeof(*own.scratch)};
	int ret = together->back_end->begin(&own);
	int64_t piece;
	while (ret == 0 && (piece = helper_job_take_as_helper(job)) >= 0) {
		const int32_t y = together->bands->first + (int32_t)piece * together->rows;
		ret = draw_one(together->bands, &own, y, together->rows);
	}
	if (ret < 0) {
		fail(together, job, ret);
	}
	atomic_fetch_add(&together->cost, own.cost);
	together->back_end->forget(&own);
	*memory = (struct helper_memory){own.scratch, own.scratch_size * sizeof(*own.scratch)};
}

/* The calling thread's share of the job. */
static void draw_mine(struct together *together, struct drawing *drawing) {
	uint64_t looked = drawing->cost;
	int64_t piece;
	while ((piece = helper_job_take(drawing->job)) >= 0) {
		const int32_t y = together->bands->first + (int32_t)piece * together->rows;
		int ret = draw_one(together->bands, drawing, y, together->rows);
		if (ret == 0 && drawing->cost - looked >= PART_PIXELS / 2) {
			looked = drawing->cost;
			ret = drawing_goes_on(drawing) ? 0 : -ECANCELED;
		}
		if (ret < 0) {
			fail(together, drawing->job, ret);
		}
	}
}

static int draw_job(const struct bands *bands, const struct back_end *back_end,
		struct drawing *drawing) {
	const uint64_t elements = (uint64_t)bands->elements * ELEMENT_PIXELS;
	const int32_t rows = rows_of(bands, elements > HELP_PIXELS ? elements : HELP_PIXELS);
	const uint32_t pieces = (uint32_t)((bands->last - bands->first + rows - 1) / rows);
	struct together together = {
			.bands = bands, .back_end = back_end, .drawing = drawing, .rows = rows};
	if (drawing->job == NULL || pieces < HELP_BANDS ||
			!helper_job_begin(drawing->job, help, &together, pieces)) {
		return draw_alone(bands, drawing);
	}
	draw_mine(&together, drawing);
	while (!helper_job_end(drawing->job)) {
		if (!drawing_goes_on(drawing)) {
			fail(&together, drawing->job, -ECANCELED);
		}
	}
	drawing->cost += atomic_load(&together.cost);
	return atomic_load(&together.error);
}

int bands_draw(const struct bands *bands, const struct back_end *back_end,
		struct drawing *drawing) {
	struct bands part = *bands;
	if (bands->width == 0) {
		return 0;
	}
	const int32_t rows = rows_of(bands, JOB_PIXELS);
	for (; part.first < bands->last; part.first = part.last) {
		part.last = bands->last - part.first > rows ? part.first + rows : bands->last;
		int ret = draw_job(&part, back_end, drawing);
		if (ret == 0 && part.last < bands->last && !drawing_goes_on(drawing)) {
			ret = -ECANCELED;
		}
		if (ret < 0) {
			return ret;
		}
	}
	return 0;
}
