// SPDX-License-Identifier: MIT
#include "cursor_stream.h"

#include <cursor_note.h>
#include <stdio.h>
#include <stdlib.h>

#include "forward.h"
#include "libweston_exports.h"
#include "pointer_lock.h"

#define HEARTBEAT_MS 500
#define LEASE_MS 1000
/* The interval of cursor pictures: a client may set cursors as often as it likes. */
#define INTERVAL_NS 8000000ull
#define MS_NS 1000000ull

struct cursor_stream {
	struct weston_compositor *compositor;
	enum cursor_place place;
	struct safety_config config; /* of the stream */
	struct forward *forward;
	struct weston_seat *seat; /* NULL: none */
	struct wl_list surfaces;  /* struct watched: any of them may become a cursor */
	struct wl_listener create_surface;
	struct weston_view *sprite; /* the cursor's view, as last seen; NULL: none */
	struct wl_listener sprite_destroy;
	struct wl_event_source *timer; /* sends pictures and notes */
	struct wl_event_source *seen;  /* the idle source of handle_seen(), or NULL */
	bool changed;		       /* since the last picture that was sent */
	uint64_t sent;		       /* when a picture was last sent */
	struct cursor_note said;
};

/* A surface of a client, which may become a cursor. */
struct watched {
	struct wl_list link;
	struct cursor_stream *cursor;
	struct weston_surface *surface;
	struct wl_listener commit, map, destroy;
};

static const struct weston_pointer *cursor_pointer(const struct cursor_stream *cursor) {
	return cursor->seat != NULL ? weston_seat_get_pointer(cursor->seat) : NULL;
}

static struct weston_view *cursor_sprite(const struct cursor_stream *cursor) {
	const struct weston_pointer *pointer = cursor_pointer(cursor);
	return pointer != NULL ? pointer->sprite : NULL;
}

/* Converts to pixels of the picture. Its client chooses both factors without limit. */
static int32_t place_in_picture(double place, int32_t scale) {
	double at = place * scale;
	return at < INT16_MIN ? INT16_MIN : at > INT16_MAX ? INT16_MAX : (int32_t)at;
}

/* The note of the cursor as it is now. */
static struct cursor_note cursor_note(const struct cursor_stream *cursor) {
	const struct weston_pointer *pointer = cursor_pointer(cursor);
	struct cursor_note note = {.locked = pointer != NULL && pointer_is_locked(pointer)};
	if (pointer != NULL && pointer->sprite != NULL) {
		int32_t scale = pointer->sprite->surface->buffer_viewport.buffer.scale;
		note.x = place_in_picture(pointer->hotspot.c.x, scale);
		note.y = place_in_picture(pointer->hotspot.c.y, scale);
	}
	return note;
}

/* --- on Weston's own outputs ------------------------------------------------------------------ */

/*
 * Weston draws the view if it is in a layer. It puts a cursor into its layer once, when that is
 * first mapped.
 */
static void cursor_show_here(const struct cursor_stream *cursor) {
	struct weston_view *sprite = cursor->sprite;
	bool there = forward_is_read(cursor->forward) && !forward_is_refused(cursor->forward);
	bool here = cursor->place == CURSOR_IN_PICTURE && !there;
	if (sprite == NULL || sprite->surface->buffer_ref.buffer == NULL ||
			here == (sprite->layer_link.layer != NULL)) {
		return;
	}
	weston_view_move_to_layer(
			sprite, here ? &cursor->compositor->cursor_layer.view_list : NULL);
	weston_compositor_damage_all(cursor->compositor);
}

static void handle_seen(void *data) {
	struct cursor_stream *cursor = data;
	cursor->seen = NULL;
	cursor_show_here(cursor);
}

/* Runs when Weston has handled the commit, and before it repaints. */
static void cursor_show_here_soon(struct cursor_stream *cursor) {
	struct wl_display *display = cursor->compositor->wl_display;
	if (cursor->seen == NULL) {
		cursor->seen = wl_event_loop_add_idle(
				wl_display_get_event_loop(display), handle_seen, cursor);
	}
}

static void cursor_send_later(struct cursor_stream *cursor) {
	uint64_t passed = gid_clock_now() - cursor->sent;
	int ms = passed < INTERVAL_NS ? (int)((INTERVAL_NS - passed) / MS_NS) + 1 : 1;
	wl_event_source_timer_update(cursor->timer, ms);
}

static void cursor_see_sprite(struct cursor_stream *cursor) {
	struct weston_view *sprite = cursor_sprite(cursor);
	if (sprite != cursor->sprite) {
		wl_list_remove(&cursor->sprite_destroy.link);
		wl_list_init(&cursor->sprite_destroy.link);
		cursor->sprite = sprite;
		if (sprite != NULL) {
			wl_signal_add(&sprite->destroy_signal, &cursor->sprite_destroy);
		}
	}
	cursor_show_here_soon(cursor);
	cursor->changed = true;
	cursor_send_later(cursor);
}

/* --- its picture ------------------------------------------------------------------------------ */

static void cursor_send_picture(struct cursor_stream *cursor) {
	cursor->changed = false;
	cursor->sent = gid_clock_now();
	if (cursor->sprite == NULL) {
		forward_hide(cursor->forward, -1, GID_HIDDEN_EMPTY);
	} else if (forward_is_read(cursor->forward)) {
		forward_commit(cursor->forward, cursor->sprite->surface);
	} else {
		forward_hide(cursor->forward, -1,
				GID_HIDDEN_UNSAID); /* the first consumer that subscribes gets it */
	}
	cursor_show_here(cursor);
}

static bool is_said(const struct cursor_stream *cursor, const struct cursor_note *note) {
	const struct cursor_note *said = &cursor->said;
	return said->x == note->x && said->y == note->y && said->locked == note->locked;
}

static int handle_timer(void *data) {
	struct cursor_stream *cursor = data;
	struct cursor_note note = cursor_note(cursor);
	if (cursor->changed) {
		cursor_send_picture(cursor);
	}
	if (!is_said(cursor, &note)) {
		cursor->said = note;
		forward_repeat(cursor->forward);
	}
	return 0;
}

void cursor_stream_look(struct cursor_stream *cursor) {
	if (cursor == NULL) {
		return;
	}
	struct cursor_note note = cursor_note(cursor);
	if (cursor_sprite(cursor) != cursor->sprite) {
		cursor_see_sprite(cursor);
	} else if (!is_said(cursor, &note)) {
		cursor_send_later(cursor);
	}
}

/* --- events of its stream --------------------------------------------------------------------- */

static void handle_again(void *data) {
	struct cursor_stream *cursor = data;
	cursor->changed = true;
	cursor_send_later(cursor);
}

static void handle_shown(void *data, uint64_t sequence, uint64_t time) {
	cursor_show_here(data);
}

static void handle_lost(void *data, uint32_t reason) {
	cursor_show_here(data);
}

/* A cursor warns of nothing: the old picture stays until there is a new one. */
static bool handle_is_alive(void *data) {
	return true;
}

static bool handle_is_behind(void *data) {
	return false;
}

static uint32_t handle_note(void *data, uint8_t bytes[GID_NOTE_MAX]) {
	struct cursor_stream *cursor = data;
	cursor->said = cursor_note(cursor);
	return cursor_note_write(&cursor->said, bytes);
}

static const struct forward_events forward_events = {
		.ready = handle_again,
		.again = handle_again,
		.shown = handle_shown,
		.lost = handle_lost,
		.is_alive = handle_is_alive,
		.is_behind = handle_is_behind,
		.note = handle_note,
};

/* --- its surface ------------------------------------------------------------------------------ */

static void watched_see(const struct watched *watched) {
	const struct weston_view *sprite = cursor_sprite(watched->cursor);
	if (sprite != NULL && sprite->surface == watched->surface) {
		cursor_see_sprite(watched->cursor);
	}
}

static void handle_commit(struct wl_listener *listener, void *data) {
	const struct watched *watched = wl_container_of(listener, watched, commit);
	watched_see(watched);
}

static void handle_map(struct wl_listener *listener, void *data) {
	const struct watched *watched = wl_container_of(listener, watched, map);
	watched_see(watched);
}

static void watched_destroy(struct watched *watched) {
	wl_list_remove(&watched->commit.link);
	wl_list_remove(&watched->map.link);
	wl_list_remove(&watched->destroy.link);
	wl_list_remove(&watched->link);
	free(watched);
}

static void handle_destroy(struct wl_listener *listener, void *data) {
	struct watched *watched = wl_container_of(listener, watched, destroy);
	watched_destroy(watched);
}

static void handle_create_surface(struct wl_listener *listener, void *data) {
	struct cursor_stream *cursor = wl_container_of(listener, cursor, create_surface);
	struct weston_surface *surface = data;
	struct watched *watched = calloc(1, sizeof(*watched));
	if (watched == NULL) {
		return; /* changes of it as a cursor are not noticed */
	}
	watched->cursor = cursor;
	watched->surface = surface;
	watched->commit.notify = handle_commit;
	wl_signal_add(&surface->commit_signal, &watched->commit);
	watched->map.notify = handle_map;
	wl_signal_add(&surface->map_signal, &watched->map);
	watched->destroy.notify = handle_destroy;
	wl_signal_add(&surface->destroy_signal, &watched->destroy);
	wl_list_insert(&cursor->surfaces, &watched->link);
}

/* Its client hides it, or another client has the pointer. */
static void handle_sprite_destroy(struct wl_listener *listener, void *data) {
	struct cursor_stream *cursor = wl_container_of(listener, cursor, sprite_destroy);
	wl_list_remove(&cursor->sprite_destroy.link);
	wl_list_init(&cursor->sprite_destroy.link);
	cursor->sprite = NULL;
	cursor->changed = true;
	cursor_send_later(cursor);
}

/* --- create and destroy ----------------------------------------------------------------------- */

void cursor_stream_set_domain(struct cursor_stream *cursor, struct gid_domain *domain) {
	if (cursor != NULL) {
		forward_set_domain(cursor->forward, domain);
		cursor_show_here(cursor);
	}
}

void cursor_stream_set_seat(struct cursor_stream *cursor, struct weston_seat *seat) {
	if (cursor != NULL) {
		cursor->seat = seat;
		cursor_see_sprite(cursor);
	}
}

struct cursor_stream *cursor_stream_create(
		struct weston_compositor *compositor, const char *shown, enum cursor_place place) {
	struct cursor_stream *cursor = calloc(1, sizeof(*cursor));
	if (cursor == NULL) {
		return NULL;
	}
	*cursor = (struct cursor_stream){
			.compositor = compositor,
			.place = place,
			.config = {.heartbeat_ms = HEARTBEAT_MS,
					.lease_ms = LEASE_MS,
					.copy = true,
					.pixels_max = CURSOR_SIDE_MAX * CURSOR_SIDE_MAX},
			.create_surface = {.notify = handle_create_surface},
			.sprite_destroy = {.notify = handle_sprite_destroy},
	};
	struct wl_event_loop *loop = wl_display_get_event_loop(compositor->wl_display);
	cursor_stream_name(cursor->config.stream, shown);
	snprintf(cursor->config.label, sizeof(cursor->config.label), "%s", cursor->config.stream);
	wl_list_init(&cursor->surfaces);
	wl_list_init(&cursor->sprite_destroy.link);
	wl_signal_add(&compositor->create_surface_signal, &cursor->create_surface);
	cursor->timer = wl_event_loop_add_timer(loop, handle_timer, cursor);
	if (cursor->timer == NULL ||
			forward_create(&cursor->config, loop, &forward_events, cursor,
					&cursor->forward) != 0) {
		cursor_stream_destroy(cursor);
		return NULL;
	}
	return cursor;
}

void cursor_stream_destroy(struct cursor_stream *cursor) {
	if (cursor == NULL) {
		return;
	}
	struct watched *watched, *next;
	wl_list_for_each_safe(watched, next, &cursor->surfaces, link) {
		watched_destroy(watched);
	}
	wl_list_remove(&cursor->create_surface.link);
	wl_list_remove(&cursor->sprite_destroy.link);
	forward_destroy(cursor->forward);
	if (cursor->seen != NULL) {
		wl_event_source_remove(cursor->seen);
	}
	if (cursor->timer != NULL) {
		wl_event_source_remove(cursor->timer);
	}
	free(cursor);
}
