// SPDX-License-Identifier: MIT
/*
 * Gives an output of a compositor of wlroots the size that the sender's window has, by
 * wlr-output-management. Each size is asked for once: who else changes the output may do so.
 */
#ifndef GID_INPUT_OUTPUT_RESIZER_H
#define GID_INPUT_OUTPUT_RESIZER_H

#include <size_limits.h>
#include <systemd/sd-event.h>

#include "wlr-output-management-unstable-v1-client-protocol.h"

struct output_resizer;

/*
 * `manager` has just been bound: no event of it was dispatched. It and `output`, which is the name
 * of the output, must outlive the resizer. Returns NULL after saying on stderr what is wrong.
 */
struct output_resizer *output_resizer_create(struct zwlr_output_manager_v1 *manager,
		const char *output, struct size_limits limits, sd_event *event);

/* To be called before the connection ends. Accepts NULL. */
void output_resizer_destroy(struct output_resizer *resizer);

/*
 * The sender wishes for an upright picture of this size in pixels, for a screen of this scale in
 * 120ths; 0: unknown, it stays. Only the last wish counts, also for an output that comes later.
 */
void output_resizer_wish(
		struct output_resizer *resizer, uint32_t width, uint32_t height, uint32_t scale);

#endif
