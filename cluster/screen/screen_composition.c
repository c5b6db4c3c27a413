// SPDX-License-Identifier: MIT
#include "screen_composition.h"

#include <wlr/render/pixman.h>

struct composition *composition_create(
		struct wlr_renderer *renderer, void (*changed)(void *data), void *data) {
	struct composition *composition = wlr_renderer_is_pixman(renderer)
			? composed_pixels_create()
			: composed_scene_create();
	if (composition != NULL) {
		composition->changed = changed;
		composition->data = data;
	}
	return composition;
}

void composition_destroy(struct composition *composition) {
	if (composition == NULL) {
		return;
	}
	struct part *part, *next;
	wl_list_for_each_safe(part, next, &composition->parts, link) {
		part_destroy(part);
	}
	composition->impl->destroy(composition);
}

/* --- parts ------------------------------------------------------------------------------------ */

/* The last one that is not above the level. */
static struct wl_list *find_place(struct composition *composition, enum composition_level level) {
	struct part *part;
	wl_list_for_each_reverse(part, &composition->parts, link) {
		if (part->level <= level) {
			return &part->link;
		}
	}
	return &composition->parts;
}

struct part *composition_add(struct composition *composition, enum composition_level level,
		const struct gid_box *box) {
	struct part *part = composition->impl->create_part(composition, level, box);
	if (part != NULL) {
		part->composition = composition;
		part->level = level;
		part->box = *box;
		wl_list_insert(find_place(composition, level), &part->link);
	}
	return part;
}

void part_destroy(struct part *part) {
	if (part == NULL) {
		return;
	}
	struct own_picture *picture = part->picture;
	wl_list_remove(&part->link);
	part->composition->impl->destroy_part(part);
	own_picture_unref(picture);
}

void part_set_picture(struct part *part, struct own_picture *picture) {
	struct own_picture *old = part->picture;
	part->picture = own_picture_ref(picture);
	part->composition->impl->picture_changed(part);
	own_picture_unref(old);
}

void part_show(struct part *part, bool on) {
	if (part->is_shown != on) {
		part->is_shown = on;
		part->composition->impl->shown_changed(part);
	}
}

void part_veil(struct part *part, bool on) {
	if (part->is_veiled != on) {
		part->is_veiled = on;
		part->composition->impl->veil_changed(part);
	}
}

/* --- frames ----------------------------------------------------------------------------------- */

bool composition_attach_output(struct composition *composition, struct wlr_output *output) {
	return composition->impl->attach_output(composition, output);
}

void composition_detach_output(struct composition *composition) {
	composition->impl->detach_output(composition);
}

bool composition_needs_frame(const struct composition *composition) {
	return composition->impl->needs_frame(composition);
}

bool composition_build(struct composition *composition, struct wlr_output_state *state) {
	return composition->impl->build(composition, state);
}

void composition_committed(struct composition *composition) {
	composition->impl->committed(composition);
}

void composition_forget(struct composition *composition) {
	composition->impl->forget(composition);
}
