// SPDX-License-Identifier: MIT
/*
 * gid-bench-canvas MILLISECONDS CANVAS: has the engine of the domain `cluster` compose three layers
 * of 720p at each refresh, 60 a second, and writes a line of JSON like that of gid-meter. A picture
 * counts as shown if it is finished before the next refresh. The further refreshes that it takes
 * are lost. `finished` counts all pictures, however late.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <gid/engine.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REFRESH_NS 16666667ull
#define LAYERS 3u
#define WIDTH 1280u
#define HEIGHT 720u
#define PATIENCE_MS 30000

struct pace {
	struct gid_domain *domain;
	struct gid_canvas *canvas;
	struct gid_layer layers[LAYERS];
};

static void pace_init(struct pace *pace, const char *name) {
	const struct gid_canvas_options options = {.size = sizeof(options),
			.width = WIDTH,
			.height = HEIGHT,
			.connect_ms = PATIENCE_MS};
	struct gid_layout layout;
	struct gid_slab *slab;
	gid_layout_init(&layout, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 64);
	if (gid_domain_connect(NULL, &pace->domain) < 0) {
		errx(1, "%s", gid_domain_connect_error());
	}
	if (gid_canvas_create(pace->domain, "cluster", name, &options, &pace->canvas) < 0) {
		errx(1, "%s", gid_canvas_create_error());
	}
	for (uint32_t i = 0; i < LAYERS; i++) {
		if (gid_slab_create(pace->domain, &layout, 0, 1, NULL, &slab) < 0) {
			errx(1, "%s", gid_domain_error(pace->domain));
		}
		memset(gid_slab_data(slab, 0), (int)(0x30 + i), gid_layout_size(&layout));
		if (gid_canvas_share(pace->canvas, slab) < 0) {
			errx(1, "%s", gid_canvas_error(pace->canvas));
		}
		pace->layers[i] = (struct gid_layer){.gid = gid_slab_gid(slab, 0), .alpha = 200};
	}
}

static void compose(struct pace *pace) {
	uint64_t fence;
	if (gid_canvas_compose(pace->canvas, pace->layers, LAYERS, &fence) < 0 ||
			gid_canvas_wait(pace->canvas, fence, PATIENCE_MS) < 0) {
		errx(1, "%s", gid_canvas_error(pace->canvas));
	}
}

static void sleep_until(uint64_t ns) {
	struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
	}
}

static int compare(const void *one, const void *other) {
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
	return (a > b) - (a < b);
}

static double percentile(const uint64_t *sorted, uint32_t count, uint32_t percent) {
	const size_t at = count == 0 ? 0 : (size_t)(count - 1) * percent / 100;
	return count == 0 ? 0 : (double)sorted[at] / 1e3;
}

int main(int argc, char *argv[]) {
	struct pace pace;
	const uint64_t ms = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	const uint32_t refreshes = (uint32_t)(ms * 1000000 / REFRESH_NS);
	if (refreshes == 0) {
		errx(2, "usage: gid-bench-canvas MILLISECONDS CANVAS");
	}
	uint64_t *gaps = calloc((size_t)refreshes + 1, sizeof(*gaps));
	if (gaps == NULL) {
		err(1, "no memory for %" PRIu32 " refreshes", refreshes);
	}
	pace_init(&pace, argv[2]);
	for (uint32_t i = 0; i < 10; i++) { /* allocates all slots of the canvas */
		compose(&pace);
	}
	const uint64_t begin = gid_clock_now() + REFRESH_NS;
	uint64_t last = begin;
	uint32_t shown = 0, finished = 0;
	for (uint32_t i = 0; i < refreshes;) {
		sleep_until(begin + i * REFRESH_NS);
		compose(&pace);
		finished++;
		const uint64_t done = gid_clock_now();
		const uint32_t taken = 1 + (uint32_t)((done - begin) / REFRESH_NS) - i;
		if (taken == 1) {
			gaps[shown++] = done - last;
			last = done;
		}
		i += taken;
	}
	const uint64_t end = begin + refreshes * REFRESH_NS; /* counts a final gap, too */
	gaps[shown] = end > last ? end - last : 0;
	qsort(gaps, shown + 1, sizeof(*gaps), compare);
	printf("{\"shown\": %" PRIu32 ", \"finished\": %" PRIu32 ", \"lost\": %" PRIu32
	       ", \"rate\": %.4f, "
	       "\"interval_p50_us\": %.1f, \"interval_p99_us\": %.1f, "
	       "\"interval_max_us\": %.1f}\n",
			shown, finished, refreshes - shown,
			shown * 1e9 / (double)(refreshes * REFRESH_NS),
			percentile(gaps, shown + 1, 50), percentile(gaps, shown + 1, 99),
			percentile(gaps, shown + 1, 100));
	gid_canvas_destroy(pace.canvas);
	gid_domain_destroy(pace.domain);
	free(gaps);
	return 0;
}
