// SPDX-License-Identifier: MIT
/** One section [gid-output] of weston.ini: an output whose pictures are a stream. */
#ifndef GID_WESTON_OUTPUT_CONFIG_H
#define GID_WESTON_OUTPUT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "client_list.h"
#include "config_place.h"
#include "input_source.h"

#define OUTPUT_SCALE_MAX 8

struct output_config {
	struct config_place place;
	char *name;   /* of the output */
	char *stream; /* of our domain */
	struct input_source input;
	bool is_mirror;	       /* the output is Weston's own; else the module makes it */
	int32_t width, height; /* in pixels */
	int32_t scale;
	bool scale_follows; /* that of the screen of who uses it, where that says how large it is */
	uint32_t refresh_mhz; /* 0: that of the reader's display */
	/* The largest that whose input it takes can have it, in pixels; 0: it stays as it is. */
	int32_t width_max, height_max;
	struct client_list lends; /* programs whose pictures are lent, and not drawn */
};

/* Returns 0 or -errno, after saying in the log what is wrong. To be finished in both cases. */
int output_config_read(struct output_config *config, const struct config_place *place);
void output_config_finish(struct output_config *config);

#endif
