// SPDX-License-Identifier: MIT
/* gid-capture --clipboard in a compositor of several seats. */
#include "capture_clipboard.h"

#include "ext-data-control-v1-protocol.h"
#include "tap.h"
#include "writing_compositor.h"

#define SEATS 2

/* Enough for all that follows on the end of a seat. */
#define ROUNDTRIPS 5

static struct seat {
	struct compositor *compositor;
	struct wl_global *global;
	int number;
} seats[SEATS];

/* The first seat goes as soon as it is in use. */
static int handle_manager(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	if (strcmp(message->name, "get_data_device") == 0) {
		struct seat *seat = wl_resource_get_user_data((struct wl_resource *)arguments[1].o);
		struct wl_resource *device = wl_resource_create(wl_resource_get_client(object),
				&ext_data_control_device_v1_interface, 1, arguments[0].n);
		wl_resource_set_dispatcher(device, ignore, NULL, NULL, NULL);
		note(seat->compositor, "device of seat %d\n", seat->number);
		if (seat->number == 0) {
			wl_global_remove(seat->global);
		}
	}
	return 0;
}

static void bind_manager(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *manager = wl_resource_create(
			client, &ext_data_control_manager_v1_interface, (int)version, id);
	wl_resource_set_dispatcher(manager, handle_manager, NULL, NULL, NULL);
}

static int handle_seat(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	const struct seat *seat = wl_resource_get_user_data(object);
	note(seat->compositor, "%s of seat %d\n", message->name, seat->number);
	return 0;
}

static void bind_seat(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *seat = wl_resource_create(client, &wl_seat_interface, (int)version, id);
	wl_resource_set_dispatcher(seat, handle_seat, NULL, data, NULL);
}

static void add(struct compositor *compositor) {
	for (int i = 0; i < SEATS; i++) {
		seats[i] = (struct seat){.compositor = compositor, .number = i};
		seats[i].global = wl_global_create(compositor->display, &wl_seat_interface,
				wl_seat_interface.version, &seats[i], bind_seat);
	}
	wl_global_create(compositor->display, &ext_data_control_manager_v1_interface, 1, NULL,
			bind_manager);
}

/* Returns 0 if it has a seat in the end. */
static int run_client(void) {
	struct capture_clipboard clipboard;
	struct wl_display *display = wl_display_connect(NULL);
	sd_event *event;
	if (display == NULL || sd_event_new(&event) < 0 ||
			capture_clipboard_init(&clipboard, event, display, NULL, "desk", "open") <
					0) {
		return 2;
	}
	for (int i = 0; i < ROUNDTRIPS; i++) {
		wl_display_roundtrip(display);
	}
	int status = clipboard.device != NULL ? 0 : 1;
	capture_clipboard_finish(&clipboard);
	sd_event_unref(event);
	wl_display_disconnect(display);
	return status;
}

int main(void) {
	char folder[] = "/tmp/gid-clipboard-XXXXXX";
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	struct compositor compositor;
	tap_ok(meet(&compositor, add, run_client) == 0 &&
					strcmp(compositor.told,
							"device of seat 0\nrelease of seat 0\n"
							"device of seat 1\n") == 0,
			"a seat that goes is released, and the clipboard is that of the next one");
	rmdir(folder);
	return tap_finish();
}
