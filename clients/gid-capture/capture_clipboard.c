// SPDX-License-Identifier: MIT
#include "capture_clipboard.h"

#include <err.h>
#include <string.h>
#include <unistd.h>

#include "common/display_connection.h"
#include "ext-data-control-v1-client-protocol.h"

#define SEAT_VERSION (uint32_t)WL_SEAT_RELEASE_SINCE_VERSION
#define WLR_MANAGER "zwlr_data_control_manager_v1" /* of wlroots up to 0.18, and later ones */

/* --- what programs copy ----------------------------------------------------------------------- */

/* An offer with a text gets itself as its user data. */
static void offer_offer(void *data, struct ext_data_control_offer_v1 *offer, const char *type) {
	if (strcmp(type, CLIPBOARD_TYPE) == 0) {
		ext_data_control_offer_v1_set_user_data(offer, offer);
	}
}

static const struct ext_data_control_offer_v1_listener offer_listener = {.offer = offer_offer};

static void drop_offer(struct capture_clipboard *clipboard) {
	if (clipboard->offer != NULL) {
		ext_data_control_offer_v1_destroy(clipboard->offer);
		clipboard->offer = NULL;
	}
}

static void device_data_offer(void *data, struct ext_data_control_device_v1 *device,
		struct ext_data_control_offer_v1 *offer) {
	ext_data_control_offer_v1_add_listener(offer, &offer_listener, NULL);
}

/* Also comes for what we offer ourselves: while we have a source, it is most likely that. */
static void device_selection(void *data, struct ext_data_control_device_v1 *device,
		struct ext_data_control_offer_v1 *offer) {
	struct capture_clipboard *clipboard = data;
	drop_offer(clipboard);
	clipboard->offer = offer;
	if (clipboard->knows_first && offer != NULL) {
		clipboard_changed(clipboard->loop.clipboard, clipboard->source == NULL);
	}
	clipboard->knows_first = true;
}

static void device_primary_selection(void *data, struct ext_data_control_device_v1 *device,
		struct ext_data_control_offer_v1 *offer) {
	if (offer != NULL) {
		ext_data_control_offer_v1_destroy(offer);
	}
}

static void handle_ask(void *data, int fd) {
	const struct capture_clipboard *clipboard = data;
	struct ext_data_control_offer_v1 *offer = clipboard->offer;
	if (offer != NULL && ext_data_control_offer_v1_get_user_data(offer) != NULL) {
		ext_data_control_offer_v1_receive(offer, CLIPBOARD_TYPE, fd);
	}
	close(fd);
}

/* --- what came -------------------------------------------------------------------------------- */

static void source_send(void *data, struct ext_data_control_source_v1 *source, const char *type,
		int32_t fd) {
	const struct capture_clipboard *clipboard = data;
	clipboard_give(clipboard->loop.clipboard, fd);
}

static void drop_source(struct capture_clipboard *clipboard) {
	if (clipboard->source != NULL) {
		ext_data_control_source_v1_destroy(clipboard->source);
		clipboard->source = NULL;
	}
}

static void source_cancelled(void *data, struct ext_data_control_source_v1 *source) {
	drop_source(data);
}

static const struct ext_data_control_source_v1_listener source_listener = {
		.send = source_send,
		.cancelled = source_cancelled,
};

/* The viewer of the stream sees whether its user uses the window; here any text is wanted. */
static bool handle_wants(void *data) {
	const struct capture_clipboard *clipboard = data;
	return clipboard->device != NULL;
}

static void handle_came(void *data) {
	struct capture_clipboard *clipboard = data;
	struct ext_data_control_source_v1 *source =
			ext_data_control_manager_v1_create_data_source(clipboard->manager);
	ext_data_control_source_v1_add_listener(source, &source_listener, clipboard);
	ext_data_control_source_v1_offer(source, CLIPBOARD_TYPE);
	ext_data_control_device_v1_set_selection(clipboard->device, source);
	drop_source(clipboard);
	clipboard->source = source;
}

/* --- the seat --------------------------------------------------------------------------------- */

static void release_device(struct capture_clipboard *clipboard) {
	drop_offer(clipboard);
	drop_source(clipboard);
	if (clipboard->device != NULL) {
		ext_data_control_device_v1_destroy(clipboard->device);
		clipboard->device = NULL;
	}
	if (clipboard->loop.clipboard != NULL) {
		clipboard_forget(clipboard->loop.clipboard);
	}
	clipboard->knows_first = false;
}

static void device_finished(void *data, struct ext_data_control_device_v1 *device) {
	release_device(data);
}

static const struct ext_data_control_device_v1_listener device_listener = {
		.data_offer = device_data_offer,
		.selection = device_selection,
		.finished = device_finished,
		.primary_selection = device_primary_selection,
};

static void use_device(struct capture_clipboard *clipboard) {
	if (clipboard->manager != NULL && clipboard->seat != NULL && clipboard->device == NULL) {
		clipboard->device = ext_data_control_manager_v1_get_data_device(
				clipboard->manager, clipboard->seat);
		ext_data_control_device_v1_add_listener(
				clipboard->device, &device_listener, clipboard);
	}
}

/* Both protocols have the same messages: only the name of the global differs. */
static struct ext_data_control_manager_v1 *bind_manager(
		struct wl_registry *registry, uint32_t name, const char *interface) {
	return (struct ext_data_control_manager_v1 *)wl_proxy_marshal_flags(
			(struct wl_proxy *)registry, WL_REGISTRY_BIND,
			&ext_data_control_manager_v1_interface, 1, 0, name, interface, 1, NULL);
}

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct capture_clipboard *clipboard = data;
	if (clipboard->seat == NULL && strcmp(interface, wl_seat_interface.name) == 0) {
		clipboard->seat = wl_registry_bind(registry, name, &wl_seat_interface,
				version < SEAT_VERSION ? version : SEAT_VERSION);
		clipboard->seat_global = name;
	} else if (clipboard->manager == NULL &&
			(strcmp(interface, ext_data_control_manager_v1_interface.name) == 0 ||
					strcmp(interface, WLR_MANAGER) == 0)) {
		clipboard->manager = bind_manager(registry, name, interface);
	}
	use_device(clipboard);
}

static void find_globals(struct capture_clipboard *clipboard);

/* A compositor keeps what it has of a seat until it is released. */
static void release_seat(struct capture_clipboard *clipboard) {
	if (clipboard->seat == NULL) {
		return;
	}
	if (wl_seat_get_version(clipboard->seat) >= WL_SEAT_RELEASE_SINCE_VERSION) {
		wl_seat_release(clipboard->seat);
	} else {
		wl_seat_destroy(clipboard->seat);
	}
	clipboard->seat = NULL;
}

/* There may be another seat: a new registry announces it again. */
static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
	struct capture_clipboard *clipboard = data;
	if (clipboard->seat != NULL && clipboard->seat_global == name) {
		release_device(clipboard);
		release_seat(clipboard);
		wl_registry_destroy(registry);
		find_globals(clipboard);
	}
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

static void find_globals(struct capture_clipboard *clipboard) {
	clipboard->registry = wl_display_get_registry(clipboard->display);
	wl_registry_add_listener(clipboard->registry, &registry_listener, clipboard);
}

/* --- life ------------------------------------------------------------------------------------- */

static const struct clipboard_events events = {
		.ask = handle_ask,
		.wants = handle_wants,
		.came = handle_came,
		.woken = clipboard_loop_woken,
		.say = clipboard_loop_say,
};

int capture_clipboard_init(struct capture_clipboard *clipboard, sd_event *event,
		struct wl_display *display, struct gid_domain *domain, const char *stream,
		const char *viewer) {
	*clipboard = (struct capture_clipboard){.display = display};
	if (clipboard_loop_init(&clipboard->loop, event, domain, stream, CLIPBOARD_OF_WHO_MAKES,
			    viewer, &events) < 0) {
		return -1;
	}
	find_globals(clipboard);
	if (display_roundtrip(display, NULL) < 0) {
		return -1;
	}
	if (clipboard->manager == NULL) {
		warnx("--clipboard: the compositor has neither ext_data_control_manager_v1 nor "
		      "%s: those of wlroots have one; in Weston use clipboard=true of "
		      "[gid-output]",
				WLR_MANAGER);
		return -1;
	}
	return 0;
}

void capture_clipboard_finish(struct capture_clipboard *clipboard) {
	release_device(clipboard);
	release_seat(clipboard);
	if (clipboard->manager != NULL) {
		ext_data_control_manager_v1_destroy(clipboard->manager);
	}
	if (clipboard->registry != NULL) {
		wl_registry_destroy(clipboard->registry);
	}
	clipboard_loop_finish(&clipboard->loop);
	*clipboard = (struct capture_clipboard){0};
}
