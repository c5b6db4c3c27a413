// SPDX-License-Identifier: MIT
/* Who takes input gets each event once, in order, within bounds; and nothing stays pressed. */
#include <input_log.h>
#include <input_player.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MS 1000000ull
#define START (1000 * MS)
#define LEASE (500 * MS)
#define KEYS 4096

static struct input_log sent;
static struct input_frame frame;
static struct input_player player;
static uint8_t *slot;
static uint64_t now;

/* What the sink got. */
static struct {
	struct input_record last;
	uint32_t events, presses, releases, groups, devices, device_changes;
	uint32_t places, sizes, width, height, scale, closings;
	int32_t x, y;
	int32_t pressed; /* now */
	int32_t near;	 /* pens, now */
	uint32_t pen_motions;
	uint16_t codes[KEYS];
	uint64_t latest;
	bool in_time, in_order;
} got;

static void handle_event(void *data, const struct input_record *event) {
	bool is_switch = event->type == INPUT_KEY || event->type == INPUT_BUTTON ||
			event->type == INPUT_PEN_BUTTON;
	got.pen_motions += event->type == INPUT_PEN_MOTION;
	got.near += event->type != INPUT_PEN_NEAR ? 0 : event->value != 0 ? 1 : -1;
	got.events++;
	got.groups += event->type == INPUT_GROUP_END;
	if (event->type == INPUT_MOTION) {
		got.places++;
		got.x = event->x;
		got.y = event->y;
	}
	if (is_switch && event->value != 0) {
		got.codes[got.presses++ % KEYS] = event->code;
	} else if (is_switch) {
		got.releases++;
	}
	got.pressed += is_switch ? (event->value != 0 ? 1 : -1) : 0;
	got.pressed += event->type == INPUT_TOUCH_DOWN ? 1 : 0;
	got.pressed -= event->type == INPUT_TOUCH_UP ? 1 : 0;
	got.in_time = got.in_time && event->time <= now;
	got.in_order = got.in_order && event->time >= got.latest;
	got.latest = event->time;
	got.last = *event;
}

static void handle_devices(void *data, uint32_t devices) {
	got.devices = devices;
	got.device_changes++;
}

static void handle_size(void *data, uint32_t width, uint32_t height, uint32_t scale) {
	got.scale = scale;
	got.sizes++;
	got.width = width;
	got.height = height;
}

static void handle_close(void *data) {
	got.closings++;
}

static const struct input_sink sink = {.event = handle_event,
		.devices = handle_devices,
		.size = handle_size,
		.close = handle_close};

static const struct input_sink pens_sink = {
		.pens = true, .event = handle_event, .devices = handle_devices};

static void begin_with(const struct input_sink *used) {
	memset(&got, 0, sizeof(got));
	got.in_time = got.in_order = true;
	now = START;
	input_log_init(&sent, LEASE / MS);
	input_player_init(&player, used, NULL, now);
}

static void begin(void) {
	begin_with(&sink);
}

static void add(uint16_t type, uint16_t code, int32_t value) {
	input_log_add(&sent,
			&(struct input_record){
					.time = now, .type = type, .code = code, .value = value});
}

static void type_key(uint16_t code) {
	add(INPUT_KEY, code, 1);
	add(INPUT_KEY, code, 0);
}

static void play_from(int64_t clock_offset) {
	input_log_write(&sent, slot);
	input_frame_read(&frame, slot, player.next);
	input_player_play(&player, &frame, clock_offset, now);
}

static void play(void) {
	play_from(0);
}

static void test_each_event_once(void) {
	begin();
	for (uint16_t i = 0; i < 100; i++) {
		type_key((uint16_t)(i + 1));
		if (i % 7 == 0) { /* the others are found in later frames */
			play();
			play();
		}
		now += MS;
	}
	play();
	bool right = got.presses == 100 && got.releases == 100;
	for (uint16_t i = 0; i < 100; i++) {
		right = right && got.codes[i] == i + 1;
	}
	tap_ok(right && player.stats.missed == 0, "each key once, in order, also of lost frames");
	tap_ok(got.in_time && got.in_order, "at its time");
}

static void test_groups_that_end(void) {
	begin();
	add(INPUT_KEY, 30, 1);
	play();
	tap_ok(got.groups == 1 && got.last.type == INPUT_GROUP_END, "each frame ends its group");
	add(INPUT_GROUP_END, 0, 0);
	play();
	tap_ok(got.groups == 1, "and not once more");
}

static void test_who_missed_too_much(void) {
	begin();
	add(INPUT_KEY, 30, 1);
	play();
	add(INPUT_KEY, 30, 0);
	for (uint32_t i = 0; i < INPUT_EVENTS_MAX; i++) {
		add(INPUT_KEY, 31, (i + 1) % 2);
	}
	play();
	tap_ok(player.stats.missed == 1 && got.pressed == 0 && input_holds_nothing(&player.held),
			"the release that was missed is made up for");
}

static void test_nothing_stays_pressed(void) {
	begin();
	add(INPUT_KEY, 30, 1);
	add(INPUT_BUTTON, 0x110, 1);
	add(INPUT_TOUCH_DOWN, 2, 0);
	play();
	tap_ok(got.pressed == 3, "a key, a button and a finger");
	tap_ok(input_player_deadline(&player) == now + LEASE, "have a lease");
	now += LEASE - MS;
	input_player_expire(&player, now);
	tap_ok(got.pressed == 3, "as long as which they are held");
	play();
	now += LEASE - MS;
	input_player_expire(&player, now);
	tap_ok(got.pressed == 3, "and longer, by a sign of life");
	now += MS;
	input_player_expire(&player, now);
	tap_ok(got.pressed == 0 && player.stats.expired == 1 && got.last.type == INPUT_GROUP_END,
			"then they are released, as a group");
	play();
	tap_ok(got.pressed == 0, "and not pressed again when the sender is back");
	add(INPUT_KEY, 30, 0);
	add(INPUT_KEY, 30, 1);
	play();
	tap_ok(got.pressed == 1, "but by its user");
	now += 4 * LEASE;
	input_player_expire(&player, now);
	tap_ok(got.pressed == 1, "who gets another lease where the machine stood still");
	now += LEASE - MS;
	input_player_expire(&player, now);
	tap_ok(got.pressed == 1 && player.stats.expired == 1, "a whole one");
	input_player_begin(&player, now);
	tap_ok(got.pressed == 0, "another sender begins with nothing");
	tap_ok(input_player_deadline(&player) == UINT64_MAX, "of which no lease can end");
}

static void test_who_comes_late(void) {
	begin();
	type_key(30);
	now += MS;
	input_player_begin(&player, now);
	add(INPUT_KEY, 31, 1);
	play();
	tap_ok(got.presses == 1 && got.codes[0] == 31, "what was before it came is not played");
	now += MS;
	input_player_begin(&player, now);
	play();
	add(INPUT_KEY, 31, 0);
	type_key(32);
	play();
	tap_ok(got.presses == 2 && got.codes[1] == 32 && got.pressed == 0,
			"nor is the end of what began before");
}

static void test_where_the_pointer_is(void) {
	begin();
	input_log_add(&sent,
			&(struct input_record){.time = now, .type = INPUT_MOTION, .x = 7, .y = 9});
	now += MS;
	input_player_begin(&player, now);
	add(INPUT_BUTTON, 0x110, 1);
	play();
	tap_ok(got.presses == 1 && got.places == 1 && got.x == 7 && got.y == 9,
			"who comes late clicks where the pointer is");
	add(INPUT_RELATIVE, 0, 0);
	input_player_begin(&player, now);
	play();
	tap_ok(got.places == 1, "if that is known");
}

static void test_clocks(void) {
	begin();
	input_log_add(&sent,
			&(struct input_record){
					.time = 5, .type = INPUT_KEY, .code = 30, .value = 1});
	play_from((int64_t)now);
	tap_ok(got.presses == 1 && got.last.time == now,
			"a clock of another machine; not ahead of us");
	now += 1000 * MS;
	input_log_add(&sent,
			&(struct input_record){.time = INT64_MAX,
					.type = INPUT_KEY,
					.code = 31,
					.value = 1});
	play_from((int64_t)START);
	input_log_add(&sent,
			&(struct input_record){
					.time = 1, .type = INPUT_KEY, .code = 32, .value = 1});
	now += MS;
	play_from(INT64_MIN);
	tap_ok(got.presses == 3 && got.in_time && got.in_order, "whatever it says, time goes on");
}

static void test_floods(void) {
	begin();
	for (uint32_t i = 0; i < 100 * INPUT_BURST; i++) {
		add(INPUT_RELATIVE, 0, 0);
		add(INPUT_AXIS, 0, 0);
		add(INPUT_GROUP_END, 0, 0);
		if (i % 50 == 0) {
			play();
		}
	}
	tap_ok(got.events <= 2 * INPUT_BURST && player.stats.refused > INPUT_BURST,
			"at once no more than a burst (%u)", got.events);
	uint32_t before = got.events - got.groups;
	for (uint32_t ms = 0; ms < 1000; ms++) {
		now += MS;
		for (uint32_t i = 0; i < 20; i++) {
			add(INPUT_AXIS, 0, 0);
		}
		play();
	}
	uint32_t played = got.events - got.groups - before;
	tap_ok(played <= INPUT_RATE + 1 && played > INPUT_RATE - 100, "then so many a second (%u)",
			played);
}

static uint32_t keymaps_taken(uint32_t first, uint32_t count) {
	uint32_t taken = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (input_player_wants_keymap(&player, first + i, now)) {
			input_player_take_keymap(&player, first + i, now);
			taken++;
		}
	}
	return taken;
}

static void test_keymaps_that_change_all_the_time(void) {
	begin();
	tap_ok(!input_player_wants_keymap(&player, 0, now), "of who has none, none is taken");
	tap_ok(keymaps_taken(1, 100) == INPUT_KEYMAPS, "at once no more keymaps than a few");
	uint32_t taken = 0;
	for (uint32_t ms = 1; ms <= 2000; ms++) {
		now += MS;
		taken += keymaps_taken(100 + ms, 1);
	}
	tap_ok(taken == 2000 / INPUT_KEYMAP_MS, "then so many a second (%u)", taken);
	input_player_begin(&player, now);
	tap_ok(keymaps_taken(1, 100) == 0, "none more of who ends and begins all the time");
	now += INPUT_KEYMAP_MS * MS;
	tap_ok(keymaps_taken(1, 1) == 1 && keymaps_taken(1, 1) == 0,
			"the first one comes later, once");
}

static void test_too_many_keys(void) {
	begin();
	for (uint16_t code = 1; code <= 200; code++) {
		add(INPUT_KEY, code, 1);
	}
	play();
	tap_ok(got.pressed == INPUT_HELD_MAX, "no more keys at once than hands can press");
	for (uint16_t code = 1; code <= 200; code++) {
		add(INPUT_KEY, code, 0);
	}
	play();
	tap_ok(got.pressed == 0, "and all are released");
}

/* So says the sender, and is silent for so long. */
static void have_devices(uint32_t devices, uint64_t ms) {
	sent.head.devices = devices;
	play();
	now += ms * MS;
	if (now >= input_player_deadline(&player)) {
		input_player_expire(&player, now);
	}
}

static void test_devices(void) {
	uint32_t both = INPUT_KEYBOARD | INPUT_POINTER;
	begin();
	have_devices(INPUT_KEYBOARD, 0);
	have_devices(INPUT_POINTER, 0);
	tap_ok(got.devices == both, "devices come at once, and stay for a while");
	have_devices(both, INPUT_GONE_MS);
	tap_ok(got.devices == both && input_player_deadline(&player) == UINT64_MAX,
			"for good, if they come back");
	add(INPUT_KEY, 30, 1);
	have_devices(INPUT_POINTER, INPUT_GONE_MS - 1);
	tap_ok(got.devices == both && got.pressed == 1, "what is held on one that goes stays so");
	have_devices(INPUT_POINTER, 1);
	tap_ok(got.devices == INPUT_POINTER && got.pressed == 0,
			"until that is gone, which is a second later");
	have_devices(0, 2 * INPUT_GONE_MS);
	tap_ok(got.devices == INPUT_POINTER, "of who has none, as one who begins, all stay");
}

static void test_devices_that_flicker(void) {
	enum { SECONDS = 10 };
	begin();
	for (uint32_t i = 0; i < SECONDS * 1000; i++) {
		have_devices(i % 2 == 0 ? INPUT_KEYBOARD : INPUT_POINTER, 1);
	}
	tap_ok(got.device_changes <= 2 * SECONDS + 2,
			"who has them by turns changes them twice a second at most");
}

static void wish(uint32_t width, uint32_t height) {
	sent.head.width = width;
	sent.head.height = height;
	play();
}

static void test_sizes(void) {
	begin();
	play();
	tap_ok(got.sizes == 0, "who has no window wishes nothing");
	wish(800, 600);
	wish(800, 600);
	tap_ok(got.sizes == 1 && got.width == 800 && got.height == 600, "a wish is told once");
	wish(800, 601);
	wish(0, 0);
	tap_ok(got.sizes == 2 && got.height == 601, "another one, too; none is not told");
	wish(800, 601);
	input_player_begin(&player, now);
	play();
	tap_ok(got.sizes == 4, "who comes back is heard again");
	tap_ok(got.scale == 0, "no scale is one that is not known");
	sent.head.scale = 180;
	play();
	play();
	tap_ok(got.sizes == 5 && got.height == 601 && got.scale == 180,
			"a window of the same size on another screen is told once");
}

static void test_closings(void) {
	begin();
	sent.head.closings = 7;
	play();
	tap_ok(got.closings == 0, "nobody is asked to close what others wanted to be closed");
	sent.head.closings = 8;
	play();
	play();
	tap_ok(got.closings == 1, "a wish is told once");
	sent.head.closings = 30000;
	play();
	tap_ok(got.closings == 2, "and many at once as one");
	sent.head.closings = UINT32_MAX;
	play();
	sent.head.closings = 0;
	play();
	tap_ok(got.closings == 4, "whatever the count is");
	sent.head.closings = 1;
	input_player_begin(&player, now);
	play();
	tap_ok(got.closings == 4, "another sender begins with none");
}

enum { PEN = INPUT_TOOL_FIRST, ERASER, TIP = INPUT_PEN_TIP, STYLUS = TIP + 1 };

static void move_pen(int32_t x, int32_t pressure) {
	input_log_add(&sent,
			&(struct input_record){.time = now,
					.type = INPUT_PEN_MOTION,
					.value = pressure,
					.x = x,
					.y = 9,
					.raw_x = 5});
}

static void test_pens(void) {
	begin_with(&pens_sink);
	add(INPUT_PEN_NEAR, PEN, 1);
	move_pen(7, 100);
	add(INPUT_PEN_BUTTON, TIP, 1);
	add(INPUT_PEN_BUTTON, STYLUS, 1);
	play();
	tap_ok(got.near == 1 && got.pen_motions == 1 && got.pressed == 2 && got.events == 5,
			"a pen is near, and pressed");
	now += LEASE;
	input_player_expire(&player, now);
	tap_ok(got.near == 0 && got.pressed == 0 && got.events == 9 &&
					got.last.type == INPUT_GROUP_END,
			"until its sender is silent");
	move_pen(8, 100);
	play();
	tap_ok(got.near == 1 && got.pen_motions == 2 && got.pressed == 0,
			"it is near again as it moves, and not pressed");
	add(INPUT_PEN_NEAR, PEN, 0);
	play();
	tap_ok(got.near == 0 && got.pressed == 0 && player.held_count == 0, "and goes");
	sent.head.devices = INPUT_PEN;
	play();
	tap_ok(got.devices == INPUT_PEN, "who knows pens is told of them");
}

/* What no log would write. */
static void play_raw(uint16_t type, uint16_t code, int32_t value) {
	sent.events[0] = (struct input_record){
			.time = now, .type = type, .code = code, .value = value};
	sent.head.count = 1;
	sent.head.next++;
	input_hold(&sent.head.held, code, value != 0);
	play();
}

static void test_pens_of_strangers(void) {
	begin_with(&pens_sink);
	play_raw(INPUT_PEN_BUTTON, TIP, 1);
	tap_ok(got.pressed == 0, "a pen that is far presses nothing");
	play_raw(INPUT_PEN_NEAR, PEN, 1);
	play_raw(INPUT_PEN_NEAR, ERASER, 1);
	tap_ok(got.near == 1, "two are not near at once");
	play_raw(INPUT_PEN_BUTTON, STYLUS, 1);
	input_hold(&sent.head.held, PEN, false);
	play();
	tap_ok(got.near == 0 && got.pressed == 0,
			"one that is gone by what is held presses nothing, whatever that says");
	play_raw(INPUT_PEN_NEAR, PEN, 1);
	play_raw(INPUT_PEN_BUTTON, TIP, 0);
	play_raw(INPUT_PEN_BUTTON, TIP, 1);
	play_raw(INPUT_PEN_NEAR, PEN, 0);
	tap_ok(got.near == 0 && got.pressed == 0, "nor one that goes");
}

static void test_who_knows_no_pens(void) {
	begin();
	sent.head.devices = INPUT_PEN | INPUT_KEYBOARD;
	add(INPUT_PEN_NEAR, PEN, 1);
	add(INPUT_GROUP_END, 0, 0);
	play();
	tap_ok(got.events == 0 && got.devices == (INPUT_POINTER | INPUT_KEYBOARD),
			"has a pointer, of which nothing is told yet");
	move_pen(7, 100);
	add(INPUT_PEN_BUTTON, TIP, 1);
	play();
	tap_ok(got.places == 1 && got.x == 7 && got.y == 9 && got.presses == 1 &&
					got.codes[0] == 0x110 && got.near == 0,
			"which is where the pen is, and pressed as it is");
	add(INPUT_BUTTON, 0x110, 1);
	add(INPUT_PEN_BUTTON, TIP, 0);
	play();
	tap_ok(got.presses == 1 && got.releases == 0, "a button that a mouse holds, too, is held");
	add(INPUT_BUTTON, 0x110, 0);
	play();
	tap_ok(got.presses == 1 && got.releases == 1, "until both let it go");
	add(INPUT_PEN_BUTTON, INPUT_PEN_BUTTON_FIRST, 1);
	play();
	tap_ok(got.presses == 1, "of a third button there is nothing");
}

int main(void) {
	slot = calloc(1, INPUT_SLOT_SIZE);
	test_each_event_once();
	test_groups_that_end();
	test_who_missed_too_much();
	test_nothing_stays_pressed();
	test_who_comes_late();
	test_where_the_pointer_is();
	test_clocks();
	test_floods();
	test_keymaps_that_change_all_the_time();
	test_too_many_keys();
	test_pens();
	test_pens_of_strangers();
	test_who_knows_no_pens();
	test_devices();
	test_devices_that_flicker();
	test_sizes();
	test_closings();
	free(slot);
	return tap_finish();
}
