// SPDX-License-Identifier: MIT
#include "frame_bound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cold_memory.h"
#include "pixels.h"
#include "thread.h"

#define ROWS 3 /* rounds, each with all kinds */
#define RUNS 3 /* of each kind in one round */
/*
 * How much of a picture is measured. More does not make the cost per pixel more exact, and flushing
 * a whole picture from the caches takes a second.
 */
#define PIXELS_MOST (512u << 10)
/* A bound that is over the limit is measured again, at this interval, this many times. */
#define PAUSE_NS 100000000
#define PAUSES 30
/*
 * The cost of a frame besides its pixels, for the scene and the commit; and of each picture in it.
 */
#define FRAME_NS 400000u
#define PICTURE_NS 20000u

/* --- measuring -------------------------------------------------------------------------------- */

struct bench {
	uint32_t *from, *to;
	struct pixels pixels; /* of `to` */
	uint32_t width, height;
};

static void do_copy(struct bench *bench) {
	for (size_t y = 0; y < bench->height; y++) {
		memcpy(bench->to + y * bench->width, bench->from + y * bench->width,
				(size_t)bench->width * 4);
	}
}

static void do_veil(struct bench *bench) {
	for (size_t y = 0; y < bench->height; y++) {
		pixels_veil(bench->to + y * bench->width, bench->from + y * bench->width,
				bench->width);
	}
}

static void do_hash(struct bench *bench) {
	uint64_t colour;
	(void)pixels_hash_colour(&bench->pixels, &colour);
}

static int compare(const void *a, const void *b) {
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* The median of one round, with cold caches, in CPU time of this thread. */
static double measure(struct bench *bench, void (*what)(struct bench *bench)) {
	uint64_t spent[RUNS];
	size_t size = (size_t)bench->width * bench->height * 4;
	for (int i = 0; i < RUNS; i++) {
		cold_memory_make(bench->from, size);
		cold_memory_make(bench->to, size);
		uint64_t begin = gid_thread_used();
		what(bench);
		spent[i] = gid_thread_used() - begin;
	}
	qsort(spent, RUNS, sizeof(spent[0]), compare);
	return (double)spent[RUNS / 2] / ((double)bench->width * bench->height);
}

static double lesser(double known, double measured) {
	return known == 0 || measured < known ? measured : known;
}

/*
 * The fastest of some rounds. A guest's kernel may charge time of other guests to the thread, which
 * then seems many times slower for a while. Nothing makes a copy seem faster than it is.
 */
static void measure_rows(struct bench *bench, struct pixel_costs *costs) {
	*costs = (struct pixel_costs){0};
	for (int i = 0; i < ROWS; i++) {
		costs->copy = lesser(costs->copy, measure(bench, do_copy));
		costs->veil = lesser(costs->veil, measure(bench, do_veil));
		costs->hash = lesser(costs->hash, measure(bench, do_hash));
	}
}

int pixel_costs_measure(struct pixel_costs *costs, uint32_t width, uint32_t most) {
	uint32_t rows = width < PIXELS_MOST ? PIXELS_MOST / width : 1;
	struct bench bench = {.width = width, .height = rows < most ? rows : most};
	size_t size = (size_t)width * bench.height * 4;
	bench.from = malloc(size);
	bench.to = malloc(size);
	bool ready = bench.from != NULL && bench.to != NULL;
	if (ready) {
		memset(bench.from, 0x55, size);
		memset(bench.to, 0xaa, size);
		bench.pixels = (struct pixels){bench.to, width, bench.height, (size_t)width * 4};
		measure_rows(&bench, costs);
	}
	free(bench.from);
	free(bench.to);
	return ready ? 0 : -ENOMEM;
}

/* --- computing -------------------------------------------------------------------------------- */

static double area(const struct gid_box *box) {
	return (double)box->width * box->height;
}

struct frame_bound frame_bound_of(const struct cluster_config *config, size_t output,
		uint32_t width, uint32_t height, const struct pixel_costs *costs) {
	double whole = (double)width * height;
	double compose = FRAME_NS + whole * costs->copy, check = 0;
	for (size_t i = 0; i < config->layer_count; i++) {
		const struct layer_config *layer = &config->layers[i];
		if (layer->output == output) {
			double cost = layer->fallback == FALLBACK_GREY ? costs->veil : costs->copy;
			compose += PICTURE_NS + area(&layer->box) * cost;
		}
	}
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		if (role->output == output) {
			compose += PICTURE_NS + area(&role->box) * costs->copy;
			check += area(&role->box) * costs->hash;
		}
	}
	return (struct frame_bound){(uint64_t)compose, (uint64_t)check,
			(uint64_t)((compose + check) * FRAME_BOUND_MARGIN)};
}

bool frame_bound_is_allowed(const struct cluster_config *config, uint64_t ns, uint64_t refresh_ns) {
	return config->worst_frame == 0 || ns <= refresh_ns / 100 * config->worst_frame;
}

int frame_bound_measure(const struct cluster_config *config, size_t output, uint32_t width,
		uint32_t height, struct frame_bound *bound) {
	struct pixel_costs costs;
	int error = pixel_costs_measure(&costs, width, height);
	if (error < 0) {
		return error;
	}
	struct frame_bound found = frame_bound_of(config, output, width, height, &costs);
	if (bound->total == 0 || found.total < bound->total) {
		*bound = found;
	}
	return 0;
}

uint64_t frame_bound_remeasure(const struct cluster_config *config, uint64_t ns,
		uint64_t refresh_ns, uint64_t (*again)(void *data), void *data) {
	for (int i = 0; i < PAUSES && !frame_bound_is_allowed(config, ns, refresh_ns); i++) {
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		ns = again(data);
	}
	return ns;
}

uint64_t fallback_bound_of(enum pacing pacing, uint64_t ns, uint64_t refresh_ns) {
	if (ns > refresh_ns) {
		return (2 * ns + refresh_ns - 1) / refresh_ns * refresh_ns;
	}
	return refresh_ns + compose_window_of(pacing, ns, refresh_ns);
}

/* --- printing --------------------------------------------------------------------------------- */

static double ms(uint64_t ns) {
	return (double)ns / 1e6;
}

uint64_t frame_bound_refresh_of(const struct output_config *output) {
	uint32_t mhz = output->refresh_mhz > 0 ? output->refresh_mhz : OUTPUT_REFRESH_MHZ;
	return 1000000000000u / mhz;
}

uint64_t frame_bound_refresh(const struct cluster_config *config) {
	uint64_t shortest = UINT64_MAX;
	for (size_t i = 0; i < config->output_count; i++) {
		uint64_t refresh = frame_bound_refresh_of(&config->outputs[i]);
		shortest = refresh < shortest ? refresh : shortest;
	}
	return shortest;
}

/* The configured outputs, and their costs measured so far. */
struct check {
	const struct cluster_config *config;
	struct frame_bound *bounds;
	int error; /* 0 or -ENOMEM */
};

static uint32_t width_of(const struct output_config *output) {
	return output->width > 0 ? output->width : OUTPUT_WIDTH;
}

static uint32_t height_of(const struct output_config *output) {
	return output->height > 0 ? output->height : OUTPUT_HEIGHT;
}

/* The sum over all outputs, in ns. */
static uint64_t measure_outputs(void *data) {
	struct check *check = data;
	uint64_t sum = 0;
	for (size_t i = 0; i < check->config->output_count && check->error == 0; i++) {
		const struct output_config *output = &check->config->outputs[i];
		check->error = frame_bound_measure(check->config, i, width_of(output),
				height_of(output), &check->bounds[i]);
		sum += check->bounds[i].total;
	}
	return sum;
}

static void print_fallbacks(const struct cluster_config *config, uint64_t sum, FILE *file) {
	if (config->role_count > 0) {
		fprintf(file, "%-16s %11s %11s %11s\n", "role", "deadline", "display", "fallback");
	}
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		const struct output_config *output = &config->outputs[role->output];
		uint64_t deadline = role->limits.deadline_ns;
		uint64_t more = fallback_bound_of(
				output->pacing, sum, frame_bound_refresh_of(output));
		fprintf(file, "%-16s %8.2f ms %8.2f ms %8.2f ms after the last good frame\n",
				role->name, ms(deadline), ms(more), ms(deadline + more));
	}
}

static void print_outputs(const struct check *check, FILE *file) {
	fprintf(file, "%-16s %11s %8s %8s %8s %8s\n", "output", "pixels", "refresh", "compose",
			"check", "bound");
	for (size_t i = 0; i < check->config->output_count; i++) {
		const struct output_config *output = &check->config->outputs[i];
		const struct frame_bound *bound = &check->bounds[i];
		char size[24];
		snprintf(size, sizeof(size), "%ux%u", width_of(output), height_of(output));
		fprintf(file, "%-16s %11s %5.2f ms %5.2f ms %5.2f ms %5.2f ms\n",
				output->name != NULL ? output->name : "(the first)", size,
				ms(frame_bound_refresh_of(output)), ms(bound->compose),
				ms(bound->check), ms(bound->total));
	}
}

int frame_bound_print(const struct cluster_config *config, uint64_t *ns, FILE *file) {
	struct check check = {.config = config,
			.bounds = calloc(config->output_count, sizeof(*check.bounds))};
	if (check.bounds == NULL) {
		return -ENOMEM;
	}
	uint64_t shortest = frame_bound_refresh(config);
	uint64_t sum = frame_bound_remeasure(
			config, measure_outputs(&check), shortest, measure_outputs, &check);
	bool allowed = frame_bound_is_allowed(config, sum, shortest);
	if (check.error == 0) {
		print_outputs(&check, file);
		fprintf(file, "a frame takes %.2f ms at the worst here, %.0f %% of a refresh: %s\n",
				ms(sum), (double)sum * 100 / (double)shortest,
				allowed ? "allowed" : "more than worst-frame= allows");
		check.error = allowed ? 0 : -E2BIG;
	}
	if (check.error == 0) {
		print_fallbacks(config, sum, file);
		*ns = sum;
	}
	free(check.bounds);
	return check.error;
}
