// SPDX-License-Identifier: MIT
/* Users of several seats who use the window of gid-view at once. */
#include "seats.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tablet-v2-client-protocol.h"
#include "tap.h"

#define USERS 2
#define KEY_A 30
#define KEY_B 48
#define SIZE 100 /* of the window and its picture */
#define VERSION 8

/* --- in the place of libwayland: what is asked for is there, and its events are the test's -----
 */

struct thing {
	const struct wl_interface *interface;
	void (**events)(void);
	void *data;
};

static struct thing things[64]; /* the first one is the surface */
static size_t made;

struct wl_proxy *wl_proxy_marshal_flags(struct wl_proxy *proxy, uint32_t opcode,
		const struct wl_interface *interface, uint32_t version, uint32_t flags, ...) {
	if (interface == NULL) {
		return NULL;
	}
	if (made == sizeof(things) / sizeof(things[0])) {
		abort();
	}
	struct thing *thing = &things[made++];
	*thing = (struct thing){.interface = interface};
	return (struct wl_proxy *)thing;
}

int wl_proxy_add_listener(struct wl_proxy *proxy, void (**events)(void), void *data) {
	struct thing *thing = (struct thing *)proxy;
	thing->events = events;
	thing->data = data;
	return 0;
}

uint32_t wl_proxy_get_version(struct wl_proxy *proxy) {
	return VERSION;
}

void wl_proxy_destroy(struct wl_proxy *proxy) {
}

/* The last one that was made of its kind. */
static const struct thing *last(const struct wl_interface *interface) {
	size_t i = made;
	while (i > 0 && things[i - 1].interface != interface) {
		i--;
	}
	return &things[i - 1];
}

/* --- in the place of the theme ---------------------------------------------------------------- */

void own_cursor_show(struct own_cursor *own, const struct wayland *wayland,
		struct wl_pointer *pointer, uint32_t serial, int32_t scale) {
}

void own_cursor_finish(struct own_cursor *own) {
}

/* --- what readers hear ------------------------------------------------------------------------ */

static char told[256];

static void tell(const char *format, ...) {
	size_t length = strlen(told);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(told + length, sizeof(told) - length, format, arguments);
	va_end(arguments);
}

static bool heard(const char *expected) {
	bool is_right = strcmp(told, expected) == 0;
	if (!is_right) {
		printf("# heard: %s\n", told);
	}
	told[0] = '\0';
	return is_right;
}

static void handle_event(void *data, const struct seat *seat, const struct input_record *event) {
	static const char *const names[INPUT_TYPE_LAST + 1] = {[INPUT_KEY] = "key",
			[INPUT_TOUCH_DOWN] = "down",
			[INPUT_TOUCH_MOTION] = "motion",
			[INPUT_TOUCH_UP] = "up",
			[INPUT_PEN_NEAR] = "near",
			[INPUT_PEN_BUTTON] = "pen",
			[INPUT_PEN_MOTION] = "draw"};
	if (names[event->type] != NULL) {
		tell("%s %d %d; ", names[event->type], event->code, event->value);
	}
}

static void handle_lost(void *data, const struct input_held *held) {
	for (uint32_t code = 0; code < INPUT_CODES; code++) {
		if (input_holds(held, code)) {
			tell("lost %u; ", code);
		}
	}
	for (uint32_t i = 0; i < INPUT_TOUCHES; i++) {
		if (held->touches >> i & 1) {
			tell("lifted %u; ", i);
		}
	}
}

static void handle_group(void *data) {
}

static void handle_gone(void *data, struct wl_seat *base) {
}

static void handle_focus(void *data, const struct seat *seat) {
}

static const struct seat_events seat_events = {
		.event = handle_event,
		.group = handle_group,
		.bound = handle_group,
		.gone = handle_gone,
		.focus = handle_focus,
		.lost = handle_lost,
		.devices = handle_group,
};

/* --- the users -------------------------------------------------------------------------------- */

static struct seats seats;
static struct cursor cursor;
static struct wl_surface *surface = (struct wl_surface *)&things[0];
static struct window window;
static const struct wayland wayland = {.display = (struct wl_display *)&things[0]};
static const struct seat_place place = {.wayland = &wayland,
		.window = &window,
		.cursor = &cursor,
		.seats = &seats.list,
		.events = &seat_events};

static struct user {
	struct thing seat, touch, keyboard, tablets, pen;
} users[USERS];

#define EVENT(thing, type, event, ...)                                                             \
	((const struct type *)(const void *)(thing).events)->event((thing).data, NULL, __VA_ARGS__)
#define FRAME(thing, type)                                                                         \
	((const struct type *)(const void *)(thing).events)->frame((thing).data, NULL)

static void sit_down(uint32_t i, const struct thing *registry) {
	struct user *user = &users[i];
	EVENT(*registry, wl_registry_listener, global, i, "wl_seat", VERSION);
	struct thing own = *last(&wl_registry_interface);
	EVENT(own, wl_registry_listener, global, USERS, "zwp_tablet_manager_v2", 1);
	EVENT(own, wl_registry_listener, global, i, "wl_seat", VERSION);
	user->seat = *last(&wl_seat_interface);
	EVENT(user->seat, wl_seat_listener, capabilities,
			WL_SEAT_CAPABILITY_TOUCH | WL_SEAT_CAPABILITY_KEYBOARD);
	user->touch = *last(&wl_touch_interface);
	user->keyboard = *last(&wl_keyboard_interface);
	user->tablets = *last(&zwp_tablet_seat_v2_interface);
	static struct thing pens[USERS];
	EVENT(user->tablets, zwp_tablet_seat_v2_listener, tool_added,
			(struct zwp_tablet_tool_v2 *)&pens[i]);
	user->pen = pens[i];
	EVENT(user->keyboard, wl_keyboard_listener, enter, 1, surface, NULL);
}

static struct thing begin(void) {
	window = (struct window){.root = surface,
			.width = SIZE,
			.height = SIZE,
			.picture_width = SIZE,
			.picture_height = SIZE,
			.mapped = true};
	made = 1;
	seats_init(&seats, &place);
	struct thing registry = *last(&wl_registry_interface);
	for (uint32_t i = 0; i < USERS; i++) {
		sit_down(i, &registry);
	}
	told[0] = '\0';
	return registry;
}

static void key(int user, uint32_t code, bool pressed) {
	EVENT(users[user].keyboard, wl_keyboard_listener, key, 1, 1, code, pressed);
}

/* `id` is the compositor's. */
static void down(int user, int32_t id) {
	EVENT(users[user].touch, wl_touch_listener, down, 1, 1, surface, id, 0, 0);
}

static void move(int user, int32_t id) {
	EVENT(users[user].touch, wl_touch_listener, motion, 1, id, 0, 0);
}

static void up(int user, int32_t id) {
	EVENT(users[user].touch, wl_touch_listener, up, 1, 1, id);
}

static void pen_frame(int user) {
	EVENT(users[user].pen, zwp_tablet_tool_v2_listener, frame, 1);
}

static void pen_comes(int user) {
	EVENT(users[user].pen, zwp_tablet_tool_v2_listener, proximity_in, 1, NULL, surface);
	EVENT(users[user].pen, zwp_tablet_tool_v2_listener, motion, 0, 0);
	pen_frame(user);
}

static void pen_presses(int user) {
	EVENT(users[user].pen, zwp_tablet_tool_v2_listener, down, 1);
	pen_frame(user);
}

static void pen_lifts(int user) {
	((const struct zwp_tablet_tool_v2_listener *)(const void *)users[user].pen.events)
			->up(users[user].pen.data, NULL);
	pen_frame(user);
}

static void pen_goes(int user) {
	((const struct zwp_tablet_tool_v2_listener *)(const void *)users[user].pen.events)
			->proximity_out(users[user].pen.data, NULL);
	pen_frame(user);
}

/* ---------------------------------------------------------------------------------------------- */

static void test_fingers(void) {
	begin();
	down(0, 0);
	down(1, 0);
	down(1, 1);
	tap_ok(heard("down 0 0; down 1 0; down 2 0; "), "each finger has a number of its own");
	move(1, 0);
	up(1, 0);
	move(0, 0);
	tap_ok(heard("motion 1 0; up 1 0; motion 0 0; "), "and moves and leaves alone");
	down(0, 7);
	tap_ok(heard("down 1 0; "), "the number of one that left is given again");
	((const struct wl_touch_listener *)(const void *)users[0].touch.events)
			->cancel(users[0].touch.data, NULL);
	tap_ok(heard("up 0 0; up 1 0; "), "a gesture of one user's compositor is not the other's");
	for (int32_t i = 2; i < (int32_t)INPUT_TOUCHES + 2; i++) {
		down(i % USERS, i);
	}
	tap_ok(strstr(told, "down 15 0; ") != NULL && strstr(told, "down 16") == NULL,
			"all of them have so many together");
	seats_finish(&seats);
}

static void test_keys(void) {
	begin();
	key(0, KEY_A, true);
	key(1, KEY_A, true);
	key(0, KEY_B, true);
	told[0] = '\0';
	key(0, KEY_A, false);
	key(1, KEY_B, false);
	tap_ok(heard(""), "no user releases what the other one holds");
	key(1, KEY_A, false);
	key(0, KEY_B, false);
	tap_ok(heard("key 30 0; key 48 0; "), "the last one does");
	seats_finish(&seats);
}

static void test_pens(void) {
	begin();
	pen_comes(0);
	pen_presses(0);
	told[0] = '\0';
	pen_comes(1);
	pen_presses(1);
	pen_lifts(1);
	tap_ok(heard(""), "a second pen neither comes nor draws");
	pen_lifts(0);
	pen_goes(0);
	tap_ok(heard("draw 0 0; pen 330 0; near 320 0; "), "the first one goes");
	pen_frame(1);
	pen_presses(1);
	tap_ok(heard("near 320 1; draw 0 0; draw 0 65535; pen 330 1; "), "then it does");
	seats_finish(&seats);
}

/* How a seat ends. */
static void lose_focus(const struct thing *registry) {
	EVENT(users[1].keyboard, wl_keyboard_listener, leave, 1, surface);
	seats_dispatch(&seats, seats_deadline(&seats));
}

static void unplug(const struct thing *registry) {
	EVENT(users[1].seat, wl_seat_listener, capabilities, 0);
}

static void go(const struct thing *registry) {
	EVENT(*registry, wl_registry_listener, global_remove, 1);
}

static void test_ends(void) {
	static void (*const ways[])(const struct thing *registry) = {lose_focus, unplug, go};
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct thing registry = begin();
		key(0, KEY_A, true);
		key(1, KEY_A, true);
		key(1, KEY_B, true);
		down(0, 0);
		down(1, 0);
		told[0] = '\0';
		ways[i](&registry);
		tap_ok(heard("lost 48; lifted 1; "), "what its user alone holds is released");
		move(0, 0);
		key(0, KEY_A, false);
		tap_ok(heard("motion 0 0; key 30 0; "), "the other one goes on");
		seats_finish(&seats);
	}
}

int main(void) {
	test_fingers();
	test_keys();
	test_pens();
	test_ends();
	return tap_finish();
}
