// SPDX-License-Identifier: MIT
#include "output_resizer.h"

#include <err.h>
#include <gid/gid.h>
#include <input_format.h>
#include <stdlib.h>
#include <string.h>

#include "common/deadline.h"

#define ACCURACY_US 1000
#define FIXED 256 /* units of wl_fixed_t in 1 */

struct mode {
	struct wl_list link;
	struct zwlr_output_mode_v1 *base;
	struct head *head;
	int32_t width, height, refresh; // before the output is turned
};

/* An output. */
struct head {
	struct wl_list link;
	struct zwlr_output_head_v1 *base;
	struct output_resizer *resizer;
	struct wl_list modes;	  // struct mode
	const struct mode *mode;  // in use; NULL: not known
	bool is_ours, is_enabled; // is_ours: it has the size of the sender's window
	int32_t x, y, transform;
	wl_fixed_t scale;
};

struct output_resizer {
	struct zwlr_output_manager_v1 *manager; // NULL: it has ended
	const char *output;
	struct size_limits limits;
	struct wl_list heads;			     // struct head
	uint32_t serial;			     // of the heads as they are now
	bool told;				     // there is a serial
	struct zwlr_output_configuration_v1 *change; // under way; NULL: none is
	int32_t width, height;			     // of the wish, upright; 0: there is none
	wl_fixed_t scale;			     // 0: it stays
	bool is_open;				     // the wish was not asked for yet
	bool was_refused;			     // the last change, which was said
	uint64_t asked;				     // when one was asked for last; 0: never
	sd_event_source *timer;			     // for the next
};

static void resizer_ask(struct output_resizer *resizer);

/* --- outputs ---------------------------------------------------------------------------------- */

static struct head *find_ours(const struct output_resizer *resizer) {
	struct head *head;
	wl_list_for_each(head, &resizer->heads, link) {
		if (head->is_ours) {
			return head;
		}
	}
	return NULL;
}

static void mode_size(void *data, struct zwlr_output_mode_v1 *base, int32_t width, int32_t height) {
	struct mode *mode = data;
	mode->width = width;
	mode->height = height;
}

static void mode_refresh(void *data, struct zwlr_output_mode_v1 *base, int32_t refresh) {
	struct mode *mode = data;
	mode->refresh = refresh;
}

static void mode_preferred(void *data, struct zwlr_output_mode_v1 *base) {
}

static void mode_finished(void *data, struct zwlr_output_mode_v1 *base) {
	struct mode *mode = data;
	if (mode->head->mode == mode) {
		mode->head->mode = NULL;
	}
	wl_list_remove(&mode->link);
	zwlr_output_mode_v1_release(base);
	free(mode);
}

static const struct zwlr_output_mode_v1_listener mode_listener = {
		.size = mode_size,
		.refresh = mode_refresh,
		.preferred = mode_preferred,
		.finished = mode_finished,
};

static void head_mode(void *data, struct zwlr_output_head_v1 *base,
		struct zwlr_output_mode_v1 *mode_base) {
	struct head *head = data;
	struct mode *mode = calloc(1, sizeof(*mode));
	if (mode == NULL) {
		zwlr_output_mode_v1_release(mode_base);
		return;
	}
	mode->base = mode_base;
	mode->head = head;
	wl_list_insert(&head->modes, &mode->link);
	zwlr_output_mode_v1_add_listener(mode_base, &mode_listener, mode);
}

static void head_current_mode(void *data, struct zwlr_output_head_v1 *base,
		struct zwlr_output_mode_v1 *mode_base) {
	struct head *head = data;
	head->mode = mode_base != NULL ? zwlr_output_mode_v1_get_user_data(mode_base) : NULL;
}

/* An output that comes back is asked for the size again. */
static void head_enabled(void *data, struct zwlr_output_head_v1 *base, int32_t enabled) {
	struct head *head = data;
	if (head->is_ours && enabled != 0 && !head->is_enabled) {
		head->resizer->is_open = true;
	}
	head->is_enabled = enabled != 0;
}

static void head_name(void *data, struct zwlr_output_head_v1 *base, const char *name) {
	struct head *head = data;
	head->is_ours = strcmp(name, head->resizer->output) == 0;
}

static void head_position(void *data, struct zwlr_output_head_v1 *base, int32_t x, int32_t y) {
	struct head *head = data;
	head->x = x;
	head->y = y;
}

static void head_transform(void *data, struct zwlr_output_head_v1 *base, int32_t transform) {
	struct head *head = data;
	head->transform = transform;
}

static void head_scale(void *data, struct zwlr_output_head_v1 *base, wl_fixed_t scale) {
	struct head *head = data;
	head->scale = scale;
}

static void head_text(void *data, struct zwlr_output_head_v1 *base, const char *text) {
}

static void head_physical_size(
		void *data, struct zwlr_output_head_v1 *base, int32_t width, int32_t height) {
}

static void head_destroy(struct head *head) {
	struct mode *mode, *next;
	wl_list_for_each_safe(mode, next, &head->modes, link) {
		mode_finished(mode, mode->base);
	}
	wl_list_remove(&head->link);
	zwlr_output_head_v1_release(head->base);
	free(head);
}

static void head_finished(void *data, struct zwlr_output_head_v1 *base) {
	head_destroy(data);
}

static const struct zwlr_output_head_v1_listener head_listener = {
		.name = head_name,
		.description = head_text,
		.physical_size = head_physical_size,
		.mode = head_mode,
		.enabled = head_enabled,
		.current_mode = head_current_mode,
		.position = head_position,
		.transform = head_transform,
		.scale = head_scale,
		.finished = head_finished,
		.make = head_text,
		.model = head_text,
		.serial_number = head_text,
};

static void manager_head(void *data, struct zwlr_output_manager_v1 *manager,
		struct zwlr_output_head_v1 *base) {
	struct output_resizer *resizer = data;
	struct head *head = calloc(1, sizeof(*head));
	if (head == NULL) {
		zwlr_output_head_v1_release(base);
		return;
	}
	*head = (struct head){.base = base, .resizer = resizer, .scale = FIXED};
	wl_list_init(&head->modes);
	wl_list_insert(&resizer->heads, &head->link);
	zwlr_output_head_v1_add_listener(base, &head_listener, head);
}

static void manager_done(void *data, struct zwlr_output_manager_v1 *manager, uint32_t serial) {
	struct output_resizer *resizer = data;
	resizer->serial = serial;
	resizer->told = true;
	resizer_ask(resizer);
}

static void manager_finished(void *data, struct zwlr_output_manager_v1 *manager) {
	struct output_resizer *resizer = data;
	resizer->manager = NULL;
}

static const struct zwlr_output_manager_v1_listener manager_listener = {
		.head = manager_head,
		.done = manager_done,
		.finished = manager_finished,
};

/* --- a change --------------------------------------------------------------------------------- */

static void resizer_forget_change(struct output_resizer *resizer) {
	if (resizer->change != NULL) {
		zwlr_output_configuration_v1_destroy(resizer->change);
		resizer->change = NULL;
	}
}

static void change_succeeded(void *data, struct zwlr_output_configuration_v1 *change) {
	struct output_resizer *resizer = data;
	resizer_forget_change(resizer);
	resizer->was_refused = false;
	resizer_ask(resizer);
}

static void change_failed(void *data, struct zwlr_output_configuration_v1 *change) {
	struct output_resizer *resizer = data;
	resizer_forget_change(resizer);
	if (!resizer->was_refused) {
		warnx("the output %s keeps its size: the compositor refuses the window's",
				resizer->output);
	}
	resizer->was_refused = true;
	resizer_ask(resizer);
}

/* It was made for outputs that have changed since. */
static void change_cancelled(void *data, struct zwlr_output_configuration_v1 *change) {
	struct output_resizer *resizer = data;
	resizer_forget_change(resizer);
	resizer->is_open = true;
	resizer_ask(resizer);
}

static const struct zwlr_output_configuration_v1_listener change_listener = {
		.succeeded = change_succeeded,
		.failed = change_failed,
		.cancelled = change_cancelled,
};

/* In the compositor's coordinates. */
static int32_t to_logical(int32_t pixels, wl_fixed_t scale) {
	return scale > 0 ? (int32_t)((int64_t)pixels * FIXED / scale) : pixels;
}

static bool is_on_side(const struct head *head) {
	return (head->transform & 1) != 0;
}

/* The size of the picture as it is seen. */
static void head_get_size(const struct head *head, int32_t *width, int32_t *height) {
	*width = is_on_side(head) ? head->mode->height : head->mode->width;
	*height = is_on_side(head) ? head->mode->width : head->mode->height;
}

static void change_ours(const struct output_resizer *resizer, const struct head *head,
		struct zwlr_output_configuration_head_v1 *to) {
	bool on_side = is_on_side(head);
	zwlr_output_configuration_head_v1_set_custom_mode(to,
			on_side ? resizer->height : resizer->width,
			on_side ? resizer->width : resizer->height, head->mode->refresh);
	if (resizer->scale != 0) {
		zwlr_output_configuration_head_v1_set_scale(to, resizer->scale);
	}
}

/* What lies to the right of our output, or below it, moves with its edges. */
static void change_other(const struct output_resizer *resizer, const struct head *ours,
		const struct head *head, struct zwlr_output_configuration_head_v1 *to) {
	wl_fixed_t scale = resizer->scale != 0 ? resizer->scale : ours->scale;
	int32_t width, height, x = head->x, y = head->y;
	head_get_size(ours, &width, &height);
	width = to_logical(width, ours->scale);
	height = to_logical(height, ours->scale);
	if (head->x >= ours->x + width) {
		x += to_logical(resizer->width, scale) - width;
	}
	if (head->y >= ours->y + height) {
		y += to_logical(resizer->height, scale) - height;
	}
	if (x != head->x || y != head->y) {
		zwlr_output_configuration_head_v1_set_position(to, x, y);
	}
}

static void resizer_change(struct output_resizer *resizer, const struct head *ours) {
	struct zwlr_output_configuration_v1 *change = zwlr_output_manager_v1_create_configuration(
			resizer->manager, resizer->serial);
	const struct head *head;
	zwlr_output_configuration_v1_add_listener(change, &change_listener, resizer);
	wl_list_for_each(head, &resizer->heads, link) {
		if (!head->is_enabled) {
			zwlr_output_configuration_v1_disable_head(change, head->base);
			continue;
		}
		struct zwlr_output_configuration_head_v1 *to =
				zwlr_output_configuration_v1_enable_head(change, head->base);
		if (head == ours) {
			change_ours(resizer, head, to);
		} else {
			change_other(resizer, ours, head, to);
		}
		zwlr_output_configuration_head_v1_destroy(to);
	}
	zwlr_output_configuration_v1_apply(change);
	resizer->change = change;
}

/* Compositors tell scales rounded. */
static bool has_wish(const struct output_resizer *resizer, const struct head *head) {
	int32_t width, height;
	head_get_size(head, &width, &height);
	return width == resizer->width && height == resizer->height &&
			(resizer->scale == 0 || abs(resizer->scale - head->scale) <= 1);
}

/* To be called after whatever may let the wish be asked for now. */
static void resizer_ask(struct output_resizer *resizer) {
	const struct head *ours = find_ours(resizer);
	uint64_t now = gid_clock_now();
	if (!resizer->is_open || resizer->width == 0 || resizer->change != NULL ||
			resizer->manager == NULL || !resizer->told || ours == NULL ||
			!ours->is_enabled || ours->mode == NULL) {
		return;
	}
	if (resizer->asked != 0 && now - resizer->asked < SIZE_INTERVAL_NS) {
		deadline_set(resizer->timer, resizer->asked + SIZE_INTERVAL_NS);
		return;
	}
	resizer->is_open = false;
	if (!has_wish(resizer, ours)) {
		resizer->asked = now;
		resizer_change(resizer, ours);
	}
}

static int handle_timer(sd_event_source *source, uint64_t time, void *data) {
	resizer_ask(data);
	return 0;
}

void output_resizer_wish(
		struct output_resizer *resizer, uint32_t width, uint32_t height, uint32_t scale) {
	const struct size_limits *limits = &resizer->limits;
	resizer->width = size_limits_bound(width, limits->width, limits->step);
	resizer->height = size_limits_bound(height, limits->height, limits->step);
	resizer->scale = (wl_fixed_t)((scale * FIXED + INPUT_SCALE_ONE / 2) / INPUT_SCALE_ONE);
	resizer->is_open = true;
	resizer_ask(resizer);
}

/* --- life ------------------------------------------------------------------------------------- */

struct output_resizer *output_resizer_create(struct zwlr_output_manager_v1 *manager,
		const char *output, struct size_limits limits, sd_event *event) {
	struct output_resizer *resizer = calloc(1, sizeof(*resizer));
	if (resizer == NULL) {
		return NULL;
	}
	*resizer = (struct output_resizer){.manager = manager, .output = output, .limits = limits};
	wl_list_init(&resizer->heads);
	int result = sd_event_add_time_relative(event, &resizer->timer, CLOCK_MONOTONIC, 0,
			ACCURACY_US, handle_timer, resizer);
	if (result < 0) {
		warnx("event loop: %s", strerror(-result));
		free(resizer);
		return NULL;
	}
	zwlr_output_manager_v1_add_listener(manager, &manager_listener, resizer);
	return resizer;
}

void output_resizer_destroy(struct output_resizer *resizer) {
	struct head *head, *next;
	if (resizer == NULL) {
		return;
	}
	resizer_forget_change(resizer);
	wl_list_for_each_safe(head, next, &resizer->heads, link) {
		head_destroy(head);
	}
	sd_event_source_disable_unref(resizer->timer);
	free(resizer);
}
