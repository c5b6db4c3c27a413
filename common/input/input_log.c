// SPDX-License-Identifier: MIT
#include "input_log.h"

#include <string.h>

void input_log_init(struct input_log *log, uint32_t lease_ms) {
	*log = (struct input_log){.head = {.magic = INPUT_MAGIC, .lease_ms = lease_ms}};
}

/* The event `skipped` before the last one, if no frame has it yet; else NULL. */
static struct input_record *log_unwritten(struct input_log *log, uint32_t skipped) {
	const struct input_head *head = &log->head;
	bool is_there = head->next - log->written > skipped && head->count > skipped;
	return is_there ? &log->events[head->count - 1 - skipped] : NULL;
}

static bool is_of_motion(const struct input_record *last, const struct input_record *event) {
	bool moves = event->type == INPUT_MOTION || event->type == INPUT_RELATIVE ||
			event->type == INPUT_TOUCH_MOTION || event->type == INPUT_PEN_MOTION;
	return moves && last != NULL && last->type == event->type && last->code == event->code;
}

/* Returns false where the sum does not fit in one event. */
static bool add_distance(int32_t *sum, int32_t distance) {
	int32_t both = *sum + distance; /* no overflow: each is at most INPUT_DISTANCE_MAX */
	bool fits = both >= -INPUT_DISTANCE_MAX && both <= INPUT_DISTANCE_MAX;
	*sum = fits ? both : *sum;
	return fits;
}

static bool add_relative(struct input_record *last, const struct input_record *event) {
	struct input_record sum = *last;
	if (!add_distance(&sum.x, event->x) || !add_distance(&sum.y, event->y) ||
			!add_distance(&sum.raw_x, event->raw_x) ||
			!add_distance(&sum.raw_y, event->raw_y)) {
		return false;
	}
	sum.time = event->time;
	*last = sum;
	return true;
}

static bool log_join_motion(struct input_log *log, const struct input_record *event) {
	struct input_record *last = log_unwritten(log, 0), *before = log_unwritten(log, 1);
	bool ended = last != NULL && last->type == INPUT_GROUP_END;
	struct input_record *motion = ended ? before : last;
	if (!is_of_motion(motion, event)) {
		return false;
	}
	if (event->type != INPUT_RELATIVE) {
		*motion = *event;
	} else if (!add_relative(motion, event)) {
		return false;
	}
	if (ended) { /* the group goes on */
		log->head.count--;
		log->head.next--;
	}
	return true;
}

static void log_append(struct input_log *log, const struct input_record *event) {
	struct input_head *head = &log->head;
	if (head->count == INPUT_EVENTS_MAX) {
		memmove(log->events, log->events + 1,
				(INPUT_EVENTS_MAX - 1) * sizeof(log->events[0]));
		head->count--;
	}
	log->events[head->count++] = *event;
	head->next++;
}

/*
 * Whether a pen's event is possible: one pen is near at a time, and has buttons only while it is.
 */
static bool pen_can(const struct input_held *held, const struct input_record *event) {
	bool is_near = input_near_tool(held) != 0;
	return event->value == 0 || is_near == (event->type == INPUT_PEN_BUTTON);
}

/* Updates what is held. Returns false for an event that changes nothing. */
static bool log_hold(struct input_log *log, const struct input_record *event) {
	struct input_held *held = &log->head.held;
	uint32_t bit = event->type >= INPUT_TOUCH_DOWN && event->type <= INPUT_TOUCH_UP
			? 1u << event->code
			: 0;
	bool down = (held->touches & bit) != 0;
	switch (event->type) {
	case INPUT_PEN_NEAR:
	case INPUT_PEN_BUTTON:
		if (!pen_can(held, event)) {
			return false;
		}
		__attribute__((fallthrough));
	case INPUT_KEY:
	case INPUT_BUTTON:
		if (input_holds(held, event->code) == (event->value != 0)) {
			return false;
		}
		input_hold(held, event->code, event->value != 0);
		return true;
	case INPUT_TOUCH_DOWN:
		held->touches |= bit;
		return !down;
	case INPUT_TOUCH_UP:
		held->touches &= ~bit;
		return down;
	case INPUT_TOUCH_MOTION:
		return down;
	case INPUT_PEN_MOTION:
		return input_near_tool(held) != 0;
	default:
		return true;
	}
}

/* After a relative motion the place of the pointer is unknown. */
static void log_place(struct input_log *log, const struct input_record *event) {
	struct input_head *head = &log->head;
	if (event->type == INPUT_MOTION || event->type == INPUT_RELATIVE) {
		bool placed = event->type == INPUT_MOTION;
		head->placed = placed;
		head->x = placed ? event->x : 0;
		head->y = placed ? event->y : 0;
	}
}

static bool log_put(struct input_log *log, const struct input_record *event) {
	bool is_end = event->type == INPUT_GROUP_END;
	if (!input_record_is_valid(event) || !log_hold(log, event) || (is_end && !log->in_group)) {
		return false;
	}
	log->in_group = !is_end;
	log_place(log, event);
	if (!log_join_motion(log, event)) {
		log_append(log, event);
	}
	return true;
}

/* Releases a pen's buttons before it goes. */
static void log_lift_pen(struct input_log *log, uint64_t time) {
	struct input_record event = {
			.time = time, .type = INPUT_PEN_BUTTON, .code = INPUT_PEN_BUTTON_FIRST};
	for (; event.code <= INPUT_PEN_BUTTON_LAST; event.code++) {
		log_put(log, &event);
	}
}

bool input_log_add(struct input_log *log, const struct input_record *event) {
	if (event->type == INPUT_PEN_NEAR && event->value == 0 &&
			input_near_tool(&log->head.held) == event->code) {
		log_lift_pen(log, event->time);
	}
	return log_put(log, event);
}

bool input_log_release(struct input_log *log, const struct input_held *these, uint64_t time) {
	struct input_record event = {.time = time};
	bool released = false;
	for (event.code = 1; event.code < INPUT_CODES; event.code++) {
		event.type = input_code_type(event.code);
		released |= input_holds(these, event.code) && input_log_add(log, &event);
	}
	event.type = INPUT_TOUCH_UP;
	for (event.code = 0; event.code < INPUT_TOUCHES; event.code++) {
		released |= (these->touches >> event.code & 1) && input_log_add(log, &event);
	}
	if (released) {
		input_log_add(log, &(struct input_record){.time = time, .type = INPUT_GROUP_END});
	}
	return released;
}

bool input_log_release_all(struct input_log *log, uint64_t time) {
	struct input_held all = log->head.held;
	return input_log_release(log, &all, time);
}

void input_log_forget(struct input_log *log) {
	log->head.count = 0;
	log->written = log->head.next;
}

void input_log_write(struct input_log *log, void *slot) {
	input_frame_write(slot, &log->head, log->events);
	log->written = log->head.next;
}
