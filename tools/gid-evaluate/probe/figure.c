// SPDX-License-Identifier: MIT
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe.h"

static int printed;

void figure_init(struct figure *figure, const char *unit, size_t room) {
	*figure = (struct figure){.unit = unit, .room = room};
	figure->samples = calloc(room, sizeof(*figure->samples));
	if (figure->samples == NULL) {
		err(1, "%zu samples", room);
	}
}

void figure_finish(struct figure *figure) {
	free(figure->samples);
	figure->samples = NULL;
}

void figure_add(struct figure *figure, double sample) {
	if (figure->count < figure->room) {
		figure->samples[figure->count++] = sample;
	}
}

static int compare(const void *one, const void *other) {
	double a = *(const double *)one, b = *(const double *)other;
	return (a > b) - (a < b);
}

void probe_begin(void) {
	printf("{\"figures\": [");
}

void probe_end(void) {
	printf("\n]}\n");
}

void probe_print(const char *name, struct figure *figure) {
	const double *s = figure->samples;
	size_t n = figure->count;
	if (n == 0) {
		errx(1, "%s: nothing was measured", name);
	}
	qsort(figure->samples, n, sizeof(*figure->samples), compare);
	printf("%s\n{\"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\", \"n\": %zu, "
	       "\"spread\": [%.4f, %.4f], \"p99\": %.4f}",
			printed++ > 0 ? "," : "", name, (s[(n - 1) / 2] + s[n / 2]) / 2,
			figure->unit, n, s[0], s[n - 1], s[(n - 1) * 99 / 100]);
}
