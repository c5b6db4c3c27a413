// SPDX-License-Identifier: MIT
#include "waiting.h"

void waiting_init(struct waiting *waiting) {
	*waiting = (struct waiting){.pending = {.everything = true}};
}

static struct waiting_frame *frame_at(struct waiting *waiting, uint32_t place) {
	return &waiting->frames[(waiting->first + place) % GID_CREDIT_MAX];
}

void waiting_add(struct waiting *waiting, const struct gid_frame *frame) {
	const struct gid_box *box = &frame->damage;
	bool follows = frame->sequence == waiting->last_sequence + 1;
	bool everything = !follows || box->width <= 0 || box->height <= 0;
	*frame_at(waiting, waiting->count++) = (struct waiting_frame){
			.frame = *frame,
			.damage = {.everything = everything, .box = *box},
	};
	waiting->last_sequence = frame->sequence;
}

bool waiting_repeats(struct waiting *waiting, const struct gid_frame *frame) {
	bool repeats = (frame->flags & GID_FRAME_HEARTBEAT) != 0 &&
			frame->sequence == waiting->last_sequence + 1;
	if (repeats) {
		waiting->last_sequence = frame->sequence;
	}
	return repeats;
}

const struct gid_frame *waiting_get(const struct waiting *waiting, uint32_t place) {
	return place < waiting->count
			? &waiting->frames[(waiting->first + place) % GID_CREDIT_MAX].frame
			: NULL;
}

static struct damage damage_join(struct damage a, struct damage b) {
	if (a.everything || b.everything) {
		return (struct damage){.everything = true};
	}
	if (a.box.width == 0) {
		return b;
	}
	int32_t right = a.box.x + a.box.width, bottom = a.box.y + a.box.height;
	int32_t b_right = b.box.x + b.box.width, b_bottom = b.box.y + b.box.height;
	struct gid_box box = {
			.x = b.box.x < a.box.x ? b.box.x : a.box.x,
			.y = b.box.y < a.box.y ? b.box.y : a.box.y,
	};
	box.width = (b_right > right ? b_right : right) - box.x;
	box.height = (b_bottom > bottom ? b_bottom : bottom) - box.y;
	return (struct damage){.box = box};
}

struct damage waiting_damage(const struct waiting *waiting) {
	return damage_join(waiting->pending, waiting->frames[waiting->first].damage);
}

void waiting_remove(struct waiting *waiting, bool shown) {
	waiting->pending = shown ? (struct damage){0} : waiting_damage(waiting);
	waiting->first = (waiting->first + 1) % GID_CREDIT_MAX;
	waiting->count--;
}

void waiting_damage_everything(struct waiting *waiting) {
	waiting->pending = (struct damage){.everything = true};
}

void waiting_forget(struct waiting *waiting) {
	waiting->count = 0;
	waiting_damage_everything(waiting);
}
