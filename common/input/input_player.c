// SPDX-License-Identifier: MIT
#include "input_player.h"

#define SECOND_NS 1000000000ull
#define MS_NS 1000000ull

/* --- what is held ----------------------------------------------------------------------------- */

/*
 * Turns a pen's event into a pointer's, for a sink without pens. A button that mouse and pen hold
 * at once is pressed once. Returns whether there is an event left; `held` is the state after it.
 */
static bool make_pointers(const struct input_held *held, struct input_record *event) {
	uint16_t twin = input_pen_twin(event->code);
	switch (event->type) {
	case INPUT_PEN_MOTION:
		event->type = INPUT_MOTION;
		event->value = event->raw_x = event->raw_y = 0;
		return true;
	case INPUT_PEN_BUTTON:
		event->type = INPUT_BUTTON;
		event->code = twin;
		return twin != 0 && !input_holds(held, twin);
	case INPUT_BUTTON:
		return twin == 0 || !input_holds(held, twin);
	default:
		return event->type != INPUT_PEN_NEAR;
	}
}

/* Returns whether the sink got an event. */
static bool player_emit(struct input_player *player, const struct input_record *event) {
	struct input_record told = *event;
	bool is_told = player->sink->pens || make_pointers(&player->held, &told);
	if (is_told) {
		player->sink->event(player->data, &told);
	}
	return is_told;
}

static void player_tell_devices(const struct input_player *player) {
	uint32_t devices = player->devices;
	if (!player->sink->pens && (devices & INPUT_PEN)) {
		devices = (devices & ~(uint32_t)INPUT_PEN) | INPUT_POINTER;
	}
	player->sink->devices(player->data, devices);
}

static void player_end_group(struct input_player *player) {
	player_emit(player,
			&(struct input_record){.time = player->last_time, .type = INPUT_GROUP_END});
}

static void player_hold(struct input_player *player, uint32_t code, bool pressed) {
	input_hold(&player->held, code, pressed);
	player->held_count += pressed ? 1 : -1u;
}

/* Limits a time: not in the future, and not before the last event. */
static uint64_t player_time(struct input_player *player, uint64_t time, uint64_t now) {
	time = time > now ? now : time;
	time = time < player->last_time ? player->last_time : time;
	player->last_time = time;
	return time;
}

/* Returns whether the sink got an event. */
static bool player_let_go(struct input_player *player, uint16_t code, uint64_t time) {
	player_hold(player, code, false);
	return player_emit(player,
			&(struct input_record){
					.time = time, .type = input_code_type(code), .code = code});
}

/* A pen that goes holds no button. */
static bool player_lift_pen(struct input_player *player, uint64_t time) {
	bool lifted = false;
	for (uint16_t code = INPUT_PEN_BUTTON_FIRST; code <= INPUT_PEN_BUTTON_LAST; code++) {
		if (input_holds(&player->held, code)) {
			lifted |= player_let_go(player, code, time);
		}
	}
	return lifted;
}

/* Releases all that is held but not in `kept`. */
static void player_release_but(
		struct input_player *player, const struct input_held *kept, uint64_t now) {
	bool released = false;
	if (input_holds_nothing(&player->held)) {
		return;
	}
	struct input_record event = {.time = player_time(player, now, now)};
	uint16_t tool = input_near_tool(&player->held);
	if (tool != 0 && !input_holds(kept, tool)) {
		released = player_lift_pen(player, event.time);
	}
	for (uint16_t code = 0; code < INPUT_CODES; code++) {
		if (input_holds(&player->held, code) && !input_holds(kept, code)) {
			released |= player_let_go(player, code, event.time);
		}
	}
	event.type = INPUT_TOUCH_UP;
	for (event.code = 0; event.code < INPUT_TOUCHES; event.code++) {
		if ((player->held.touches & ~kept->touches) >> event.code & 1) {
			player->held.touches &= ~(1u << event.code);
			released |= player_emit(player, &event);
		}
	}
	if (released) {
		player_end_group(player);
	}
}

void input_player_release(struct input_player *player, uint64_t now) {
	static const struct input_held nothing;
	player_release_but(player, &nothing, now);
}

/* --- one event -------------------------------------------------------------------------------- */

static bool player_take_token(struct input_player *player) {
	if (player->tokens == 0) {
		player->stats.refused++;
		return false;
	}
	player->tokens--;
	return true;
}

/* A key or button. Returns whether it may be played; updates what is held. */
static bool player_switch(struct input_player *player, const struct input_record *event) {
	bool pressed = event->value != 0;
	if (input_holds(&player->held, event->code) == pressed) {
		return false;
	}
	if (pressed && player->held_count >= INPUT_HELD_MAX) {
		player->stats.refused++;
		return false;
	}
	if (pressed && !player_take_token(player)) {
		return false;
	}
	player_hold(player, event->code, pressed);
	return true;
}

/* Pens: one at a time; its buttons only while it is near. */
static bool player_pen(struct input_player *player, const struct input_record *event) {
	uint16_t tool = input_near_tool(&player->held);
	bool fits = event->value == 0 || (tool != 0) == (event->type == INPUT_PEN_BUTTON);
	if (!fits && tool != event->code) {
		player->stats.refused++;
		return false;
	}
	return player_switch(player, event);
}

/*
 * A pen that moves is near, even if we missed that it came, or released it while its sender was
 * silent: being near is no press, so it is safe to repeat.
 */
static bool player_pen_motion(struct input_player *player, uint64_t time) {
	if (input_near_tool(&player->held) == 0 && player->tool != 0 &&
			player->held_count < INPUT_HELD_MAX && player_take_token(player)) {
		player_hold(player, player->tool, true);
		player_emit(player,
				&(struct input_record){.time = time,
						.type = INPUT_PEN_NEAR,
						.code = player->tool,
						.value = 1});
	}
	return input_near_tool(&player->held) != 0 && player_take_token(player);
}

static bool player_touch(struct input_player *player, const struct input_record *event) {
	uint32_t bit = 1u << event->code;
	bool down = (player->held.touches & bit) != 0;
	if (down != (event->type != INPUT_TOUCH_DOWN)) {
		return false;
	}
	if (event->type != INPUT_TOUCH_UP && !player_take_token(player)) {
		return false;
	}
	if (event->type == INPUT_TOUCH_DOWN) {
		player->held.touches |= bit;
	} else if (event->type == INPUT_TOUCH_UP) {
		player->held.touches &= ~bit;
	}
	return true;
}

static bool player_admits(
		struct input_player *player, const struct input_record *event, uint64_t time) {
	switch (event->type) {
	case INPUT_KEY:
	case INPUT_BUTTON:
		return player_switch(player, event);
	case INPUT_TOUCH_DOWN:
	case INPUT_TOUCH_MOTION:
	case INPUT_TOUCH_UP:
		return player_touch(player, event);
	case INPUT_PEN_NEAR:
	case INPUT_PEN_BUTTON:
		return player_pen(player, event);
	case INPUT_PEN_MOTION:
		return player_pen_motion(player, time);
	case INPUT_GROUP_END:
		return true;
	default:
		return player_take_token(player);
	}
}

/* Plays an event. The end of a group in which nothing was played is dropped. */
static void player_play_event(struct input_player *player, const struct input_record *event,
		uint64_t time, uint64_t now, bool *grouped) {
	struct input_record played = *event;
	bool is_end = event->type == INPUT_GROUP_END;
	bool goes = event->type == INPUT_PEN_NEAR && event->value == 0 &&
			input_near_tool(&player->held) == event->code;
	if (is_end && !*grouped) {
		return;
	}
	played.time = player_time(player, time, now);
	if (goes) {
		*grouped |= player_lift_pen(player, played.time);
	}
	if (!player_admits(player, event, played.time)) {
		return;
	}
	player->stats.played++;
	bool told = player_emit(player, &played);
	*grouped = !is_end && (*grouped || told);
}

/* --- a frame ---------------------------------------------------------------------------------- */

static void player_refill(struct input_player *player, uint64_t now) {
	uint64_t passed = now > player->token_time ? now - player->token_time : 0;
	passed = passed < SECOND_NS ? passed : SECOND_NS;
	uint64_t added = passed * INPUT_RATE / SECOND_NS;
	if (added == 0) {
		return; /* too short a time for one token: it counts the next time */
	}
	uint64_t tokens = player->tokens + added;
	player->tokens = tokens < INPUT_BURST ? (uint32_t)tokens : INPUT_BURST;
	player->token_time = now;
}

static uint64_t translated(uint64_t time, int64_t offset) {
	int64_t sum;
	if (__builtin_add_overflow((int64_t)time, offset, &sum) || sum < 0) {
		return 0;
	}
	return (uint64_t)sum;
}

/*
 * Devices that are new are reported at once. A sender without any, as one that is gone or begins,
 * keeps its old ones: so windows keep the keyboard until their user is back. Other devices that are
 * missing go after INPUT_GONE_MS, which also bounds how often a sender can make them go.
 */
static void player_set_devices(struct input_player *player, uint32_t devices, uint64_t now) {
	if ((devices & ~player->devices) != 0) {
		player->devices |= devices;
		player_tell_devices(player);
	}
	player->kept = devices;
	if (devices == 0 || devices == player->devices) {
		player->gone_time = UINT64_MAX;
	} else if (player->gone_time == UINT64_MAX) {
		player->gone_time = now + INPUT_GONE_MS * MS_NS;
	}
}

static void player_take_devices(struct input_player *player, uint64_t now) {
	input_player_release(player, now);
	player->gone_time = UINT64_MAX;
	player->devices = player->kept;
	player_tell_devices(player);
}

static void player_set_size(struct input_player *player, const struct input_head *head) {
	bool is_new = player->width != head->width || player->height != head->height ||
			player->scale != head->scale;
	player->width = head->width;
	player->height = head->height;
	player->scale = head->scale;
	if (is_new && head->width > 0 && player->sink->size != NULL) {
		player->sink->size(player->data, head->width, head->height, head->scale);
	}
}

/* Requests to close from before the sender's first frame are ignored. */
static void player_count_closings(struct input_player *player, const struct input_head *head) {
	bool wanted = player->begun && player->closings != head->closings;
	player->closings = head->closings;
	if (wanted && player->sink->close != NULL) {
		player->sink->close(player->data);
	}
}

/* A sender's first frame says where the pointer is, which may not move before it clicks. */
static void player_place(struct input_player *player, const struct input_head *head, uint64_t now) {
	struct input_record event = {.time = player_time(player, now, now),
			.type = INPUT_MOTION,
			.x = head->x,
			.y = head->y};
	if (head->placed == 1 && player_take_token(player)) {
		player_emit(player, &event);
		player_end_group(player);
	}
}

static uint64_t keymaps_paid_until(const struct input_player *player, uint64_t now) {
	return player->keymap_time > now ? player->keymap_time : now;
}

bool input_player_wants_keymap(const struct input_player *player, uint32_t keymap, uint64_t now) {
	uint64_t ahead = keymaps_paid_until(player, now) - now;
	return keymap != player->keymap && ahead <= (INPUT_KEYMAPS - 1) * INPUT_KEYMAP_MS * MS_NS;
}

void input_player_take_keymap(struct input_player *player, uint32_t keymap, uint64_t now) {
	player->keymap = keymap;
	player->keymap_time = keymaps_paid_until(player, now) + INPUT_KEYMAP_MS * MS_NS;
}

void input_player_play(struct input_player *player, const struct input_frame *frame,
		int64_t clock_offset, uint64_t now) {
	bool grouped = false;
	player_refill(player, now);
	player_set_devices(player, frame->head.devices, now);
	player_set_size(player, &frame->head);
	player_count_closings(player, &frame->head);
	player->tool = input_near_tool(&frame->head.held);
	if (player->begun && frame->first > player->next) {
		player->stats.missed += frame->first - player->next;
	}
	if (!player->begun) {
		player_place(player, &frame->head, now);
	}
	for (uint32_t i = 0; i < frame->count; i++) {
		uint64_t time = translated(frame->events[i].time, clock_offset);
		/* Events from before our begin were for another reader. */
		if (player->begun || time >= player->since) {
			player->begun = true;
			player_play_event(player, &frame->events[i], time, now, &grouped);
		}
	}
	if (grouped) {
		player_end_group(player); /* the sink knows no frames: groups end with them */
	}
	player->begun = true;
	player->next = frame->head.next;
	player_release_but(player, &frame->head.held, now);
	player->lease_ns = frame->head.lease_ms * MS_NS;
	player->lease_end = now + player->lease_ns;
}

/* --- life ------------------------------------------------------------------------------------- */

void input_player_init(struct input_player *player, const struct input_sink *sink, void *data,
		uint64_t now) {
	*player = (struct input_player){
			.sink = sink, .data = data, .tokens = INPUT_BURST, .token_time = now};
	input_player_begin(player, now);
}

void input_player_begin(struct input_player *player, uint64_t now) {
	input_player_release(player, now);
	player->begun = false;
	player->width = player->height = player->scale = 0;
	player->next = 0;
	player->keymap = 0;
	player->since = now;
	player->gone_time = UINT64_MAX;
}

static uint64_t lease_deadline(const struct input_player *player) {
	return input_holds_nothing(&player->held) ? UINT64_MAX : player->lease_end;
}

uint64_t input_player_deadline(const struct input_player *player) {
	uint64_t lease_end = lease_deadline(player);
	return lease_end < player->gone_time ? lease_end : player->gone_time;
}

void input_player_expire(struct input_player *player, uint64_t now) {
	uint64_t end = lease_deadline(player);
	if (now >= player->gone_time) {
		player_take_devices(player, now);
		return;
	}
	if (now < end) {
		return;
	}
	if (now - end > player->lease_ns / 2) {
		player->lease_end = now + player->lease_ns;
		return;
	}
	player->stats.expired++;
	input_player_release(player, now);
}
