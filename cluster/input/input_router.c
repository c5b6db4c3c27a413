// SPDX-License-Identifier: MIT
#include "input_router.h"

#include <linux/input-event-codes.h>

/* --- targets ---------------------------------------------------------------------------------- */

static bool box_has(const struct gid_box *box, double x, double y) {
	return x >= box->x && y >= box->y && x < (double)box->x + box->width &&
			y < (double)box->y + box->height;
}

/* INPUT_NOWHERE: no picture there takes such input. */
static size_t router_find(const struct input_router *router, uint32_t device, const void *screen,
		double x, double y, struct input_target *target) {
	for (size_t i = 0; i < router->count; i++) {
		router->hooks->describe(router->data, i, target);
		if (!target->covers || target->screen != screen || !box_has(&target->box, x, y)) {
			continue;
		}
		bool takes = (target->takes & device) && target->is_live &&
				box_has(&target->picture, x, y);
		return takes ? i : INPUT_NOWHERE;
	}
	return INPUT_NOWHERE;
}

static int32_t part_of(double at, int32_t begin, int32_t size) {
	double part = (at - begin) / size * INPUT_FULL;
	return part < 0 ? 0 : part >= INPUT_FULL ? INPUT_FULL - 1 : (int32_t)part;
}

static struct input_record event_at(const struct input_target *target, enum input_type type,
		double x, double y, uint64_t time) {
	const struct gid_box *picture = &target->picture;
	return (struct input_record){.type = (uint16_t)type,
			.time = time,
			.x = part_of(x, picture->x, picture->width),
			.y = part_of(y, picture->y, picture->height)};
}

static void router_post(
		struct input_router *router, size_t target, const struct input_record *event) {
	router->grouped |= UINT64_C(1) << target;
	router->holding |= UINT64_C(1) << target;
	router->hooks->post(router->data, target, event);
}

/* The target holds nothing from now on, even if fingers still touch it. */
static void router_release(struct input_router *router, size_t target) {
	for (size_t i = 0; i < INPUT_TOUCHES; i++) {
		if (router->fingers[i].target == target) {
			router->fingers[i].target = INPUT_NOWHERE;
		}
	}
	if (router->pointed == target) {
		router->pointed = INPUT_NOWHERE;
		router->buttons = 0;
	}
	if (router->focus == target) {
		router->keys = (struct input_held){0};
	}
	router->holding &= ~(UINT64_C(1) << target);
	router->hooks->release(router->data, target);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void router_post_key(
		struct input_router *router, uint32_t code, bool pressed, uint64_t time) {
	input_hold(&router->keys, code, pressed);
	router_post(router, router->focus,
			&(struct input_record){.type = INPUT_KEY,
					.code = (uint16_t)code,
					.value = pressed,
					.time = time});
}

static void router_lift_keys(struct input_router *router, uint64_t time) {
	for (uint32_t code = 0; code < INPUT_CODES && !input_holds_nothing(&router->keys); code++) {
		if (input_holds(&router->keys, code)) {
			router_post_key(router, code, false, time);
		}
	}
}

/* Only the user moves the focus: no stream can take the keyboard. */
static void router_focus(struct input_router *router, size_t target, uint64_t time) {
	struct input_target described;
	router->hooks->describe(router->data, target, &described);
	if ((described.takes & INPUT_KEYBOARD) && router->focus != target) {
		router_lift_keys(router, time);
		router->focus = target;
	}
}

void input_router_key(struct input_router *router, uint32_t code, bool pressed, uint64_t time) {
	struct input_target target;
	if (router->focus == INPUT_NOWHERE || !input_code_is_key(code)) {
		return;
	}
	router->hooks->describe(router->data, router->focus, &target);
	/* A released key may have been pressed for another picture. */
	if (target.is_live && input_holds(&router->keys, code) != pressed) {
		router_post_key(router, code, pressed, time);
	}
}

/* --- fingers ---------------------------------------------------------------------------------- */

static size_t router_find_finger(const struct input_router *router, bool down, int32_t id) {
	size_t i = 0;
	while (i < INPUT_TOUCHES &&
			(router->fingers[i].down != down ||
					(down && router->fingers[i].id != id))) {
		i++;
	}
	return i;
}

static void router_lift(struct input_router *router, size_t finger, uint64_t time) {
	size_t target = router->fingers[finger].target;
	router->fingers[finger].target = INPUT_NOWHERE;
	if (target != INPUT_NOWHERE) {
		router_post(router, target,
				&(struct input_record){.type = INPUT_TOUCH_UP,
						.code = (uint16_t)finger,
						.time = time});
	}
}

void input_router_touch_down(struct input_router *router, int32_t id, const void *screen, double x,
		double y, uint64_t time) {
	struct input_target target;
	size_t i = router_find_finger(router, false, 0);
	if (i == INPUT_TOUCHES) {
		return;
	}
	router->fingers[i].down = true;
	router->fingers[i].id = id;
	router->fingers[i].screen = screen;
	size_t found = router_find(router, INPUT_TOUCH, screen, x, y, &target);
	if (found != INPUT_NOWHERE) {
		router_focus(router, found, time);
		struct input_record event = event_at(&target, INPUT_TOUCH_DOWN, x, y, time);
		event.code = (uint16_t)i;
		router_post(router, found, &event);
	}
	router->fingers[i].target = found;
}

/* A finger that leaves its rectangle stays out until it is lifted. */
void input_router_touch_motion(
		struct input_router *router, int32_t id, double x, double y, uint64_t time) {
	struct input_target target;
	size_t i = router_find_finger(router, true, id);
	if (i == INPUT_TOUCHES || router->fingers[i].target == INPUT_NOWHERE) {
		return;
	}
	size_t found = router_find(router, INPUT_TOUCH, router->fingers[i].screen, x, y, &target);
	if (found != router->fingers[i].target) {
		router_lift(router, i, time);
		return;
	}
	struct input_record event = event_at(&target, INPUT_TOUCH_MOTION, x, y, time);
	event.code = (uint16_t)i;
	router_post(router, found, &event);
}

void input_router_touch_up(struct input_router *router, int32_t id, uint64_t time) {
	size_t i = router_find_finger(router, true, id);
	if (i < INPUT_TOUCHES) {
		router_lift(router, i, time);
		router->fingers[i].down = false;
	}
}

/* --- the pointer ------------------------------------------------------------------------------ */

static void router_lift_buttons(struct input_router *router, uint64_t time) {
	for (uint16_t i = 0; router->buttons != 0; i++) {
		if (router->buttons >> i & 1) {
			router->buttons &= ~(1u << i);
			router_post(router, router->pointed,
					&(struct input_record){.type = INPUT_BUTTON,
							.code = (uint16_t)(BTN_MOUSE + i),
							.time = time});
		}
	}
}

void input_router_point(struct input_router *router, const void *screen, double x, double y,
		uint64_t time) {
	struct input_target target;
	router->pointer_screen = screen;
	router->pointer_x = x;
	router->pointer_y = y;
	size_t found = router_find(router, INPUT_POINTER, screen, x, y, &target);
	if (found != router->pointed) {
		router_lift_buttons(router, time);
		router->pointed = found;
	}
	if (found != INPUT_NOWHERE) {
		struct input_record event = event_at(&target, INPUT_MOTION, x, y, time);
		router_post(router, found, &event);
	}
}

/* The picture under the pointer may have changed since the pointer came there. */
static void router_point_again(struct input_router *router, uint64_t time) {
	if (router->pointer_screen != NULL) {
		input_router_point(router, router->pointer_screen, router->pointer_x,
				router->pointer_y, time);
	}
}

void input_router_button(struct input_router *router, uint32_t code, bool pressed, uint64_t time) {
	if (pressed) {
		router_point_again(router, time);
	}
	if (router->pointed == INPUT_NOWHERE || !input_code_is_button(code)) {
		return;
	}
	uint32_t bit = 1u << (code - BTN_MOUSE);
	if (pressed) {
		router_focus(router, router->pointed, time);
		router->buttons |= bit;
	} else if (router->buttons & bit) {
		router->buttons &= ~bit;
	} else {
		return; /* it was pressed elsewhere */
	}
	router_post(router, router->pointed,
			&(struct input_record){.type = INPUT_BUTTON,
					.code = (uint16_t)code,
					.value = pressed,
					.time = time});
}

void input_router_axis(struct input_router *router, const struct input_record *event) {
	router_point_again(router, event->time);
	if (router->pointed != INPUT_NOWHERE) {
		router_post(router, router->pointed, event);
	}
}

/* --- all -------------------------------------------------------------------------------------- */

void input_router_end_group(struct input_router *router, uint64_t time) {
	const struct input_record end = {.type = INPUT_GROUP_END, .time = time};
	for (size_t i = 0; router->grouped != 0; i++) {
		if (router->grouped >> i & 1) {
			router->grouped &= ~(UINT64_C(1) << i);
			router->hooks->post(router->data, i, &end);
		}
	}
}

void input_router_tick(struct input_router *router) {
	for (size_t i = 0; i < router->count && router->holding >> i != 0; i++) {
		struct input_target target;
		if ((router->holding >> i & 1) == 0) {
			continue;
		}
		router->hooks->describe(router->data, i, &target);
		if (!target.is_live) {
			router_release(router, i);
		}
	}
}

void input_router_release_all(struct input_router *router) {
	for (size_t i = 0; i < router->count; i++) {
		if (router->holding >> i & 1) {
			router_release(router, i);
		}
	}
	for (size_t i = 0; i < INPUT_TOUCHES; i++) {
		router->fingers[i].down = false;
	}
}

void input_router_init(struct input_router *router, size_t count,
		const struct input_router_hooks *hooks, void *data) {
	*router = (struct input_router){.hooks = hooks,
			.data = data,
			.count = count < INPUT_TARGETS_MAX ? count : INPUT_TARGETS_MAX,
			.pointed = INPUT_NOWHERE,
			.focus = INPUT_NOWHERE};
	for (size_t i = 0; i < INPUT_TOUCHES; i++) {
		router->fingers[i].target = INPUT_NOWHERE;
	}
	for (size_t i = router->count; i-- > 0;) { /* the topmost has the keyboard first */
		struct input_target target;
		hooks->describe(data, i, &target);
		if (target.takes & INPUT_KEYBOARD) {
			router->focus = i;
		}
	}
}
