// SPDX-License-Identifier: MIT
#include "arrivals.h"

#include <math.h>
#include <string.h>

#include "pacing.h"

static const double weight = 1.0 / 32; /* of the newest commit */
static const uint64_t commits_min = 64;
static const double clearly = 2;    /* factor between two deviations */
static const double pause_ns = 1e9; /* commits that are further apart are not counted */

static void spread_add(struct arrivals_spread *spread, double value, bool first) {
	if (first) {
		spread->mean = value;
		spread->deviation = 0;
		return;
	}
	double off = value - spread->mean;
	spread->mean += off * weight;
	spread->deviation += (fabs(off) - spread->deviation) * weight;
}

static struct arrivals_surface *find_surface(struct arrivals *arrivals, uint32_t id) {
	for (size_t i = 0; i < ARRIVALS_SURFACES; i++) {
		if (arrivals->surfaces[i].id == id) {
			return &arrivals->surfaces[i];
		}
	}
	return NULL;
}

/* Returns an unused entry, or that of the surface whose last commit is the oldest. */
static struct arrivals_surface *new_surface(struct arrivals *arrivals, uint32_t id) {
	struct arrivals_surface *oldest = &arrivals->surfaces[0];
	for (size_t i = 0; i < ARRIVALS_SURFACES && oldest->id != 0; i++) {
		struct arrivals_surface *surface = &arrivals->surfaces[i];
		if (surface->id == 0 || surface->commit_ns < oldest->commit_ns) {
			oldest = surface;
		}
	}
	*oldest = (struct arrivals_surface){.id = id};
	return oldest;
}

static void judge(struct arrivals_surface *surface) {
	if (surface->commits < commits_min) {
		return;
	}
	double own = fmin(surface->interval.deviation, surface->after_shown.deviation);
	if (own * clearly < surface->after_drawn.deviation) {
		surface->own_clock = true;
	} else if (surface->after_drawn.deviation * clearly < own) {
		surface->own_clock = false;
	}
}

void arrivals_commit(struct arrivals *arrivals, uint32_t id, int64_t commit_ns) {
	if (id == 0) {
		return;
	}
	struct arrivals_surface *surface = find_surface(arrivals, id);
	if (surface == NULL) {
		surface = new_surface(arrivals, id);
		surface->commit_ns = commit_ns;
		return;
	}
	double interval = (double)(commit_ns - surface->commit_ns);
	surface->commit_ns = commit_ns;
	if (interval > pause_ns || surface->drawn_ns == 0) {
		return;
	}
	bool first = surface->commits++ == 0;
	spread_add(&surface->interval, interval, first);
	spread_add(&surface->after_drawn, (double)(commit_ns - surface->drawn_ns), first);
	spread_add(&surface->after_shown, (double)(commit_ns - surface->shown_ns), first);
	judge(surface);
}

int64_t arrivals_drawn(struct arrivals *arrivals, uint32_t id, int64_t drawn_ns, int64_t shown_ns) {
	struct arrivals_surface *surface = id ? find_surface(arrivals, id) : NULL;
	if (surface == NULL) {
		return GID_PACING_NONE;
	}
	surface->drawn_ns = drawn_ns;
	surface->shown_ns = shown_ns;
	return surface->own_clock ? surface->commit_ns : GID_PACING_NONE;
}
