// SPDX-License-Identifier: MIT
/* What PipeWire is told of a camera: the node's properties, its format, and its buffers. */
#ifndef GID_PIPEWIRE_NODE_PARAMS_H
#define GID_PIPEWIRE_NODE_PARAMS_H

#include <pipewire/pipewire.h>

#include "pipewire_options.h"
#include "slots.h"

#define NODE_POD_BYTES 2048
#define NODE_PARAMS_MAX 3

struct node_params {
	const struct spa_pod *params[NODE_PARAMS_MAX];
	uint32_t count;
	uint8_t bytes[NODE_POD_BYTES]; // in which they are
};

/* `owner`: the name of the domain whose stream it is. NULL: there is no memory. */
struct pw_properties *node_properties(const struct pipewire_options *options, const char *owner);

/* The format of pictures of which readers see so much. */
void node_params_format(struct node_params *params, const struct slots *slots, uint32_t width,
		uint32_t height);

/* Several buffers for each slot, and at least as many as readers want. */
void node_params_buffers(struct node_params *params, const struct slots *slots);

#endif
