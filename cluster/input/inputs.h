// SPDX-License-Identifier: MIT
/**
 * What people do on the display, for those whose pictures they do it on: the panels, whose picture
 * is under the finger, and the streams by which it goes back.
 */
#ifndef CLUSTER_INPUTS_H
#define CLUSTER_INPUTS_H

#include "input_outlet.h"
#include "layer.h"
#include "panels.h"
#include "role_view.h"

/* What is shown: the later ones are above. */
struct inputs_shown {
	const struct role_view *roles;
	size_t role_count;
	const struct layer *layers;
	size_t layer_count;
};

struct inputs {
	struct inputs_shown shown;
	struct panels panels;
	struct input_router router;
	struct input_outlet *outlet; /* NULL: nobody takes input */
};

/*
 * Does nothing where the configuration says so of nobody. Before the display starts. What is shown
 * outlives it. `domain` names our own, NULL: $GID_DOMAIN. Returns 0 or -ENOMEM.
 */
int inputs_init(struct inputs *inputs, const struct inputs_shown *shown, struct display *display,
		const char *domain);

/* Takes zeroes. */
void inputs_finish(struct inputs *inputs);

/* Time passed, about a refresh. */
void inputs_tick(struct inputs *inputs);

/* Of a role, or of a layer, by its place in what is shown; zeroes where it takes none. */
struct input_outlet_stats inputs_of_role(const struct inputs *inputs, size_t role);
struct input_outlet_stats inputs_of_layer(const struct inputs *inputs, size_t layer);

#endif
