// SPDX-License-Identifier: MIT
/**
 * The way of input from the display's panels, by the picture under the finger, to the stream that
 * goes back to its producer.
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
 * To be called before the display starts. Does nothing if the configuration lets nobody take input.
 * What is shown outlives it. `domain` names our own, NULL: $GID_DOMAIN. Returns 0 or -ENOMEM.
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
