// SPDX-License-Identifier: MIT
#include "work_bound.h"

#include <errno.h>
#include <stdlib.h>

#include "frame_bound.h"

struct examiner_rules work_rules_of_role(const struct role_config *role) {
	return (struct examiner_rules){
			.fit = FIT_EXACT,
			.accepted = &role->accepted,
			.protection = role->protection,
	};
}

struct examiner_rules work_rules_of_layer(const struct layer_config *layer) {
	return (struct examiner_rules){.fit = layer->fit, .accepted = &layer->accepted};
}

bool work_bound_has_layer(const struct layer_config *layer) {
	return layer->domain == NULL;
}

struct wanted {
	uint64_t ns;
	size_t index;
};

static int compare_wanted(const void *a, const void *b) {
	const struct wanted *x = a, *y = b;
	return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns)
			      : (x->index > y->index) - (x->index < y->index);
}

int work_bound_grant(const struct examiner_cost *costs, size_t count, uint64_t refresh_ns,
		int below, struct work_grant *grants) {
	uint64_t left = refresh_ns / 2;
	struct wanted *wanted = calloc(count + 1, sizeof(*wanted));
	size_t asking = 0, granted = 0;
	if (wanted == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		grants[i] = (struct work_grant){0};
		if (costs[i].least > 0) {
			wanted[asking++] = (struct wanted){FRAME_BOUND_MARGIN * costs[i].least, i};
		}
	}
	qsort(wanted, asking, sizeof(*wanted), compare_wanted);
	while (granted < asking && wanted[granted].ns <= left && below > 1) {
		left -= wanted[granted].ns;
		grants[wanted[granted].index].ns = wanted[granted].ns;
		granted++;
	}
	for (size_t i = 0; i < granted; i++) {
		int rank = (int)(granted - i);
		grants[wanted[i].index].priority = rank < below ? rank : below - 1;
	}
	free(wanted);
	return 0;
}

/* --- printing --------------------------------------------------------------------------------- */

struct row {
	const char *kind, *name;
	struct examiner_rules rules;
	const struct gid_box *box;
	bool may_be_before;
};

/* In the order of the table: roles, then layers. */
static void fill_rows(const struct cluster_config *config, struct row *rows) {
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		*rows++ = (struct row){
				"role", role->name, work_rules_of_role(role), &role->box, true};
	}
	for (size_t i = 0; i < config->layer_count; i++) {
		const struct layer_config *layer = &config->layers[i];
		*rows++ = (struct row){"layer", layer->name, work_rules_of_layer(layer),
				&layer->box, work_bound_has_layer(layer)};
	}
}

static void print_row(const struct row *row, const struct examiner_cost *cost,
		const struct work_grant *grant, FILE *file) {
	char pixels[24], format[5], before[24] = "as others";
	accepted_format_name(cost->dearest, format);
	snprintf(pixels, sizeof(pixels), "%dx%d", row->box->width, row->box->height);
	if (grant->ns > 0) {
		snprintf(before, sizeof(before), "%.2f ms", (double)grant->ns / 1e6);
	}
	fprintf(file, "%-5s %-16s %11s %8s %5.2f ms %13s\n", row->kind, row->name, pixels, format,
			(double)cost->most / 1e6, before);
}

static int measure_rows(const struct row *rows, size_t count, struct examiner_cost *costs) {
	int error = 0;
	for (size_t i = 0; i < count && error == 0; i++) {
		error = examiner_measure_cost(&rows[i].rules, (uint32_t)rows[i].box->width,
				(uint32_t)rows[i].box->height, &costs[i]);
	}
	return error;
}

int work_bound_print(const struct cluster_config *config, int priority, struct examiner_cost *costs,
		FILE *file) {
	size_t count = config->role_count + config->layer_count;
	struct row *rows = calloc(count + 1, sizeof(*rows));
	struct examiner_cost *before = calloc(count + 1, sizeof(*before));
	struct work_grant *grants = calloc(count + 1, sizeof(*grants));
	int error = -ENOMEM;
	if (rows == NULL || before == NULL || grants == NULL) {
		goto done;
	}
	fill_rows(config, rows);
	error = measure_rows(rows, count, costs);
	for (size_t i = 0; i < count; i++) {
		before[i] = rows[i].may_be_before ? costs[i] : before[i];
	}
	if (error == 0) {
		error = work_bound_grant(
				before, count, frame_bound_refresh(config), priority, grants);
	}
	if (error < 0) {
		goto done;
	}
	fprintf(file, "%-22s %11s %8s %8s %13s\n", "stream", "pixels", "dearest", "to read",
			"before others");
	for (size_t i = 0; i < count; i++) {
		print_row(&rows[i], &costs[i], &grants[i], file);
	}

done:
	free(grants);
	free(before);
	free(rows);
	return error;
}
