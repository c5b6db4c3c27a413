// SPDX-License-Identifier: MIT
#include "read_cost.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "examiner.h"

/* Of a picture: what each pixel takes does not depend on how many there are. */
#define SIZE 256u
#define RUNS 3 /* each by an examiner that has seen nothing yet */

static double own_ns(void) {
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* In ns for a pixel, or -ENOMEM. */
static double measure(const struct examiner_rules *rules, uint32_t fourcc, uint32_t transform) {
	struct picture_pool pool;
	struct examiner examiner = {.rules = *rules};
	struct examination of = {.frame.transform = transform};
	gid_layout_init(&of.slab.layout, fourcc, SIZE, SIZE, 4);
	of.slab.slot_size = gid_layout_size(&of.slab.layout);
	void *slot = calloc(1, of.slab.slot_size);
	double spent = -ENOMEM;
	of.slot = slot;
	if (slot != NULL && picture_pool_init(&pool, SIZE, SIZE) == 0) {
		of.picture = picture_pool_take(&pool);
		double begin = own_ns();
		examiner_examine(&examiner, &of);
		spent = (own_ns() - begin) / (SIZE * SIZE);
		own_picture_unref(of.picture);
		picture_pool_finish(&pool);
	}
	examiner_finish(&examiner);
	free(slot);
	return spent;
}

/* The quickest of some: time in which a hypervisor ran others may be said to be ours. */
static double measure_runs(
		const struct examiner_rules *rules, uint32_t fourcc, uint32_t transform) {
	double least = measure(rules, fourcc, transform);
	for (int i = 1; i < RUNS && least >= 0; i++) {
		double spent = measure(rules, fourcc, transform);
		least = spent < least ? spent : least;
	}
	return least;
}

/* The dearest of all that the rules take. A picture that is turned by 90 costs most. */
static double measure_all(const struct examiner_rules *rules, uint32_t *dearest) {
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
		double spent = measure_runs(rules, format->fourcc, transform);
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

static int print_stream(FILE *file, const char *kind, const char *name, const struct gid_box *box,
		const struct examiner_rules *rules) {
	uint32_t dearest = 0;
	char pixels[24], format[5];
	double spent = measure_all(rules, &dearest);
	if (spent < 0) {
		return (int)spent;
	}
	accepted_format_name(dearest, format);
	snprintf(pixels, sizeof(pixels), "%dx%d", box->width, box->height);
	fprintf(file, "%-5s %-16s %11s %8s %5.2f ms\n", kind, name, pixels, format,
			spent * box->width * box->height / 1e6);
	return 0;
}

int read_cost_print(const struct cluster_config *config, FILE *file) {
	int error = 0;
	fprintf(file, "%-22s %11s %8s %8s\n", "stream", "pixels", "dearest", "to read");
	for (size_t i = 0; i < config->layer_count && error == 0; i++) {
		const struct layer_config *layer = &config->layers[i];
		error = print_stream(file, "layer", layer->name, &layer->box,
				&(struct examiner_rules){
						.fit = layer->fit, .accepted = &layer->accepted});
	}
	for (size_t i = 0; i < config->role_count && error == 0; i++) {
		const struct role_config *role = &config->roles[i];
		error = print_stream(file, "role", role->name, &role->box,
				&(struct examiner_rules){.fit = FIT_EXACT,
						.accepted = &role->accepted});
	}
	return error;
}
