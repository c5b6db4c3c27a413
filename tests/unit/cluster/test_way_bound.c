// SPDX-License-Identifier: MIT
/* The way of a picture to the light is the sum of its steps, each at its worst. */
#include "cluster/way_bound.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/workers/frame_bound.h"
#include "tap.h"

#define MS UINT64_C(1000000)

static void test_steps(void) {
	const struct output_config output = {.refresh_mhz = 50000};
	const struct output_config off = {.refresh_mhz = 50000, .pacing = PACING_OFF};
	struct way_bound way = way_bound_of(2 * MS, &output, 3 * MS);
	tap_ok(way.taken == 2 * 22 * MS, "a frame and a refresh for each half of a full ring");
	tap_ok(way.examined == 3 * FRAME_BOUND_MARGIN * 3 * MS + 2 * MS,
			"the picture before, a rest, a frame, and the picture");
	tap_ok(way.shown == 30 * MS &&
					way.shown ==
							fallback_bound_of(PACING_BOUND, 2 * MS,
									20 * MS),
			"it is shown as soon as a fallback");
	tap_ok(way.total == way.taken + way.examined + way.shown, "all together");
	struct way_bound later = way_bound_of(2 * MS, &off, 3 * MS);
	tap_ok(later.shown == 40 * MS && later.total == way.total + 10 * MS,
			"later where a frame begins sooner");
	struct way_bound worse = way_bound_of(30 * MS, &output, 3 * MS);
	tap_ok(worse.shown == 60 * MS && worse.total == 100 * MS + 18 * MS + 30 * MS + 60 * MS,
			"also where a frame takes more than a refresh");
}

/* What --check prints is of the role's own output and picture. */
static void test_table(void) {
	struct output_config outputs[] = {{.refresh_mhz = 50000}, {.refresh_mhz = 100000}};
	struct role_config roles[] = {{.name = "slow", .output = 0}, {.name = "fast", .output = 1}};
	struct cluster_config config = {
			.outputs = outputs, .output_count = 2, .roles = roles, .role_count = 2};
	const struct examiner_cost costs[] = {
			{.least = MS, .most = 5 * MS}, {.least = MS / 2, .most = MS}};
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	if (!tap_ok(file != NULL, "a file")) {
		return;
	}
	way_bound_print(&config, 2 * MS, costs, file);
	fclose(file);
	double parts[2][4] = {0};
	const char *line = strchr(text, '\n');
	for (size_t i = 0; i < 2 && line != NULL; i++, line = strchr(line + 1, '\n')) {
		(void)sscanf(line + 1, "%*s %lf ms %lf ms %lf ms %lf ms", &parts[i][0],
				&parts[i][1], &parts[i][2], &parts[i][3]);
	}
	tap_ok(parts[0][0] == 44 && parts[0][1] == 32 && parts[0][2] == 30 && parts[0][3] == 106,
			"a role on an output of 50 Hz: %.0f ms", parts[0][3]);
	tap_ok(parts[1][0] == 24 && parts[1][1] == 8 && parts[1][2] == 15 && parts[1][3] == 47,
			"a role on one of 100 Hz: %.0f ms", parts[1][3]);
	tap_ok(line != NULL && line[1] == '\0', "and no more");
	free(text);

	config.role_count = 0;
	file = open_memstream(&text, &size);
	way_bound_print(&config, 2 * MS, costs, file);
	fclose(file);
	tap_ok(size == 0, "no table without a role");
	free(text);
}

int main(void) {
	test_steps();
	test_table();
	return tap_finish();
}
