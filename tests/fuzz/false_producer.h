// SPDX-License-Identifier: MIT
/**
 * Streams as libgid gives them to a compositor, on false_domain.h: gidd lets it publish or not,
 * consumers come, take, leave and hold, all as the input says.
 */
#ifndef FUZZ_FALSE_PRODUCER_H
#define FUZZ_FALSE_PRODUCER_H

#include <gid/stream.h>

#include "fuzz.h"

/* All streams are published, with a consumer each. */
void false_producer_begin(void);

/* Something happens to one of the streams. */
void false_producer_act(struct input *input);

void false_producer_demand_empty(void);

#endif
