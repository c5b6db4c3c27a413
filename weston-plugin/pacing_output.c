// SPDX-License-Identifier: MIT
#include "pacing_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static const int64_t quiet_first_ns = 10 * SECOND;
static const int64_t quiet_longest_ns = 600 * SECOND;

void pacing_output_init(struct pacing_output *output, double miss_rate, int32_t in_force_ms) {
	memset(output, 0, sizeof(*output));
	struct gid_pacing_config config = {.miss_rate = miss_rate, .fallback_ms = in_force_ms};
	gid_pacing_init(&output->policy, &config);
	output->in_force_ms = in_force_ms;
	output->quiet_ns = quiet_first_ns;
}

void pacing_output_start(struct pacing_output *output) {
	output->begun = false;
}

void pacing_output_begin(struct pacing_output *output, int64_t due_ns) {
	output->begun = true;
	output->drawn = 0;
	output->frame = (struct gid_pacing_frame){
			.due_ns = due_ns,
			.window_ms = output->in_force_ms,
			.done_ns = GID_PACING_NONE,
			.arrival_ns = GID_PACING_NONE,
	};
}

void pacing_output_draw(struct pacing_output *output, int64_t arrival_ns) {
	output->drawn++;
	if (arrival_ns > output->frame.arrival_ns) {
		output->frame.arrival_ns = arrival_ns;
	}
}

void pacing_output_done(struct pacing_output *output, int64_t done_ns) {
	if (done_ns > output->frame.done_ns) {
		output->frame.done_ns = done_ns;
	}
}

/* The cost of a frame depends on its damage, and much damage is followed by more. */
static uint32_t class_of(uint32_t drawn) {
	return drawn < 1 ? 1 : drawn >= GID_PACING_CLASSES ? GID_PACING_CLASSES - 1 : drawn;
}

int32_t pacing_output_finish(struct pacing_output *output, int64_t shown_ns, int64_t refresh_ns) {
	const struct gid_pacing_frame *shown = NULL;
	if (output->begun && output->frame.done_ns != GID_PACING_NONE) {
		output->frame.refresh_ns = refresh_ns;
		output->frame.shown_ns = shown_ns;
		output->frame.content_class = class_of(output->drawn);
		shown = &output->frame;
	}
	output->begun = false;
	output->shown_ns = shown_ns;
	output->judged |= shown != NULL;
	int32_t window_ms = gid_pacing_next(&output->policy, shown);
	if (output->policy.frames < output->said_frames) {
		output->said_frames = output->said_missed = 0; /* the refresh rate changed */
	}
	if (window_ms < output->shortest_ms) {
		output->shortest_ms = window_ms;
	}
	if (window_ms > output->longest_ms) {
		output->longest_ms = window_ms;
	}
	return window_ms;
}

static bool is_news(const struct pacing_output *output) {
	int64_t since = output->shown_ns - output->said_ns;
	if (!output->said) {
		return output->judged;
	}
	if (output->policy.mode != output->said_mode) {
		return since >= output->quiet_ns;
	}
	return since >= quiet_longest_ns && output->policy.frames > output->said_frames;
}

bool pacing_output_report(struct pacing_output *output, bool applied, char *text, size_t size) {
	if (!is_news(output)) {
		return false;
	}
	const struct gid_pacing *policy = &output->policy;
	const char *would = applied ? "" : " would be";
	int length = snprintf(text, size, "repaint window%s %" PRId32 " ms, %s", would,
			policy->window_ms, gid_pacing_mode_name(policy->mode));
	bool counts = output->said && policy->mode != GID_PACING_FREE_RUNNING &&
			policy->frames > output->said_frames;
	if (counts && length > 0 && (size_t)length < size) {
		snprintf(text + length, size - (size_t)length,
				"; since the last report %" PRId32 " to %" PRId32 " ms, %" PRIu64
				" of %" PRIu64 " frames missed their refresh",
				output->shortest_ms, output->longest_ms,
				policy->missed - output->said_missed,
				policy->frames - output->said_frames);
	}
	if (output->said && output->quiet_ns < quiet_longest_ns) {
		output->quiet_ns *= 2;
	}
	output->said = true;
	output->said_mode = policy->mode;
	output->said_ns = output->shown_ns;
	output->said_frames = policy->frames;
	output->said_missed = policy->missed;
	output->shortest_ms = output->longest_ms = policy->window_ms;
	return true;
}
