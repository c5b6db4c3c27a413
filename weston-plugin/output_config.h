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
	bool is_mirror;	       /* one of Weston's own outputs; else the module creates it */
	int32_t width, height; /* in pixels */
	int32_t scale;
	bool scale_follows;   /* takes the scale of the user's screen, if that is known */
	uint32_t refresh_mhz; /* 0: as the consumer's display */
	/*
	 * The largest size in pixels that the sender of the input may request; 0: the size is
	 * fixed.
	 */
	int32_t width_max, height_max;
	struct client_list lends; /* programs whose buffers are lent instead of drawn */
};

/* Returns 0; or -errno, after logging the mistake. Call output_config_finish() in both cases. */
int output_config_read(struct output_config *config, const struct config_place *place);
void output_config_finish(struct output_config *config);

#endif
