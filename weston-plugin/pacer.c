// SPDX-License-Identifier: MIT
/*
 * Weston has one repaint window for all outputs. It reads the window when it computes the next
 * repaint of an output, right after writing core_repaint_finished of that output to its timeline.
 * So a reader of the timeline in the same process can set it for each output and each frame.
 */
#include "pacer.h"

#include <errno.h>
#include <libweston/version.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arrivals.h"
#include "config_place.h"
#include "pacing_output.h"
#include "timeline_tap.h"

#define SECOND INT64_C(1000000000)

struct pacer {
	struct weston_compositor *compositor;
	bool applies; /* sets the window, and does not only observe */
	double miss_rate;
	int32_t own_window_ms; /* of Weston's configuration */
	struct timeline_tap *tap;
	struct wl_list outputs; /* struct paced_output::link */
	struct arrivals arrivals;
};

struct paced_output {
	struct pacer *pacer;
	struct wl_list link;
	struct weston_output *output;
	struct wl_listener destroyed;
	uint32_t id; /* in the timeline */
	struct pacing_output state;
};

static int64_t clock_ns(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

/* --- outputs --------------------------------------------------------------------------------- */

static void paced_output_destroy(struct paced_output *paced) {
	wl_list_remove(&paced->destroyed.link);
	wl_list_remove(&paced->link);
	free(paced);
}

static void handle_output_destroyed(struct wl_listener *listener, void *data) {
	struct paced_output *paced = wl_container_of(listener, paced, destroyed);
	paced_output_destroy(paced);
}

static struct paced_output *find_output(struct pacer *pacer, uint32_t id) {
	struct paced_output *paced;
	wl_list_for_each(paced, &pacer->outputs, link) {
		if (paced->id == id) {
			return paced;
		}
	}
	return NULL;
}

static struct weston_output *output_by_name(
		struct weston_compositor *compositor, const char *name) {
	struct weston_output *output;
	wl_list_for_each(output, &compositor->output_list, link) {
		if (output->name != NULL && strcmp(output->name, name) == 0) {
			return output;
		}
	}
	return NULL;
}

/* Without memory, or with a name that is cut off, the output keeps Weston's own window. */
static void declare_output(struct pacer *pacer, uint32_t id, const char *name) {
	struct weston_output *output = output_by_name(pacer->compositor, name);
	if (output == NULL || find_output(pacer, id) != NULL) {
		return;
	}
	struct paced_output *paced = calloc(1, sizeof(*paced));
	if (paced == NULL) {
		return;
	}
	paced->pacer = pacer;
	paced->output = output;
	paced->id = id;
	paced->destroyed.notify = handle_output_destroyed;
	wl_signal_add(&output->destroy_signal, &paced->destroyed);
	wl_list_insert(&pacer->outputs, &paced->link);
	pacing_output_init(&paced->state, pacer->miss_rate, pacer->own_window_ms);
}

/* --- the timeline ----------------------------------------------------------------------------- */

/* The refresh that the current repaint is meant for. */
static int64_t due_of(const struct paced_output *paced) {
	const struct weston_compositor *compositor = paced->output->compositor;
#if WESTON_VERSION_MAJOR >= 15
	const struct timespec *due = &paced->output->next_present;
	int64_t later_ns = 0;
#else
	const struct timespec *due = &paced->output->next_repaint;
	int64_t later_ns = paced->state.in_force_ms * (SECOND / 1000);
#endif
	int64_t due_ns = due->tv_sec * SECOND + due->tv_nsec + later_ns;
	if (compositor->presentation_clock != CLOCK_MONOTONIC) {
		due_ns += clock_ns(CLOCK_MONOTONIC) - clock_ns(compositor->presentation_clock);
	}
	return due_ns;
}

static int64_t refresh_of(const struct weston_output *output) {
	int32_t millihertz = output->current_mode != NULL ? output->current_mode->refresh : 0;
	return millihertz > 0 ? 1000 * SECOND / millihertz : 0;
}

static void finish(struct paced_output *paced, int64_t shown_ns) {
	struct pacer *pacer = paced->pacer;
	struct pacing_output *state = &paced->state;
	int32_t window_ms = pacing_output_finish(state, shown_ns, refresh_of(paced->output));
	if (pacer->applies) {
		if (state->policy.mode == GID_PACING_UNSURE) {
			window_ms = pacer->own_window_ms;
		}
		pacer->compositor->repaint_msec = state->in_force_ms = window_ms;
	}
	char text[256];
	if (pacing_output_report(state, pacer->applies, text, sizeof(text))) {
		weston_log("gid: pacing: %s: %s\n", paced->output->name, text);
	}
}

static void output_point(struct pacer *pacer, const struct timeline_line *line) {
	struct paced_output *paced = find_output(pacer, line->output);
	if (paced == NULL) {
		if (pacer->applies) {
			pacer->compositor->repaint_msec = pacer->own_window_ms;
		}
		return;
	}
	struct pacing_output *state = &paced->state;
	switch (line->kind) {
	case TIMELINE_ENTER_LOOP:
		pacing_output_start(state);
		break;
	case TIMELINE_BEGIN:
		pacing_output_begin(state, due_of(paced));
		break;
	case TIMELINE_FLUSH:
		pacing_output_draw(state,
				arrivals_drawn(&pacer->arrivals, line->surface, line->time_ns,
						state->shown_ns));
		break;
	case TIMELINE_POSTED:
		pacing_output_done(state, line->time_ns);
		break;
	case TIMELINE_GPU_END:
		pacing_output_done(state, line->stamp_ns);
		break;
	case TIMELINE_FINISHED:
		finish(paced, line->stamp_ns);
		break;
	default:
		break;
	}
}

static void handle_line(void *data, const struct timeline_line *line) {
	struct pacer *pacer = data;
	switch (line->kind) {
	case TIMELINE_OUTPUT:
		declare_output(pacer, line->output, line->name);
		break;
	case TIMELINE_COMMIT:
		arrivals_commit(&pacer->arrivals, line->surface, line->time_ns);
		break;
	default:
		output_point(pacer, line);
		break;
	}
}

/* --- configuration, create and destroy -------------------------------------------------------- */

enum setting { OFF, OBSERVE, ON };

static int read_setting(const struct config_place *place, enum setting *setting) {
	static const char *const names[] = {[OFF] = "off", [OBSERVE] = "observe", [ON] = "on"};
	char *text = config_get_text(place, "pacing");
	size_t i = OFF; /* the default */
	while (text != NULL && i < sizeof(names) / sizeof(names[0]) &&
			strcmp(text, names[i]) != 0) {
		i++;
	}
	*setting = (enum setting)i;
	int result = 0;
	if (i == sizeof(names) / sizeof(names[0])) {
		result = config_mistake(
				place, "pacing", "pacing=%s: must be off, observe or on", text);
	}
	free(text);
	return result;
}

static int read_miss_rate(const struct config_place *place, double *rate) {
	bool right = weston_config_section_get_double(
				     place->section, "pacing-miss-rate", rate, 0.001) == 0 ||
			errno == ENOENT;
	if (right && *rate >= 0.00001 && *rate <= 0.1) {
		return 0;
	}
	return config_mistake(
			place, "pacing-miss-rate", "pacing-miss-rate: must be from 0.00001 to 0.1");
}

int pacer_create(struct weston_compositor *compositor, struct pacer **made) {
	struct weston_config *config = wet_get_config(compositor);
	struct config_place place = {config, weston_config_get_section(config, "gid", NULL, NULL)};
	enum setting setting;
	double miss_rate;
	*made = NULL;
	if (read_setting(&place, &setting) != 0 || read_miss_rate(&place, &miss_rate) != 0) {
		return -1;
	}
	if (setting == OFF) {
		return 0;
	}
	struct pacer *pacer = calloc(1, sizeof(*pacer));
	if (pacer == NULL) {
		return -1;
	}
	pacer->compositor = compositor;
	pacer->applies = setting == ON;
	pacer->miss_rate = miss_rate;
	pacer->own_window_ms = compositor->repaint_msec;
	wl_list_init(&pacer->outputs);
	pacer->tap = timeline_tap_create(compositor, handle_line, pacer);
	if (pacer->tap == NULL) {
		free(pacer);
		return -1;
	}
	weston_log("gid: pacing: %s, with %g of 1000 frames late at most\n",
			pacer->applies ? "on" : "observing", miss_rate * 1000);
	*made = pacer;
	return 0;
}

void pacer_destroy(struct pacer *pacer) {
	if (pacer == NULL) {
		return;
	}
	timeline_tap_destroy(pacer->tap);
	struct paced_output *paced, *next;
	wl_list_for_each_safe(paced, next, &pacer->outputs, link) {
		paced_output_destroy(paced);
	}
	pacer->compositor->repaint_msec = pacer->own_window_ms;
	free(pacer);
}
