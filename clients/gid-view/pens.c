// SPDX-License-Identifier: MIT
#include "pens.h"

#include <linux/input-event-codes.h>
#include <stdlib.h>
#include <string.h>

#include "tablet-v2-client-protocol.h"

/* State of a tablet tool. Events collect in it until the tool's frame event. */
struct pen {
	struct wl_list link; // pens.pens
	struct pens *pens;
	struct zwp_tablet_tool_v2 *base;
	uint16_t code; // BTN_TOOL_*
	bool has_pressure;
	bool over;	   // our window
	bool placed;	   // its position there is known
	uint32_t came;	   // serial of proximity_in
	bool moved;	   // in the current frame
	uint32_t down;	   // bit i: the button INPUT_PEN_BUTTON_FIRST + i
	uint32_t was_down; // in the previous frame
	wl_fixed_t x, y;   // in surface coordinates
	int32_t pressure, tilt_x, tilt_y;
};

struct tablet {
	struct wl_list link; // pens.tablets
	struct pens *pens;
	struct zwp_tablet_v2 *base;
};

/*
 * Rings, strips and buttons of a tablet are not used. But the compositor creates their objects, and
 * they have to be destroyed.
 */
enum piece_kind { PIECE_PAD, PIECE_GROUP, PIECE_RING, PIECE_STRIP };

struct piece {
	struct wl_list link; // pens.pieces
	struct pens *pens;
	enum piece_kind kind;
	void *base;
};

/* --- events ----------------------------------------------------------------------------------- */

static bool pens_send(const struct pens *pens, struct input_record event) {
	return pens->user->event(pens->data, &event);
}

static uint16_t button_code(uint32_t i) {
	return (uint16_t)(INPUT_PEN_BUTTON_FIRST + i);
}

static bool pen_send_near(const struct pen *pen, bool near) {
	return pens_send(pen->pens,
			(struct input_record){
					.type = INPUT_PEN_NEAR, .code = pen->code, .value = near});
}

/* A tool without pressure is pressed fully or not at all. */
static int32_t pen_pressure(const struct pen *pen) {
	bool tip = pen->down >> (INPUT_PEN_TIP - INPUT_PEN_BUTTON_FIRST) & 1;
	return pen->has_pressure ? pen->pressure : tip ? INPUT_FULL - 1 : 0;
}

static void pen_send_motion(const struct pen *pen) {
	struct input_record event;
	pen->pens->user->at(pen->pens->data, pen->x, pen->y, &event);
	event.value = pen_pressure(pen);
	event.raw_x = pen->tilt_x;
	event.raw_y = pen->tilt_y;
	pens_send(pen->pens, event);
}

static void pen_send_buttons(const struct pen *pen) {
	uint32_t changed = pen->down ^ pen->was_down;
	for (uint32_t i = 0; button_code(i) <= INPUT_PEN_BUTTON_LAST; i++) {
		if (changed >> i & 1) {
			pens_send(pen->pens,
					(struct input_record){.type = INPUT_PEN_BUTTON,
							.code = button_code(i),
							.value = pen->down >> i & 1});
		}
	}
}

static bool pen_is_on_picture(const struct pen *pen) {
	struct input_record event;
	return pen->over && pen->placed &&
			pen->pens->user->at(pen->pens->data, pen->x, pen->y, &event);
}

/*
 * A pen that was pressed on the picture stays there until it presses nothing. One that was pressed
 * beside it does not come near until then.
 */
static void pen_aim(struct pen *pen) {
	struct pens *pens = pen->pens;
	bool free = pen->was_down == 0 || pen->down == 0;
	if (pens->near == NULL && pen_is_on_picture(pen) && free && pen_send_near(pen, true)) {
		pens->near = pen;
		pen->moved = true;
		if (pens->user->hides_cursor(pens->data)) {
			zwp_tablet_tool_v2_set_cursor(pen->base, pen->came, NULL, 0, 0);
		}
	}
}

static void pen_leave(struct pen *pen) {
	struct pens *pens = pen->pens;
	if (pens->near == pen && !pen_is_on_picture(pen) && (pen->down == 0 || !pen->over)) {
		pens->near = NULL;
		pen_send_near(pen, false);
	}
}

static void tool_frame(void *data, struct zwp_tablet_tool_v2 *base, uint32_t time) {
	struct pen *pen = data;
	const struct pens *pens = pen->pens;
	pens->user->time(pens->data, time);
	pen_aim(pen);
	if (pens->near == pen) {
		if (pen->moved) {
			pen_send_motion(pen);
		}
		pen_send_buttons(pen);
		pen_leave(pen);
	}
	pen->moved = false;
	pen->was_down = pen->down;
	pens->user->group(pens->data);
}

/* --- tools ------------------------------------------------------------------------------------ */

/* Other tools, such as a tablet mouse, are used as pens. */
static void tool_type(void *data, struct zwp_tablet_tool_v2 *base, uint32_t type) {
	struct pen *pen = data;
	pen->code = type >= BTN_TOOL_PEN && type <= BTN_TOOL_AIRBRUSH ? (uint16_t)type
								      : BTN_TOOL_PEN;
}

static void tool_hardware(
		void *data, struct zwp_tablet_tool_v2 *base, uint32_t high, uint32_t low) {
}

static void tool_capability(void *data, struct zwp_tablet_tool_v2 *base, uint32_t capability) {
	struct pen *pen = data;
	pen->has_pressure |= capability == ZWP_TABLET_TOOL_V2_CAPABILITY_PRESSURE;
}

static void tool_done(void *data, struct zwp_tablet_tool_v2 *base) {
}

static void pen_destroy(struct pen *pen) {
	struct pens *pens = pen->pens;
	if (pens->near == pen) {
		pens->near = NULL;
		pen_send_near(pen, false);
		pens->user->group(pens->data);
	}
	zwp_tablet_tool_v2_destroy(pen->base);
	wl_list_remove(&pen->link);
	free(pen);
}

static void tool_removed(void *data, struct zwp_tablet_tool_v2 *base) {
	pen_destroy(data);
}

static void tool_proximity_in(void *data, struct zwp_tablet_tool_v2 *base, uint32_t serial,
		struct zwp_tablet_v2 *tablet, struct wl_surface *surface) {
	struct pen *pen = data;
	pen->over = surface == pen->pens->surface;
	pen->placed = false;
	pen->came = serial;
}

static void tool_proximity_out(void *data, struct zwp_tablet_tool_v2 *base) {
	struct pen *pen = data;
	pen->over = false;
	pen->down = 0;
}

static void pen_press(struct pen *pen, uint16_t code, bool pressed) {
	uint32_t bit = 1u << (code - INPUT_PEN_BUTTON_FIRST);
	pen->down = pressed ? pen->down | bit : pen->down & ~bit;
	pen->moved |= code == INPUT_PEN_TIP; // its pressure changes
}

static void tool_down(void *data, struct zwp_tablet_tool_v2 *base, uint32_t serial) {
	struct pen *pen = data;
	pen->pens->user->pressed(pen->pens->data, serial);
	pen_press(pen, INPUT_PEN_TIP, true);
}

static void tool_up(void *data, struct zwp_tablet_tool_v2 *base) {
	pen_press(data, INPUT_PEN_TIP, false);
}

static void tool_motion(void *data, struct zwp_tablet_tool_v2 *base, wl_fixed_t x, wl_fixed_t y) {
	struct pen *pen = data;
	pen->moved = pen->placed = true;
	pen->x = x;
	pen->y = y;
}

static void tool_pressure(void *data, struct zwp_tablet_tool_v2 *base, uint32_t pressure) {
	struct pen *pen = data;
	pen->moved = true;
	pen->pressure = pressure < INPUT_FULL ? (int32_t)pressure : INPUT_FULL - 1;
}

static void tool_distance(void *data, struct zwp_tablet_tool_v2 *base, uint32_t distance) {
}

static int32_t bound_tilt(wl_fixed_t tilt) {
	return tilt > INPUT_TILT_MAX		 ? INPUT_TILT_MAX
			: tilt < -INPUT_TILT_MAX ? -INPUT_TILT_MAX
						 : tilt;
}

static void tool_tilt(void *data, struct zwp_tablet_tool_v2 *base, wl_fixed_t x, wl_fixed_t y) {
	struct pen *pen = data;
	pen->moved = true;
	pen->tilt_x = bound_tilt(x);
	pen->tilt_y = bound_tilt(y);
}

static void tool_rotation(void *data, struct zwp_tablet_tool_v2 *base, wl_fixed_t degrees) {
}

static void tool_slider(void *data, struct zwp_tablet_tool_v2 *base, int32_t position) {
}

static void tool_wheel(
		void *data, struct zwp_tablet_tool_v2 *base, wl_fixed_t degrees, int32_t clicks) {
}

static void tool_button(void *data, struct zwp_tablet_tool_v2 *base, uint32_t serial,
		uint32_t button, uint32_t state) {
	struct pen *pen = data;
	bool pressed = state == ZWP_TABLET_TOOL_V2_BUTTON_STATE_PRESSED;
	pen->pens->user->pressed(pen->pens->data, serial);
	switch (button) { // buttons of a mouse are used as those of a pen
	case BTN_LEFT:
		pen_press(pen, INPUT_PEN_TIP, pressed);
		break;
	case BTN_RIGHT:
	case BTN_STYLUS:
		pen_press(pen, BTN_STYLUS, pressed);
		break;
	case BTN_MIDDLE:
	case BTN_STYLUS2:
		pen_press(pen, BTN_STYLUS2, pressed);
		break;
	case BTN_STYLUS3:
		pen_press(pen, BTN_STYLUS3, pressed);
		break;
	}
}

static const struct zwp_tablet_tool_v2_listener tool_listener = {
		.type = tool_type,
		.hardware_serial = tool_hardware,
		.hardware_id_wacom = tool_hardware,
		.capability = tool_capability,
		.done = tool_done,
		.removed = tool_removed,
		.proximity_in = tool_proximity_in,
		.proximity_out = tool_proximity_out,
		.down = tool_down,
		.up = tool_up,
		.motion = tool_motion,
		.pressure = tool_pressure,
		.distance = tool_distance,
		.tilt = tool_tilt,
		.rotation = tool_rotation,
		.slider = tool_slider,
		.wheel = tool_wheel,
		.button = tool_button,
		.frame = tool_frame,
};

/* --- tablets ---------------------------------------------------------------------------------- */

static void tablet_name(void *data, struct zwp_tablet_v2 *base, const char *name) {
}

static void tablet_id(void *data, struct zwp_tablet_v2 *base, uint32_t vendor, uint32_t product) {
}

static void tablet_path(void *data, struct zwp_tablet_v2 *base, const char *path) {
}

static void tablet_done(void *data, struct zwp_tablet_v2 *base) {
}

static void tablet_destroy(struct tablet *tablet) {
	zwp_tablet_v2_destroy(tablet->base);
	wl_list_remove(&tablet->link);
	free(tablet);
}

static void tablet_removed(void *data, struct zwp_tablet_v2 *base) {
	struct tablet *tablet = data;
	const struct pens *pens = tablet->pens;
	tablet_destroy(tablet);
	pens->user->tablets(pens->data);
}

static const struct zwp_tablet_v2_listener tablet_listener = {
		.name = tablet_name,
		.id = tablet_id,
		.path = tablet_path,
		.done = tablet_done,
		.removed = tablet_removed,
};

/* --- pads, which are not used ----------------------------------------------------------------- */

static struct piece *pens_keep(struct pens *pens, enum piece_kind kind, void *base) {
	struct piece *piece = calloc(1, sizeof(*piece));
	if (piece == NULL) {
		abort(); // as libwayland does without memory
	}
	piece->pens = pens;
	piece->kind = kind;
	piece->base = base;
	wl_list_insert(&pens->pieces, &piece->link);
	return piece;
}

static void piece_destroy(struct piece *piece) {
	switch (piece->kind) {
	case PIECE_PAD:
		zwp_tablet_pad_v2_destroy(piece->base);
		break;
	case PIECE_GROUP:
		zwp_tablet_pad_group_v2_destroy(piece->base);
		break;
	case PIECE_RING:
		zwp_tablet_pad_ring_v2_destroy(piece->base);
		break;
	case PIECE_STRIP:
		zwp_tablet_pad_strip_v2_destroy(piece->base);
		break;
	}
	wl_list_remove(&piece->link);
	free(piece);
}

static void group_buttons(
		void *data, struct zwp_tablet_pad_group_v2 *base, struct wl_array *buttons) {
}

static void group_ring(void *data, struct zwp_tablet_pad_group_v2 *base,
		struct zwp_tablet_pad_ring_v2 *ring) {
	struct piece *piece = data;
	pens_keep(piece->pens, PIECE_RING, ring);
}

static void group_strip(void *data, struct zwp_tablet_pad_group_v2 *base,
		struct zwp_tablet_pad_strip_v2 *strip) {
	struct piece *piece = data;
	pens_keep(piece->pens, PIECE_STRIP, strip);
}

static void group_modes(void *data, struct zwp_tablet_pad_group_v2 *base, uint32_t modes) {
}

static void group_done(void *data, struct zwp_tablet_pad_group_v2 *base) {
}

static void group_mode_switch(void *data, struct zwp_tablet_pad_group_v2 *base, uint32_t time,
		uint32_t serial, uint32_t mode) {
}

static const struct zwp_tablet_pad_group_v2_listener group_listener = {
		.buttons = group_buttons,
		.ring = group_ring,
		.strip = group_strip,
		.modes = group_modes,
		.done = group_done,
		.mode_switch = group_mode_switch,
};

static void pad_group(
		void *data, struct zwp_tablet_pad_v2 *base, struct zwp_tablet_pad_group_v2 *group) {
	struct piece *piece = data;
	zwp_tablet_pad_group_v2_add_listener(
			group, &group_listener, pens_keep(piece->pens, PIECE_GROUP, group));
}

static void pad_path(void *data, struct zwp_tablet_pad_v2 *base, const char *path) {
}

static void pad_buttons(void *data, struct zwp_tablet_pad_v2 *base, uint32_t buttons) {
}

static void pad_done(void *data, struct zwp_tablet_pad_v2 *base) {
}

static void pad_button(void *data, struct zwp_tablet_pad_v2 *base, uint32_t time, uint32_t button,
		uint32_t state) {
}

static void pad_enter(void *data, struct zwp_tablet_pad_v2 *base, uint32_t serial,
		struct zwp_tablet_v2 *tablet, struct wl_surface *surface) {
}

static void pad_leave(void *data, struct zwp_tablet_pad_v2 *base, uint32_t serial,
		struct wl_surface *surface) {
}

/* Its objects stay until the seat goes: pads are seldom plugged in. */
static void pad_removed(void *data, struct zwp_tablet_pad_v2 *base) {
}

static const struct zwp_tablet_pad_v2_listener pad_listener = {
		.group = pad_group,
		.path = pad_path,
		.buttons = pad_buttons,
		.done = pad_done,
		.button = pad_button,
		.enter = pad_enter,
		.leave = pad_leave,
		.removed = pad_removed,
};

/* --- the seat --------------------------------------------------------------------------------- */

static void seat_tablet_added(
		void *data, struct zwp_tablet_seat_v2 *base, struct zwp_tablet_v2 *added) {
	struct pens *pens = data;
	struct tablet *tablet = calloc(1, sizeof(*tablet));
	if (tablet == NULL) {
		abort();
	}
	tablet->pens = pens;
	tablet->base = added;
	wl_list_insert(&pens->tablets, &tablet->link);
	zwp_tablet_v2_add_listener(added, &tablet_listener, tablet);
	pens->user->tablets(pens->data);
}

static void seat_tool_added(
		void *data, struct zwp_tablet_seat_v2 *base, struct zwp_tablet_tool_v2 *added) {
	struct pens *pens = data;
	struct pen *pen = calloc(1, sizeof(*pen));
	if (pen == NULL) {
		abort();
	}
	pen->pens = pens;
	pen->base = added;
	pen->code = BTN_TOOL_PEN;
	wl_list_insert(&pens->pens, &pen->link);
	zwp_tablet_tool_v2_add_listener(added, &tool_listener, pen);
}

static void seat_pad_added(
		void *data, struct zwp_tablet_seat_v2 *base, struct zwp_tablet_pad_v2 *added) {
	zwp_tablet_pad_v2_add_listener(added, &pad_listener, pens_keep(data, PIECE_PAD, added));
}

static const struct zwp_tablet_seat_v2_listener seat_listener = {
		.tablet_added = seat_tablet_added,
		.tool_added = seat_tool_added,
		.pad_added = seat_pad_added,
};

void pens_init(struct pens *pens, const struct pens_user *user, void *data,
		const struct wl_surface *surface) {
	*pens = (struct pens){.user = user, .data = data, .surface = surface};
	wl_list_init(&pens->pens);
	wl_list_init(&pens->tablets);
	wl_list_init(&pens->pieces);
}

void pens_bind(struct pens *pens, struct wl_registry *registry, uint32_t name,
		const char *interface) {
	if (strcmp(interface, zwp_tablet_manager_v2_interface.name) == 0 && pens->manager == NULL) {
		pens->manager = wl_registry_bind(
				registry, name, &zwp_tablet_manager_v2_interface, 1);
	}
}

void pens_use_seat(struct pens *pens, struct wl_seat *seat) {
	if (pens->manager != NULL && seat != NULL && pens->base == NULL) {
		pens->base = zwp_tablet_manager_v2_get_tablet_seat(pens->manager, seat);
		zwp_tablet_seat_v2_add_listener(pens->base, &seat_listener, pens);
	}
}

bool pens_are_there(const struct pens *pens) {
	return !wl_list_empty(&pens->tablets);
}

void pens_forget(struct pens *pens) {
	pens->near = NULL;
}

void pens_leave_seat(struct pens *pens) {
	struct pen *pen, *next_pen;
	struct tablet *tablet, *next_tablet;
	struct piece *piece, *next_piece;
	wl_list_for_each_safe(pen, next_pen, &pens->pens, link) {
		pen_destroy(pen);
	}
	wl_list_for_each_safe(tablet, next_tablet, &pens->tablets, link) {
		tablet_destroy(tablet);
	}
	wl_list_for_each_safe(piece, next_piece, &pens->pieces, link) {
		piece_destroy(piece);
	}
	if (pens->base != NULL) {
		zwp_tablet_seat_v2_destroy(pens->base);
		pens->base = NULL;
	}
}

void pens_finish(struct pens *pens) {
	if (pens->manager != NULL) {
		zwp_tablet_manager_v2_destroy(pens->manager);
		pens->manager = NULL;
	}
}
