// SPDX-License-Identifier: MIT
/* What gid-capture knows of a compositor whose outputs and windows come and go. */
#include "screens.h"

#include "common/display_connection.h"
#include "ext-foreign-toplevel-list-v1-client-protocol.h"
#include "ext-foreign-toplevel-list-v1-protocol.h"
#include "tap.h"
#include "writing_compositor.h"

/* Enough for all that follows on the end of an output and of a window. */
#define ROUNDTRIPS 3

static struct wl_global *output;
static struct wl_resource *renamed;

static int handle_end(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	note(wl_resource_get_user_data(object), "%s: %s\n", wl_resource_get_class(object),
			message->name);
	wl_resource_destroy(object);
	return 0;
}

/* It goes as soon as it is known. */
static void bind_output(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *bound =
			wl_resource_create(client, &wl_output_interface, (int)version, id);
	wl_resource_set_dispatcher(bound, handle_end, NULL, data, NULL);
	wl_global_remove(output);
}

static struct wl_resource *send_window(struct wl_resource *list, void *data, const char *name) {
	struct wl_resource *window = wl_resource_create(wl_resource_get_client(list),
			&ext_foreign_toplevel_handle_v1_interface, 1, 0);
	wl_resource_set_dispatcher(window, handle_end, NULL, data, NULL);
	ext_foreign_toplevel_list_v1_send_toplevel(list, window);
	ext_foreign_toplevel_handle_v1_send_identifier(window, name);
	ext_foreign_toplevel_handle_v1_send_title(window, name);
	ext_foreign_toplevel_handle_v1_send_done(window);
	return window;
}

/* Once the client says so, one window has a new name twice, of which it hears three times. */
static int handle_list(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	static const char *const names[] = {"another", "another", "a third"};
	if (strcmp(message->name, "stop") == 0) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			ext_foreign_toplevel_handle_v1_send_title(renamed, names[i]);
			ext_foreign_toplevel_handle_v1_send_done(renamed);
		}
		ext_foreign_toplevel_handle_v1_send_closed(renamed);
	}
	return 0;
}

/* A window that is closed as soon as it is known, and one that stays. */
static void bind_list(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *list = wl_resource_create(
			client, &ext_foreign_toplevel_list_v1_interface, (int)version, id);
	wl_resource_set_dispatcher(list, handle_list, NULL, NULL, NULL);
	ext_foreign_toplevel_handle_v1_send_closed(send_window(list, data, "one"));
	renamed = send_window(list, data, "two");
}

static void add(struct compositor *compositor) {
	wl_global_create(compositor->display, &wl_shm_interface, 1, (void *)&wl_shm_interface,
			bind_other);
	output = wl_global_create(
			compositor->display, &wl_output_interface, 4, compositor, bind_output);
	wl_global_create(compositor->display, &ext_foreign_toplevel_list_v1_interface, 1,
			compositor, bind_list);
}

static void count_named(void *data, const struct screens_window *window) {
	int *count = data;
	(*count)++;
}

/* Returns 0 if it knows none of both in the end, and 3 if it did not hear of the names. */
static int run_client(void) {
	int named = 0;
	struct screens screens;
	struct wl_display *display = display_connect();
	if (display == NULL || screens_init(&screens, display) < 0) {
		return 2;
	}
	screens.window_named = count_named;
	screens.data = &named;
	ext_foreign_toplevel_list_v1_stop(screens.window_list);
	for (int i = 0; i < ROUNDTRIPS; i++) {
		wl_display_roundtrip(display);
	}
	bool knows_none = wl_list_empty(&screens.outputs) && wl_list_empty(&screens.windows);
	screens_finish(&screens);
	wl_display_disconnect(display);
	return named != 2 ? 3 : knows_none ? 0 : 1;
}

int main(void) {
	char folder[] = "/tmp/gid-screens-XXXXXX";
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	struct compositor compositor;
	int result = meet(&compositor, add, run_client);
	tap_ok(result != 3, "each new name of a window is heard of once");
	tap_ok(result == 0, "what has gone is forgotten");
	tap_ok(strstr(compositor.told, "wl_output: release\n") != NULL,
			"and the compositor can forget the output");
	tap_ok(strstr(compositor.told, "ext_foreign_toplevel_handle_v1: destroy\n") != NULL,
			"and the window");
	rmdir(folder);
	return tap_finish();
}
