// SPDX-License-Identifier: MIT
#include "safety_tree.h"

#include <string.h>

#include "libweston_exports.h"
#include "window_parts.h"

#define MS_NS 1000000ull
/*
 * Ordinary windows use at most a third of the compositor thread's time, and send 125 frames a
 * second.
 */
#define REST_MIN_NS (8 * MS_NS)
#define REST_FACTOR 2
/*
 * If gidd had no memory for a picture, it is asked again after AGAIN_MS. A call that took
 * ANSWERED_NS was not answered, and is not repeated.
 */
#define AGAIN_MS 500
#define ANSWERED_NS (1000 * MS_NS)
/*
 * A role uses at most three quarters of the compositor thread's time. Its debt grows by a third of
 * the time that its pictures take, and may reach ROLE_OWES_NS: that is 6 ms at once, and one
 * picture.
 */
#define ROLE_COST(spent) ((spent) + (spent) / 3)
#define ROLE_OWES_NS (2 * MS_NS)

/* --- the surfaces of a tree ------------------------------------------------------------------- */

static void handle_known(struct wl_listener *listener, void *data) {
	wl_list_remove(&listener->link);
	wl_list_init(&listener->link);
}

struct safety_surface *safety_tree_find_surface(struct weston_surface *surface) {
	struct wl_listener *listener = wl_signal_get(&surface->destroy_signal, handle_known);
	struct safety_surface *found = NULL;
	return listener != NULL ? wl_container_of(listener, found, known) : NULL;
}

/* If the renderer has released the buffer already, its client may draw into it. */
static void keep_buffer(struct safety_surface *surface) {
	const struct weston_buffer_reference *shown = &surface->surface->buffer_ref;
	if (shown->buffer == surface->drawn.buffer) {
		return;
	}
	if (shown->type == BUFFER_MAY_BE_ACCESSED) {
		weston_buffer_reference(&surface->drawn, shown->buffer, BUFFER_MAY_BE_ACCESSED);
	} else {
		weston_buffer_reference(&surface->drawn, NULL, BUFFER_WILL_NOT_BE_ACCESSED);
	}
}

static void leave_parts(struct safety_surface *surface) {
	if (surface->tree != NULL) {
		surface->tree->part_count--;
		surface->tree = NULL;
		wl_list_remove(&surface->part_link);
	}
}

/*
 * Returns whether there is room. A picture of more parts is refused anyway, and walks over the list
 * must stay short.
 */
static bool safety_tree_add(struct safety_role *role, struct safety_surface *surface) {
	if (surface->tree != role && role->part_count == FORWARD_TREE_LOOKS_MAX) {
		return false;
	}
	leave_parts(surface);
	wl_list_insert(&role->parts, &surface->part_link);
	surface->tree = role;
	role->part_count++;
	return true;
}

void safety_tree_remove(struct safety_surface *surface) {
	leave_parts(surface);
	if (surface->role == NULL) {
		weston_buffer_reference(&surface->drawn, NULL, BUFFER_WILL_NOT_BE_ACCESSED);
	}
}

void safety_tree_clear(struct safety_role *role) {
	struct safety_surface *surface, *next;
	wl_list_for_each_safe(surface, next, &role->parts, part_link) {
		safety_tree_remove(surface);
	}
	if (role->redraw != NULL) {
		wl_event_source_remove(role->redraw);
		role->redraw = NULL;
	}
}

bool safety_tree_has(const struct safety_role *role, struct weston_surface *surface) {
	struct weston_surface *own = role->surface != NULL ? role->surface->surface : NULL;
	return own != NULL &&
			(own == surface || weston_surface_get_main_surface(surface) == own ||
					forward_find_link(own, surface) != NULL ||
					(role->config.role == NULL &&
							window_contains(own, surface)));
}

bool safety_tree_contains(const struct safety_surface *surface, const struct safety_surface *part) {
	return surface == part || forward_find_link(surface->surface, part->surface) != NULL;
}

/* Whether a surface contains another one in its tree, and whether all on the way are mapped. */
enum way { NO_WAY, WAY_SHOWN, WAY_UNMAPPED };

static enum way find_way(struct weston_surface *from, const struct weston_surface *to,
		unsigned depth, unsigned *looks) {
	enum way way = from == to ? WAY_SHOWN : NO_WAY;
	const struct weston_subsurface *sub;
	wl_list_for_each(sub, &from->subsurface_list, parent_link) {
		if (way != NO_WAY || depth == FORWARD_TREE_DEPTH_MAX ||
				*looks == FORWARD_TREE_LOOKS_MAX) {
			break;
		}
		*looks += 1;
		if (sub->surface != from) {
			way = find_way(sub->surface, to, depth + 1, looks);
		}
	}
	const struct safety_surface *known = way != NO_WAY ? safety_tree_find_surface(from) : NULL;
	return known != NULL && known->unmapped ? WAY_UNMAPPED : way;
}

bool safety_tree_has_lost_window(const struct safety_surface *surface) {
	struct weston_surface *main = weston_surface_get_main_surface(surface->surface);
	const char *name = weston_surface_get_role(surface->surface);
	if ((main == NULL || main == surface->surface) && name != NULL &&
			strcmp(name, "wl_subsurface") == 0) {
		return true;
	}
	unsigned looks = 0;
	return surface->unmapped ||
			(main != NULL &&
					find_way(main, surface->surface, 0, &looks) ==
							WAY_UNMAPPED);
}

/* --- the budget ------------------------------------------------------------------------------- */

static int handle_rested(void *data) {
	safety_tree_send(data);
	return 0;
}

static void rest(struct safety_role *role, int ms) {
	struct wl_display *display = role->safety->compositor->wl_display;
	if (role->rest == NULL) {
		role->rest = wl_event_loop_add_timer(
				wl_display_get_event_loop(display), handle_rested, role);
	}
	if (role->rest != NULL) {
		wl_event_source_timer_update(role->rest, ms);
	}
}

/* The client chooses the cost of a picture, and how often it commits one. */
static void send_by_budget(struct safety_role *role) {
	uint64_t began = gid_clock_now();
	if (!forward_is_read(role->forward)) {
		forward_hide(role->forward, -1, GID_HIDDEN_UNSAID);
		return; /* the first consumer that subscribes gets it */
	}
	if (began < role->rests_until) {
		forward_skip(role->forward);
		rest(role, (int)((role->rests_until - began) / MS_NS) + 1);
		return;
	}
	forward_commit(role->forward, role->surface->surface);
	uint64_t ended = gid_clock_now(), due = (ended - began) * REST_FACTOR;
	role->rests_until = ended + (due > REST_MIN_NS ? due : REST_MIN_NS);
	if (forward_is_hidden(role->forward, GID_HIDDEN_MEMORY) && ended - began < ANSWERED_NS) {
		rest(role, AGAIN_MS);
	}
}

/*
 * A client can commit hundreds of pictures in one message, each of which is copied or hashed. Only
 * the newest is sent, once the time of those before it is paid off.
 */
static void send_role(struct safety_role *role) {
	uint64_t began = gid_clock_now();
	uint64_t paid = role->paid > began ? role->paid : began;
	if (paid - began > ROLE_OWES_NS) {
		forward_skip(role->forward);
		rest(role, (int)((paid - began - ROLE_OWES_NS) / MS_NS) + 1);
		return;
	}
	forward_commit(role->forward, role->surface->surface);
	role->paid = paid + ROLE_COST(gid_clock_now() - began);
}

void safety_tree_send(struct safety_role *role) {
	if (role->surface == NULL || safety_tree_has_lost_window(role->surface)) {
		return;
	}
	if (role->config.role == NULL) {
		send_by_budget(role);
	} else {
		send_role(role);
	}
}

static void handle_redraw(void *data) {
	struct safety_role *role = data;
	role->redraw = NULL;
	safety_tree_send(role);
}

void safety_tree_send_later(struct safety_role *role) {
	struct wl_display *display = role->safety->compositor->wl_display;
	if (role->redraw == NULL) {
		role->redraw = wl_event_loop_add_idle(
				wl_display_get_event_loop(display), handle_redraw, role);
	}
}

void safety_tree_send_windows(struct safety *safety, struct weston_surface *window) {
	struct safety_role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (role->config.role == NULL && role->surface != NULL &&
				window_contains(role->surface->surface, window)) {
			safety_tree_send_later(role);
		}
	}
}

void safety_tree_buffer_ready(struct safety_role *role, const struct wl_resource *buffer) {
	struct safety_surface *part;
	wl_list_for_each(part, &role->parts, part_link) {
		if (part->drawn.buffer != NULL && part->drawn.buffer->resource == buffer) {
			safety_tree_send_changed(part);
		}
	}
}

void safety_tree_send_changed(struct safety_surface *surface) {
	struct safety_role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (role == surface->tree || safety_tree_has(role, surface->surface)) {
			safety_tree_send_later(role);
		}
	}
}

static void handle_unlink(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, unlink);
	wl_list_remove(&surface->unlink.link);
	wl_list_init(&surface->unlink.link);
	if (surface->role != NULL) {
		forward_hide(surface->role->forward, -1, GID_HIDDEN_EMPTY);
	}
	if (surface->tree != NULL) {
		safety_tree_send_changed(surface);
		safety_tree_remove(surface);
	}
}

void safety_tree_init(struct safety_surface *surface) {
	surface->known.notify = handle_known;
	wl_signal_add(&surface->surface->destroy_signal, &surface->known);
	surface->unlink.notify = handle_unlink;
	wl_list_init(&surface->unlink.link);
}

void safety_tree_finish(struct safety_surface *surface) {
	if (surface->tree != NULL) {
		safety_tree_send_changed(surface);
		safety_tree_remove(surface);
	}
	wl_list_remove(&surface->unlink.link);
	wl_list_remove(&surface->known.link);
}

void safety_tree_watch_link(struct safety_surface *surface, struct weston_surface *top) {
	struct wl_resource *link = wl_list_empty(&surface->unlink.link) && top != NULL
			? forward_find_link(top, surface->surface)
			: NULL;
	if (link != NULL) {
		wl_resource_add_destroy_listener(link, &surface->unlink);
	}
}

/* A commit has its full effect on a window only when Weston has handled it, too. */
static void send_alone(struct safety_role *role) {
	if (role->config.role == NULL) {
		safety_tree_send_later(role);
	} else {
		safety_tree_send(role);
	}
}

static bool has_parts(const struct safety_role *role) {
	struct weston_surface *own = role->surface->surface;
	return !wl_list_empty(&own->subsurface_list) ||
			(role->config.role == NULL && window_has_parts(own));
}

void safety_tree_commit(struct safety_role *role, struct safety_surface *surface) {
	if (surface != role->surface || has_parts(role)) {
		if (safety_tree_add(role, surface)) {
			keep_buffer(surface);
		}
		safety_tree_send_later(role);
		safety_tree_watch_link(surface, role->surface->surface);
	} else {
		safety_tree_clear(role);
		keep_buffer(surface);
		send_alone(role);
	}
}
