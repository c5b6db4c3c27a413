// SPDX-License-Identifier: MIT
/* Receives the input stream of another domain on an sd-event loop, and gives it to a taker. */
#ifndef GID_INPUT_INTAKE_H
#define GID_INPUT_INTAKE_H

#include <input_receiver.h>

#include "input_options.h"

struct intake {
	const struct input_options *options;
	sd_event *event;
	sd_event_source *timer;
	struct taker *taker;
	struct gid_domain *domain;
	struct input_receiver *receiver;
	struct input_receiver_events events;
};

/* Returns 0, or -1 after saying on stderr what is wrong. `taker` outlives it. */
int intake_init(struct intake *intake, const struct input_options *options, struct taker *taker,
		sd_event *event);

/* Releases all that is pressed. To be called after a failed intake_init(), too. */
void intake_finish(struct intake *intake);

#endif
