// SPDX-License-Identifier: MIT
#include "shown.h"

static struct shown_mark *find_mark(
		const struct shown_buffers *shown, const struct weston_view *view) {
	const struct weston_buffer *buffer = view->surface->buffer_ref.buffer;
	return buffer != NULL && buffer->resource != NULL ? shown->find_mark(buffer->resource)
							  : NULL;
}

static void look(struct shown_buffers *shown) {
	struct weston_view *view;
	wl_list_for_each(view, &shown->compositor->view_list, link) {
		struct shown_mark *mark = find_mark(shown, view);
		if (mark != NULL) {
			mark->seen = shown->turn;
		}
	}
}

/* As a commit with damage: GL also uploads the content again. */
static void damage(struct shown_buffers *shown) {
	struct weston_view *view;
	wl_list_for_each(view, &shown->compositor->view_list, link) {
		const struct shown_mark *mark = find_mark(shown, view);
		struct weston_surface *surface = view->surface;
		if (mark != NULL && mark->changed == shown->turn) {
			pixman_region32_union_rect(&surface->damage, &surface->damage, 0, 0,
					(unsigned int)surface->width,
					(unsigned int)surface->height);
			weston_compositor_schedule_repaint(shown->compositor);
		}
	}
}

static void handle_turn_end(void *data) {
	struct shown_buffers *shown = data;
	shown->turn_end = NULL; /* an idle source runs once */
	if (shown->has_changed) {
		damage(shown);
	}
	shown->turn++;
	shown->has_looked = shown->has_changed = false;
}

/* Without memory for the idle source, each call is a turn of its own. */
static void begin_turn(struct shown_buffers *shown) {
	if (shown->turn_end == NULL) {
		shown->turn_end = wl_event_loop_add_idle(
				wl_display_get_event_loop(shown->compositor->wl_display),
				handle_turn_end, shown);
	}
}

bool shown_anywhere(struct shown_buffers *shown, const struct shown_mark *mark) {
	begin_turn(shown);
	if (!shown->has_looked) {
		look(shown);
	}
	bool is_shown = mark->seen == shown->turn;
	if (shown->turn_end != NULL) {
		shown->has_looked = true;
	} else {
		shown->turn++;
	}
	return is_shown;
}

void shown_damage(struct shown_buffers *shown, struct shown_mark *mark) {
	begin_turn(shown);
	mark->changed = shown->turn;
	shown->has_changed = true;
	if (shown->turn_end == NULL) {
		handle_turn_end(shown);
	}
}

void shown_init(struct shown_buffers *shown, struct weston_compositor *compositor,
		struct shown_mark *(*find)(struct wl_resource *buffer)) {
	*shown = (struct shown_buffers){.compositor = compositor, .find_mark = find, .turn = 1};
}

void shown_finish(struct shown_buffers *shown) {
	if (shown->turn_end != NULL) {
		wl_event_source_remove(shown->turn_end);
		shown->turn_end = NULL;
	}
}
