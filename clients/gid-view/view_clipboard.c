// SPDX-License-Identifier: MIT
#include "view_clipboard.h"

#include <string.h>
#include <unistd.h>

#define MANAGER_VERSION 2u /* the first with wl_data_device.release */

/* --- texts that others copy ------------------------------------------------------------------- */

/* The user data of an offer with text is the offer itself. */
static void offer_offer(void *data, struct wl_data_offer *offer, const char *type) {
	if (strcmp(type, CLIPBOARD_TYPE) == 0) {
		wl_data_offer_set_user_data(offer, offer);
	}
}

static const struct wl_data_offer_listener offer_listener = {.offer = offer_offer};

static void drop_offer(struct view_clipboard *clipboard) {
	if (clipboard->offer != NULL) {
		wl_data_offer_destroy(clipboard->offer);
		clipboard->offer = NULL;
	}
}

static void device_data_offer(
		void *data, struct wl_data_device *device, struct wl_data_offer *offer) {
	wl_data_offer_add_listener(offer, &offer_listener, NULL);
}

/* The selection may be our own source: while there is one, it most likely is. */
static void device_selection(
		void *data, struct wl_data_device *device, struct wl_data_offer *offer) {
	struct view_clipboard *clipboard = data;
	drop_offer(clipboard);
	clipboard->offer = offer;
	if (clipboard->in_use) {
		clipboard_changed(clipboard->loop.clipboard, clipboard->source == NULL);
	}
}

/* Drags into the window are not supported. */
static void device_enter(void *data, struct wl_data_device *device, uint32_t serial,
		struct wl_surface *surface, wl_fixed_t x, wl_fixed_t y,
		struct wl_data_offer *offer) {
	if (offer != NULL) {
		wl_data_offer_destroy(offer);
	}
}

static void device_leave(void *data, struct wl_data_device *device) {
}

static void device_motion(void *data, struct wl_data_device *device, uint32_t time, wl_fixed_t x,
		wl_fixed_t y) {
}

static void device_drop(void *data, struct wl_data_device *device) {
}

static const struct wl_data_device_listener device_listener = {
		.data_offer = device_data_offer,
		.enter = device_enter,
		.leave = device_leave,
		.motion = device_motion,
		.drop = device_drop,
		.selection = device_selection,
};

static void handle_ask(void *data, int fd) {
	const struct view_clipboard *clipboard = data;
	if (clipboard->offer != NULL && wl_data_offer_get_user_data(clipboard->offer) != NULL) {
		wl_data_offer_receive(clipboard->offer, CLIPBOARD_TYPE, fd);
	}
	close(fd);
}

/* --- texts that arrive ------------------------------------------------------------------------ */

static void source_target(void *data, struct wl_data_source *source, const char *type) {
}

static void source_send(void *data, struct wl_data_source *source, const char *type, int32_t fd) {
	struct view_clipboard *clipboard = data;
	clipboard_give(clipboard->loop.clipboard, fd);
}

static void drop_source(struct view_clipboard *clipboard) {
	if (clipboard->source != NULL) {
		wl_data_source_destroy(clipboard->source);
		clipboard->source = NULL;
	}
}

static void source_cancelled(void *data, struct wl_data_source *source) {
	drop_source(data);
}

static const struct wl_data_source_listener source_listener = {
		.target = source_target,
		.send = source_send,
		.cancelled = source_cancelled,
};

static bool handle_wants(void *data) {
	const struct view_clipboard *clipboard = data;
	return clipboard->in_use && clipboard->device != NULL;
}

static void handle_came(void *data) {
	struct view_clipboard *clipboard = data;
	struct wl_data_source *source =
			wl_data_device_manager_create_data_source(clipboard->manager);
	wl_data_source_add_listener(source, &source_listener, clipboard);
	wl_data_source_offer(source, CLIPBOARD_TYPE);
	wl_data_device_set_selection(clipboard->device, source, clipboard->serial);
	drop_source(clipboard);
	clipboard->source = source;
}

/* --- the seat --------------------------------------------------------------------------------- */

static void release_device(struct view_clipboard *clipboard) {
	drop_offer(clipboard);
	drop_source(clipboard);
	if (clipboard->device != NULL) {
		wl_data_device_release(clipboard->device);
		clipboard->device = NULL;
	}
}

static void use_device(struct view_clipboard *clipboard) {
	if (clipboard->manager != NULL && clipboard->seat != NULL && clipboard->device == NULL) {
		clipboard->device = wl_data_device_manager_get_data_device(
				clipboard->manager, clipboard->seat);
		wl_data_device_add_listener(clipboard->device, &device_listener, clipboard);
	}
}

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct view_clipboard *clipboard = data;
	if (clipboard->manager == NULL && version >= MANAGER_VERSION &&
			strcmp(interface, wl_data_device_manager_interface.name) == 0) {
		clipboard->manager = wl_registry_bind(
				registry, name, &wl_data_device_manager_interface, MANAGER_VERSION);
		use_device(clipboard);
	}
}

static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

void view_clipboard_set_seat(struct view_clipboard *clipboard, struct wl_seat *seat) {
	if (clipboard->loop.clipboard == NULL) {
		return;
	}
	clipboard->seat = seat;
	if (seat == NULL) {
		view_clipboard_left(clipboard);
		release_device(clipboard);
	} else {
		use_device(clipboard);
	}
}

/* The current text is offered with the first press: the next one may paste it. */
void view_clipboard_pressed(struct view_clipboard *clipboard, uint32_t serial) {
	if (clipboard->loop.clipboard == NULL) {
		return;
	}
	clipboard->serial = serial;
	if (!clipboard->in_use) {
		clipboard->in_use = true;
		clipboard_changed(clipboard->loop.clipboard, false);
	}
}

void view_clipboard_left(struct view_clipboard *clipboard) {
	if (clipboard->loop.clipboard != NULL) {
		clipboard->in_use = false;
		clipboard_forget(clipboard->loop.clipboard);
	}
}

/* --- create and destroy ----------------------------------------------------------------------- */

static const struct clipboard_events events = {
		.ask = handle_ask,
		.wants = handle_wants,
		.came = handle_came,
		.woken = clipboard_loop_woken,
		.say = clipboard_loop_say,
};

int view_clipboard_init(struct view_clipboard *clipboard, sd_event *event, struct wayland *wayland,
		struct gid_domain *domain, const char *owner, const char *stream) {
	*clipboard = (struct view_clipboard){0};
	if (clipboard_loop_init(&clipboard->loop, event, domain, stream, CLIPBOARD_OF_WHO_SHOWS,
			    owner, &events) < 0) {
		return -1;
	}
	clipboard->registry = wl_display_get_registry(wayland->display);
	wl_registry_add_listener(clipboard->registry, &registry_listener, clipboard);
	return 0;
}

void view_clipboard_finish(struct view_clipboard *clipboard) {
	release_device(clipboard);
	if (clipboard->manager != NULL) {
		wl_data_device_manager_destroy(clipboard->manager);
	}
	if (clipboard->registry != NULL) {
		wl_registry_destroy(clipboard->registry);
	}
	clipboard_loop_finish(&clipboard->loop);
	*clipboard = (struct view_clipboard){0};
}
