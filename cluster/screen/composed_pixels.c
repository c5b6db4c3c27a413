// SPDX-License-Identifier: MIT
/*
 * Composed by the processor: for each buffer of the output, what has changed since it was drawn
 * last is copied from the pictures. What is above something else hides it, so each pixel is copied
 * once. Nothing here takes memory for a frame.
 */
#include <drm_fourcc.h>
#include <stdlib.h>
#include <string.h>
#include <wlr/render/swapchain.h>

#include "screen_composition.h"
#include "versions.h"

/* What wlroots' renderers draw where there is nothing. */
#define BLACK 0xff000000u

/* A buffer of the output's swapchain. */
struct slot {
	struct wlr_buffer *buffer; /* NULL: none; not a reference */
	struct wl_listener destroyed;
	uint64_t drawn; /* it shows everything up to this change */
};

struct plain {
	struct composition base;
	struct wlr_output *output; /* NULL: none */
	struct wl_listener needs_frame, damaged;
	struct slot slots[WLR_SWAPCHAIN_CAP];
	/* Changes have numbers. */
	uint64_t newest;
	uint64_t whole; /* the last one of everything */
	uint64_t built, committed;
};

struct plain_part {
	struct part base;
	uint64_t changed; /* its last change */
};

/* --- what changes ----------------------------------------------------------------------------- */

static uint64_t plain_change(struct plain *plain) {
	plain->newest++;
	plain->base.changed(plain->base.data);
	return plain->newest;
}

static void handle_shown_changed(struct part *base) {
	struct plain_part *part = wl_container_of(base, part, base);
	struct plain *plain = wl_container_of(base->composition, plain, base);
	part->changed = plain_change(plain);
}

/* What is not shown, as on a plane of its own, needs no frame. */
static void handle_look_changed(struct part *base) {
	if (base->is_shown) {
		handle_shown_changed(base);
	}
}

static void handle_forget(struct composition *base) {
	struct plain *plain = wl_container_of(base, plain, base);
	plain->whole = plain_change(plain);
}

static void handle_needs_frame_event(struct wl_listener *listener, void *data) {
	struct plain *plain = wl_container_of(listener, plain, needs_frame);
	plain->base.changed(plain->base.data);
}

static void handle_damaged(struct wl_listener *listener, void *data) {
	struct plain *plain = wl_container_of(listener, plain, damaged);
	handle_forget(&plain->base);
}

static bool handle_needs_frame(const struct composition *base) {
	const struct plain *plain = wl_container_of(base, plain, base);
	return plain->output->needs_frame || plain->committed != plain->newest;
}

static void handle_committed(struct composition *base) {
	struct plain *plain = wl_container_of(base, plain, base);
	plain->committed = plain->built;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* The pixels of a buffer that is drawn to. */
struct canvas {
	uint8_t *data;
	size_t stride;
};

static bool is_seen(const struct part *part) {
	return part->is_shown && part->picture != NULL;
}

/* The first row below `y` where a part begins or ends; at most `bottom`. */
static int32_t find_edge(const struct plain *plain, int32_t y, int32_t bottom) {
	const struct part *part;
	wl_list_for_each(part, &plain->base.parts, link) {
		int32_t top = part->box.y, end = top + part->box.height;
		if (is_seen(part)) {
			bottom = top > y && top < bottom ? top : bottom;
			bottom = end > y && end < bottom ? end : bottom;
		}
	}
	return bottom;
}

/* A piece of a row that shows one part. */
struct span {
	const struct part *part; /* NULL: nothing */
	int32_t right;		 /* where it ends */
	bool is_above;		 /* the part that is asked for */
};

/* What is seen from (x, y) on, until `right` at most. */
static struct span find_span(const struct plain *plain, int32_t x, int32_t y, int32_t right,
		const struct part *asked) {
	struct span span = {.right = right, .is_above = asked != NULL};
	const struct part *part;
	wl_list_for_each_reverse(part, &plain->base.parts, link) {
		const struct gid_box *box = &part->box;
		int32_t end = box->x + box->width;
		span.is_above = span.is_above && part != asked;
		if (!is_seen(part) || y < box->y || y >= box->y + box->height || end <= x) {
			continue;
		}
		if (box->x <= x) {
			span.part = part;
			span.right = end < span.right ? end : span.right;
			return span;
		}
		span.right = box->x < span.right ? box->x : span.right;
	}
	return span;
}

static void draw_row(const struct part *part, uint32_t *to, int32_t x, int32_t y, size_t count) {
	if (part == NULL) {
		for (size_t i = 0; i < count; i++) {
			to[i] = BLACK;
		}
		return;
	}
	const struct pixels *pixels = &part->picture->pixels;
	const uint32_t *from = part->picture->data + (size_t)(y - part->box.y) * pixels->width +
			(x - part->box.x);
	if (part->is_veiled) {
		pixels_veil(to, from, count);
	} else {
		memcpy(to, from, count * sizeof(*to));
	}
}

/*
 * What is to be seen in the box now that this part has changed, NULL: everything. What is above the
 * part hides the change.
 */
static void draw_box(const struct plain *plain, const struct canvas *canvas,
		const struct gid_box *box, const struct part *changed) {
	int32_t end = box->y + box->height;
	for (int32_t top = box->y, bottom; top < end; top = bottom) {
		bottom = find_edge(plain, top, end);
		for (int32_t x = box->x, right = x + box->width; x < right;) {
			struct span span = find_span(plain, x, top, right, changed);
			for (int32_t y = top; y < bottom && !span.is_above; y++) {
				uint8_t *row = canvas->data + (size_t)y * canvas->stride;
				draw_row(span.part, (uint32_t *)row + x, x, y,
						(size_t)(span.right - x));
			}
			x = span.right;
		}
	}
}

/* What of the part is on the output; nothing is an empty box. */
static struct gid_box plain_clip(const struct plain *plain, const struct gid_box *box) {
	int32_t x = box->x > 0 ? box->x : 0, y = box->y > 0 ? box->y : 0;
	int32_t right = box->x + box->width, bottom = box->y + box->height;
	right = right < plain->output->width ? right : plain->output->width;
	bottom = bottom < plain->output->height ? bottom : plain->output->height;
	return (struct gid_box){x, y, right > x ? right - x : 0, bottom > y ? bottom - y : 0};
}

/* Draws all that has changed after the change of this number. */
static void plain_draw(const struct plain *plain, const struct canvas *canvas, uint64_t after) {
	if (plain->whole > after) {
		draw_box(plain, canvas,
				&(struct gid_box){
						0, 0, plain->output->width, plain->output->height},
				NULL);
		return;
	}
	const struct plain_part *part;
	wl_list_for_each(part, &plain->base.parts, base.link) {
		if (part->changed > after) {
			struct gid_box box = plain_clip(plain, &part->base.box);
			draw_box(plain, canvas, &box, &part->base);
		}
	}
}

/* --- buffers ---------------------------------------------------------------------------------- */

static void handle_slot_destroyed(struct wl_listener *listener, void *data) {
	struct slot *slot = wl_container_of(listener, slot, destroyed);
	wl_list_remove(&slot->destroyed.link);
	*slot = (struct slot){0};
}

/* NULL: buffers of swapchains of before are still used, and nothing is known of this one. */
static struct slot *plain_find_slot(struct plain *plain, struct wlr_buffer *buffer) {
	struct slot *free = NULL;
	for (size_t i = 0; i < WLR_SWAPCHAIN_CAP; i++) {
		struct slot *slot = &plain->slots[i];
		if (slot->buffer == buffer) {
			return slot;
		}
		free = slot->buffer == NULL ? slot : free;
	}
	if (free != NULL) {
		free->buffer = buffer;
		free->destroyed.notify = handle_slot_destroyed;
		wl_signal_add(&buffer->events.destroy, &free->destroyed);
	}
	return free;
}

static bool plain_draw_buffer(struct plain *plain, struct wlr_buffer *buffer) {
	void *data;
	uint32_t format;
	struct canvas canvas;
	if (!wlr_buffer_begin_data_ptr_access(buffer, WLR_BUFFER_DATA_PTR_ACCESS_WRITE, &data,
			    &format, &canvas.stride)) {
		return false;
	}
	bool known = format == DRM_FORMAT_XRGB8888 || format == DRM_FORMAT_ARGB8888;
	if (known) {
		struct slot *slot = plain_find_slot(plain, buffer);
		canvas.data = data;
		plain_draw(plain, &canvas, slot != NULL ? slot->drawn : 0);
		if (slot != NULL) {
			slot->drawn = plain->newest;
		}
		plain->built = plain->newest;
	}
	wlr_buffer_end_data_ptr_access(buffer);
	return known;
}

/* What the last commit did not show: one box around it, for a region of several takes memory. */
static pixman_box32_t plain_find_damage(const struct plain *plain) {
	pixman_box32_t all = {0, 0, plain->output->width, plain->output->height};
	if (plain->whole > plain->committed) {
		return all;
	}
	pixman_box32_t damage = {all.x2, all.y2, 0, 0};
	const struct plain_part *part;
	wl_list_for_each(part, &plain->base.parts, base.link) {
		struct gid_box box = plain_clip(plain, &part->base.box);
		if (part->changed > plain->committed) {
			int32_t right = box.x + box.width, bottom = box.y + box.height;
			damage.x1 = box.x < damage.x1 ? box.x : damage.x1;
			damage.y1 = box.y < damage.y1 ? box.y : damage.y1;
			damage.x2 = right > damage.x2 ? right : damage.x2;
			damage.y2 = bottom > damage.y2 ? bottom : damage.y2;
		}
	}
	bool none = damage.x1 >= damage.x2 || damage.y1 >= damage.y2;
	return none ? (pixman_box32_t){0} : damage;
}

static void plain_set_damage(const struct plain *plain, struct wlr_output_state *state) {
	pixman_box32_t damage = plain_find_damage(plain);
	pixman_region32_t region;
	pixman_region32_init_with_extents(&region, &damage);
	wlr_output_state_set_damage(state, &region);
	pixman_region32_fini(&region);
}

static bool handle_build(struct composition *base, struct wlr_output_state *state) {
	struct plain *plain = wl_container_of(base, plain, base);
	struct wlr_output *output = plain->output;
	if (!wlr_output_configure_primary_swapchain(output, state, &output->swapchain)) {
		return false;
	}
	struct wlr_buffer *buffer = swapchain_acquire(output->swapchain);
	if (buffer == NULL) {
		return false;
	}
	bool drawn = plain_draw_buffer(plain, buffer);
	if (drawn) {
		wlr_output_state_set_buffer(state, buffer);
		plain_set_damage(plain, state);
	}
	wlr_buffer_unlock(buffer);
	return drawn;
}

/* --- begin and end ---------------------------------------------------------------------------- */

static bool handle_attach_output(struct composition *base, struct wlr_output *output) {
	struct plain *plain = wl_container_of(base, plain, base);
	plain->output = output;
	plain->needs_frame.notify = handle_needs_frame_event;
	wl_signal_add(&output->events.needs_frame, &plain->needs_frame);
	plain->damaged.notify = handle_damaged;
	wl_signal_add(&output->events.damage, &plain->damaged);
	handle_forget(base);
	return true;
}

static void handle_detach_output(struct composition *base) {
	struct plain *plain = wl_container_of(base, plain, base);
	wl_list_remove(&plain->needs_frame.link);
	wl_list_remove(&plain->damaged.link);
	plain->output = NULL;
}

static void handle_destroy(struct composition *base) {
	struct plain *plain = wl_container_of(base, plain, base);
	for (size_t i = 0; i < WLR_SWAPCHAIN_CAP; i++) {
		if (plain->slots[i].buffer != NULL) {
			wl_list_remove(&plain->slots[i].destroyed.link);
		}
	}
	free(plain);
}

static struct part *handle_create_part(
		struct composition *base, enum composition_level level, const struct gid_box *box) {
	struct plain_part *part = calloc(1, sizeof(*part));
	return part != NULL ? &part->base : NULL;
}

static void handle_destroy_part(struct part *base) {
	struct plain_part *part = wl_container_of(base, part, base);
	handle_forget(base->composition); /* its place is to be drawn without it */
	free(part);
}

static const struct composition_impl impl = {
		.destroy = handle_destroy,
		.attach_output = handle_attach_output,
		.detach_output = handle_detach_output,
		.needs_frame = handle_needs_frame,
		.build = handle_build,
		.committed = handle_committed,
		.forget = handle_forget,
		.create_part = handle_create_part,
		.destroy_part = handle_destroy_part,
		.picture_changed = handle_look_changed,
		.shown_changed = handle_shown_changed,
		.veil_changed = handle_look_changed,
};

struct composition *composed_pixels_create(void) {
	struct plain *plain = calloc(1, sizeof(*plain));
	if (plain == NULL) {
		return NULL;
	}
	plain->base.impl = &impl;
	wl_list_init(&plain->base.parts);
	return &plain->base;
}
