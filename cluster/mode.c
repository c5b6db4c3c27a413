// SPDX-License-Identifier: MIT
#include "mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <wlr/backend/headless.h>
#include <wlr/util/log.h>

static struct wlr_output_mode *mode_choose(
		const struct wlr_output_mode *wanted, struct wl_list *modes) {
	struct wlr_output_mode *mode, *nearest = NULL;
	wl_list_for_each(mode, modes, link) {
		if (mode->width != wanted->width || mode->height != wanted->height) {
			continue;
		}
		if (nearest == NULL ||
				abs(mode->refresh - wanted->refresh) <
						abs(nearest->refresh - wanted->refresh)) {
			nearest = mode;
		}
	}
	return nearest;
}

/* What the configuration leaves open is as in the preferred mode. */
static struct wlr_output_mode mode_wanted(
		const struct output_config *config, const struct wlr_output_mode *preferred) {
	static const struct wlr_output_mode otherwise = {.width = OUTPUT_WIDTH,
			.height = OUTPUT_HEIGHT,
			.refresh = OUTPUT_REFRESH_MHZ};
	struct wlr_output_mode wanted = preferred != NULL ? *preferred : otherwise;
	if (config->width > 0) {
		wanted.width = (int32_t)config->width;
	}
	if (config->height > 0) {
		wanted.height = (int32_t)config->height;
	}
	if (config->refresh_mhz > 0) {
		wanted.refresh = (int32_t)config->refresh_mhz;
	}
	return wanted;
}

bool mode_set(struct wlr_output *output, const struct output_config *config) {
	struct wlr_output_mode wanted = mode_wanted(config, wlr_output_preferred_mode(output));
	struct wlr_output_mode *mode = mode_choose(&wanted, &output->modes);
	struct wlr_output_state state;
	wlr_output_state_init(&state);
	wlr_output_state_set_enabled(&state, true);
	if (mode != NULL) {
		wlr_output_state_set_mode(&state, mode);
	} else {
		if (!wl_list_empty(&output->modes)) {
			wlr_log(WLR_INFO, "output %s has no mode of %dx%d: asking for it anyway",
					output->name, wanted.width, wanted.height);
		}
		/* A window has the refreshes of the compositor that it is in, and takes no others.
		 */
		bool window = wl_list_empty(&output->modes) && !wlr_output_is_headless(output);
		wlr_output_state_set_custom_mode(
				&state, wanted.width, wanted.height, window ? 0 : wanted.refresh);
	}
	bool done = wlr_output_commit_state(output, &state);
	wlr_output_state_finish(&state);
	if (done) {
		wlr_log(WLR_INFO, "output %s: %dx%d at %.3f Hz", output->name, output->width,
				output->height, output->refresh / 1000.0);
	} else {
		wlr_log(WLR_ERROR,
				"output %s refuses %dx%d at %.3f Hz: either it cannot, or another "
				"program has the screen",
				output->name, wanted.width, wanted.height, wanted.refresh / 1000.0);
	}
	return done;
}
