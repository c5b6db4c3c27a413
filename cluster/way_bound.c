// SPDX-License-Identifier: MIT
#include "way_bound.h"

#include "frame_bound.h"
#include "stream_reader.h"

struct way_bound way_bound_of(
		uint64_t frame_ns, const struct output_config *output, uint64_t examine_ns) {
	uint64_t refresh_ns = frame_bound_refresh_of(output);
	uint64_t picture = FRAME_BOUND_MARGIN * examine_ns;
	struct way_bound way = {
			/*
			 * Worst case: the stream's budget of this refresh is spent, its ring is
			 * full, and a frame begins just before each tick.
			 */
			.taken = STREAM_READER_TICKS * (frame_ns + refresh_ns),
			/*
			 * Worst case: the worker has just begun the previous picture, then pauses
			 * as long as that took; and its result comes while another frame is
			 * composed.
			 */
			.examined = 2 * picture + frame_ns + picture,
			.shown = fallback_bound_of(output->pacing, frame_ns, refresh_ns),
	};
	way.total = way.taken + way.examined + way.shown;
	return way;
}

static double ms(uint64_t ns) {
	return (double)ns / 1e6;
}

void way_bound_print(const struct cluster_config *config, uint64_t frame_ns,
		const struct examiner_cost *costs, FILE *file) {
	if (config->role_count > 0) {
		fprintf(file, "%-16s %11s %11s %11s %11s\n", "role", "taken", "examined", "shown",
				"light");
	}
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		struct way_bound way = way_bound_of(
				frame_ns, &config->outputs[role->output], costs[i].most);
		fprintf(file, "%-16s %8.2f ms %8.2f ms %8.2f ms %8.2f ms from the ring to the light\n",
				role->name, ms(way.taken), ms(way.examined), ms(way.shown),
				ms(way.total));
	}
}
