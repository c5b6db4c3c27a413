// SPDX-License-Identifier: MIT
#include "dialogs.h"

#include <libweston/desktop.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "xdg-shell-client-protocol.h"

/*
 * The dialogs of one window. Clients choose how many they create, and each motion looks at them
 * all.
 */
#define DIALOGS_MAX 16
/* The depth of dialogs of dialogs: a new one is compared with all its parents. */
#define DEPTH_MAX 16

struct dialogs {
	struct wl_protocol_logger *logger;
	dialogs_changed changed;
	void *data;
	struct wl_list all; /* struct kin::link */
};

/* A window that is a dialog, or has dialogs. */
struct kin {
	struct wl_list link;
	struct weston_surface *surface;
	struct kin *parent;	/* NULL: it is no dialog */
	struct wl_list dialogs; /* struct kin::sibling, the oldest first */
	struct wl_list sibling;
	struct wl_listener destroy;
};

static void kin_adopt(struct kin *dialog, struct kin *parent) {
	wl_list_remove(&dialog->sibling);
	wl_list_init(&dialog->sibling);
	dialog->parent = parent;
	if (parent != NULL) {
		wl_list_insert(parent->dialogs.prev, &dialog->sibling);
	}
}

/* Returns `wanted`, or NULL if that would make a circle or exceed a limit: then it is no dialog. */
static struct kin *find_parent(const struct kin *dialog, struct kin *wanted) {
	unsigned depth = 0;
	for (const struct kin *kin = wanted; kin != NULL; kin = kin->parent) {
		if (kin == dialog || ++depth > DEPTH_MAX) {
			return NULL;
		}
	}
	bool has_room = wanted != NULL && wl_list_length(&wanted->dialogs) < DIALOGS_MAX;
	return has_room ? wanted : NULL;
}

/* Its own dialogs become those of its parent. */
static void kin_destroy(struct kin *kin) {
	struct kin *parent = kin->parent, *dialog, *next;
	kin_adopt(kin, NULL);
	wl_list_for_each_safe(dialog, next, &kin->dialogs, sibling) {
		kin_adopt(dialog, find_parent(dialog, parent));
	}
	wl_list_remove(&kin->destroy.link);
	wl_list_remove(&kin->link);
	free(kin);
}

static void handle_destroy(struct wl_listener *listener, void *data) {
	struct kin *kin = wl_container_of(listener, kin, destroy);
	kin_destroy(kin);
}

static struct kin *kin_find(struct weston_surface *surface) {
	struct wl_listener *listener = wl_signal_get(&surface->destroy_signal, handle_destroy);
	struct kin *kin = NULL;
	return listener != NULL ? wl_container_of(listener, kin, destroy) : NULL;
}

static struct kin *kin_get(struct dialogs *dialogs, struct weston_surface *surface) {
	struct kin *kin = kin_find(surface);
	if (kin != NULL) {
		return kin;
	}
	kin = calloc(1, sizeof(*kin));
	if (kin == NULL) {
		return NULL;
	}
	kin->surface = surface;
	kin->destroy.notify = handle_destroy;
	wl_signal_add(&surface->destroy_signal, &kin->destroy);
	wl_list_init(&kin->dialogs);
	wl_list_init(&kin->sibling);
	wl_list_insert(&dialogs->all, &kin->link);
	return kin;
}

/* --- requests of clients ---------------------------------------------------------------------- */

/* NULL: the window is gone. */
static struct weston_surface *surface_of(struct wl_resource *toplevel) {
	struct weston_desktop_surface *window = wl_resource_get_user_data(toplevel);
	return window != NULL ? weston_desktop_surface_get_surface(window) : NULL;
}

static void tell_changed(const struct dialogs *dialogs, const struct kin *parent) {
	if (parent != NULL) {
		dialogs->changed(dialogs->data, parent->surface);
	}
}

static void set_parent(struct dialogs *dialogs, struct weston_surface *surface,
		struct weston_surface *parent) {
	struct kin *dialog = kin_find(surface), *of = NULL;
	if (parent != NULL) {
		dialog = kin_get(dialogs, surface);
		of = kin_get(dialogs, parent);
	}
	if (dialog == NULL || dialog->parent == of) {
		return;
	}
	const struct kin *before = dialog->parent;
	kin_adopt(dialog, find_parent(dialog, of));
	tell_changed(dialogs, before);
	tell_changed(dialogs, dialog->parent);
}

static void forget(struct dialogs *dialogs, struct kin *kin) {
	const struct kin *parent = kin->parent;
	kin_destroy(kin);
	tell_changed(dialogs, parent);
}

static void handle_message(void *data, enum wl_protocol_logger_type type,
		const struct wl_protocol_logger_message *message) {
	struct dialogs *dialogs = data;
	if (type != WL_PROTOCOL_LOGGER_REQUEST ||
			message->message_opcode > XDG_TOPLEVEL_SET_PARENT ||
			strcmp(wl_resource_get_class(message->resource),
					xdg_toplevel_interface.name) != 0) {
		return;
	}
	struct weston_surface *surface = surface_of(message->resource);
	struct kin *kin = surface != NULL ? kin_find(surface) : NULL;
	if (surface == NULL) {
		return;
	}
	if (message->message_opcode == XDG_TOPLEVEL_SET_PARENT) {
		struct wl_resource *parent = (struct wl_resource *)message->arguments[0].o;
		set_parent(dialogs, surface, parent != NULL ? surface_of(parent) : NULL);
	} else if (kin != NULL) { /* XDG_TOPLEVEL_DESTROY */
		forget(dialogs, kin);
	}
}

/* --- queries ---------------------------------------------------------------------------------- */

struct weston_surface *dialogs_get_parent(struct weston_surface *window) {
	const struct kin *kin = kin_find(window);
	return kin != NULL && kin->parent != NULL ? kin->parent->surface : NULL;
}

struct weston_surface *dialogs_next(struct weston_surface *window, struct weston_surface *dialog) {
	const struct kin *kin = kin_find(window), *last = dialog != NULL ? kin_find(dialog) : NULL;
	if (kin == NULL) {
		return NULL;
	}
	const struct wl_list *link = last != NULL ? last->sibling.next : kin->dialogs.next;
	const struct kin *next = wl_container_of(link, next, sibling);
	return link != &kin->dialogs ? next->surface : NULL;
}

struct dialogs *dialogs_watch(struct wl_display *display, dialogs_changed changed, void *data) {
	struct dialogs *dialogs = calloc(1, sizeof(*dialogs));
	if (dialogs == NULL) {
		return NULL;
	}
	dialogs->changed = changed;
	dialogs->data = data;
	wl_list_init(&dialogs->all);
	dialogs->logger = wl_display_add_protocol_logger(display, handle_message, dialogs);
	if (dialogs->logger == NULL) {
		free(dialogs);
		return NULL;
	}
	return dialogs;
}

void dialogs_unwatch(struct dialogs *dialogs) {
	if (dialogs == NULL) {
		return;
	}
	wl_protocol_logger_destroy(dialogs->logger);
	struct kin *kin, *next;
	wl_list_for_each_safe(kin, next, &dialogs->all, link) {
		kin_destroy(kin);
	}
	free(dialogs);
}
