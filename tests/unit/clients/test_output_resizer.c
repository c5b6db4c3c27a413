// SPDX-License-Identifier: MIT
/* What gid-input asks of a compositor for a sender's window: once for each size, and no oftener. */
#include "output_resizer.h"

#include "common/display_connection.h"
#include "common/globals.h"
#include "tap.h"
#include "wlr-output-management-unstable-v1-protocol.h"
#include "writing_compositor.h"

#define WIDTH 800
#define HEIGHT 600
#define REFRESH 60000
#define ONE 256		/* a scale, as wl_fixed_t */
#define LATER_US 300000 /* a size has been asked for, and another one may be */
#define LATER_MS 50
#define FLOOD 100u

/* --- the compositor --------------------------------------------------------------------------- */

/* Two outputs: to the right of the first, and below it, is the second. */

struct fake_output {
	const char *name;
	int32_t x, y, transform;
	bool is_off;
	struct wl_resource *head, *mode;
};

static struct {
	struct compositor *compositor;
	struct fake_output outputs[2];
	const char *answers; /* the first letters of events: s, f or c; then the client ends */
	bool changes;	     /* somebody else does, whenever something was asked for */
	struct wl_resource *manager;
	struct wl_event_source *timer; /* switches the first output on */
	uint32_t serial;
} fake;

static void tell_done(void) {
	zwlr_output_manager_v1_send_done(fake.manager, fake.serial);
}

static void tell_state(const struct fake_output *output) {
	zwlr_output_head_v1_send_enabled(output->head, !output->is_off);
	if (!output->is_off) {
		zwlr_output_head_v1_send_current_mode(output->head, output->mode);
		zwlr_output_head_v1_send_position(output->head, output->x, output->y);
		zwlr_output_head_v1_send_transform(output->head, output->transform);
		zwlr_output_head_v1_send_scale(output->head, ONE);
	}
}

static void end_client(void *client) {
	wl_client_destroy(client);
}

static void answer(struct wl_resource *change) {
	struct wl_event_loop *loop = wl_display_get_event_loop(fake.compositor->display);
	char word = *fake.answers;
	if (word == 's') {
		zwlr_output_configuration_v1_send_succeeded(change);
	} else if (word == 'f') {
		zwlr_output_configuration_v1_send_failed(change);
	} else {
		zwlr_output_configuration_v1_send_cancelled(change);
	}
	if (fake.changes || word == 'c') {
		fake.serial++;
		zwlr_output_mode_v1_send_size(fake.outputs[0].mode, WIDTH - 1, HEIGHT);
		tell_done();
	}
	fake.answers++;
	if (*fake.answers == '\0') {
		wl_event_loop_add_idle(loop, end_client, wl_resource_get_client(change));
	}
}

/* Notes it with its numbers, and the names of outputs. */
static int take(const void *implementation, void *object, uint32_t opcode,
		const struct wl_message *message, union wl_argument *arguments) {
	int number = 0;
	if (strcmp(message->name, "destroy") == 0 || strcmp(message->name, "release") == 0) {
		wl_resource_destroy(object);
		return 0;
	}
	note(fake.compositor, "%s", message->name);
	for (const char *type = message->signature; *type != '\0'; type++) {
		const union wl_argument *argument = &arguments[number];
		if (strchr("?0123456789", *type) != NULL) {
			continue;
		}
		if (*type == 'n') {
			struct wl_resource *made = wl_resource_create(
					wl_resource_get_client(object), message->types[number],
					wl_resource_get_version(object), argument->n);
			wl_resource_set_dispatcher(made, take, NULL, NULL, NULL);
		} else if (*type == 'o') {
			note(fake.compositor, " %s",
					(const char *)wl_resource_get_user_data(
							(struct wl_resource *)argument->o));
		} else {
			note(fake.compositor, " %d", argument->i);
		}
		number++;
	}
	note(fake.compositor, "\n");
	if (strcmp(message->name, "apply") == 0) {
		answer(object);
	}
	return 0;
}

static struct wl_resource *make(struct wl_client *client, const struct wl_interface *interface,
		uint32_t id, const char *name) {
	struct wl_resource *made = wl_resource_create(client, interface, interface->version, id);
	wl_resource_set_dispatcher(made, take, NULL, (void *)name, NULL);
	return made;
}

static int handle_on(void *data) {
	fake.outputs[0].is_off = false;
	fake.serial++;
	tell_state(&fake.outputs[0]);
	tell_done();
	wl_event_source_remove(fake.timer);
	return 0;
}

static void bind_manager(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_event_loop *loop = wl_display_get_event_loop(fake.compositor->display);
	fake.manager = make(client, &zwlr_output_manager_v1_interface, id, NULL);
	for (size_t i = 0; i < sizeof(fake.outputs) / sizeof(fake.outputs[0]); i++) {
		struct fake_output *output = &fake.outputs[i];
		output->head = make(client, &zwlr_output_head_v1_interface, 0, output->name);
		zwlr_output_manager_v1_send_head(fake.manager, output->head);
		zwlr_output_head_v1_send_name(output->head, output->name);
		output->mode = make(client, &zwlr_output_mode_v1_interface, 0, output->name);
		zwlr_output_head_v1_send_mode(output->head, output->mode);
		zwlr_output_mode_v1_send_size(output->mode, WIDTH, HEIGHT);
		zwlr_output_mode_v1_send_refresh(output->mode, REFRESH);
		tell_state(output);
	}
	tell_done();
	if (fake.outputs[0].is_off) {
		fake.timer = wl_event_loop_add_timer(loop, handle_on, NULL);
		wl_event_source_timer_update(fake.timer, LATER_MS);
	}
}

static void add(struct compositor *compositor) {
	fake.compositor = compositor;
	wl_global_create(compositor->display, &zwlr_output_manager_v1_interface, 3, NULL,
			bind_manager);
}

/* --- the client ------------------------------------------------------------------------------- */

struct client {
	struct zwlr_output_manager_v1 *manager;
	struct output_resizer *resizer;
};

static uint32_t wished_scale;		     /* with the first wish */
static void (*later)(struct client *client); /* what is done LATER_US after it; NULL: nothing */

static void wish_first(struct client *client) {
	output_resizer_wish(client->resizer, 900, 450, wished_scale);
}

static void wish_second(struct client *client) {
	output_resizer_wish(client->resizer, 1000, 500, 0);
}

static void wish_many(struct client *client) {
	for (uint32_t i = 0; i < FLOOD; i++) {
		output_resizer_wish(client->resizer, 200 + i, 16384 - i, 0);
	}
	output_resizer_wish(client->resizer, 1, 9999, 0);
}

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	static const struct global_row rows[] = {
			{&zwlr_output_manager_v1_interface, 3, offsetof(struct client, manager)}};
	static const struct global_table table = GLOBAL_TABLE(rows);
	globals_bind(&table, data, registry, name, interface, version);
}

static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

static int handle_later(sd_event_source *source, uint64_t time, void *data) {
	later(data);
	return 0;
}

/* Until the compositor ends it. */
static int run_client(void) {
	struct client client = {0};
	sd_event *event;
	sd_event_source *source;
	struct wl_display *display = display_connect();
	if (display == NULL || sd_event_new(&event) < 0) {
		return 2;
	}
	wl_registry_add_listener(wl_display_get_registry(display), &registry_listener, &client);
	if (display_roundtrip(display, NULL) < 0 || client.manager == NULL) {
		return 2;
	}
	client.resizer = output_resizer_create(
			client.manager, "one", (struct size_limits){1600, 1000, 1}, event);
	if (client.resizer == NULL || display_add_to_loop(display, event, &source) < 0) {
		return 2;
	}
	wish_first(&client);
	if (later != NULL) {
		sd_event_add_time_relative(
				event, NULL, CLOCK_MONOTONIC, LATER_US, 0, handle_later, &client);
	}
	return sd_event_loop(event) == EXIT_FAILURE ? 0 : 1;
}

/* --- the checks ------------------------------------------------------------------------------- */

static void begin(const char *answers) {
	memset(&fake, 0, sizeof(fake));
	fake.outputs[0] = (struct fake_output){.name = "one"};
	fake.outputs[1] = (struct fake_output){.name = "two", .x = WIDTH, .y = HEIGHT};
	fake.answers = answers;
	fake.serial = 7;
	wished_scale = 0;
	later = NULL;
}

/* Whether the compositor was asked for that, and for nothing else. */
static bool is_asked(const char *expected) {
	struct compositor compositor;
	bool ended = meet(&compositor, add, run_client) == 0;
	if (strcmp(compositor.told, expected) != 0) {
		fprintf(stderr, "asked for:\n%s", compositor.told);
	}
	return ended && strcmp(compositor.told, expected) == 0;
}

/* With both outputs in use, the second of which moves to this place. */
#define CHANGE(serial, size, place)                                                                \
	"create_configuration " serial "\nenable_head two\nset_position " place                    \
	"\nenable_head one\nset_custom_mode " size " 60000\napply\n"

static void test_a_wish(void) {
	begin("s");
	tap_ok(is_asked(CHANGE("7", "900 450", "900 450")),
			"the output has the size of the window, and others keep their places beside it");
}

static void test_a_scale(void) {
	begin("s");
	wished_scale = 180;
	tap_ok(is_asked("create_configuration 7\nenable_head two\nset_position 600 300\n"
			"enable_head one\nset_custom_mode 900 450 60000\nset_scale 384\napply\n"),
			"and the scale of the screen, also one that is a fraction");
}

static void test_an_output_on_its_side(void) {
	begin("s");
	fake.outputs[0].transform = 1;
	fake.outputs[1].x = HEIGHT;
	fake.outputs[1].y = WIDTH;
	tap_ok(is_asked(CHANGE("7", "450 900", "900 450")), "as it is seen, if it is turned");
}

static void test_an_output_of_another_place(void) {
	begin("s");
	fake.outputs[1].x = -WIDTH;
	fake.outputs[1].y = 0;
	tap_ok(is_asked("create_configuration 7\nenable_head two\nenable_head one\n"
			"set_custom_mode 900 450 60000\napply\n"),
			"one that is to the left stays");
}

static void test_an_output_that_is_off(void) {
	begin("s");
	fake.outputs[1].is_off = true;
	tap_ok(is_asked("create_configuration 7\ndisable_head two\nenable_head one\n"
			"set_custom_mode 900 450 60000\napply\n"),
			"one that is switched off stays so");
	begin("s");
	fake.outputs[0].is_off = true;
	tap_ok(is_asked(CHANGE("8", "900 450", "900 450")),
			"for one that is switched off itself the wish waits");
}

static void test_refusals(void) {
	begin("fs");
	later = wish_second;
	tap_ok(is_asked(CHANGE("7", "900 450", "900 450") CHANGE("7", "1000 500", "1000 500")),
			"what is refused is not asked for again, but another size is");
}

static void test_changes_of_others(void) {
	begin("ss");
	fake.changes = true;
	later = wish_second;
	tap_ok(is_asked(CHANGE("7", "900 450", "900 450") CHANGE("8", "1000 500", "1001 500")),
			"who else changes the output may do so, until there is another wish");
}

static void test_cancelled(void) {
	begin("cs");
	tap_ok(is_asked(CHANGE("7", "900 450", "900 450") CHANGE("8", "900 450", "901 450")),
			"what comes too late is asked for again, of the outputs as they are");
}

static void test_floods(void) {
	begin("sss");
	later = wish_many;
	tap_ok(is_asked(CHANGE("7", "900 450", "900 450") CHANGE("7", "200 1000", "200 1000")
					       CHANGE("7", "64 1000", "64 1000")),
			"of many wishes the last counts, within the limits");
}

int main(void) {
	char folder[] = "/tmp/gid-resizer-XXXXXX";
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	test_a_wish();
	test_a_scale();
	test_an_output_on_its_side();
	test_an_output_of_another_place();
	test_an_output_that_is_off();
	test_refusals();
	test_changes_of_others();
	test_cancelled();
	test_floods();
	rmdir(folder);
	return tap_finish();
}
