// SPDX-License-Identifier: MIT
/*
 * Composed by wlroots' scene, with a renderer that draws by a GPU. What that allocates for a frame
 * is its driver's business.
 */
#include <stdlib.h>
#include <wlr/types/wlr_scene.h>

#include "screen_composition.h"
#include "versions.h"

static const float veil_colour[4] = {VEIL_GREY, VEIL_GREY, VEIL_GREY, VEIL_ALPHA};

struct scene {
	struct composition base;
	struct wlr_scene *scene; /* its own: from (0, 0) on */
	struct wlr_scene_tree *levels[COMPOSITION_LEVELS];
	struct wlr_scene_output *output; /* NULL: none; destroyed with the output */
};

struct scene_part {
	struct part base;
	struct wlr_scene_tree *tree;
	struct wlr_scene_buffer *buffer;
	struct wlr_scene_rect *veil;
};

static void handle_destroy(struct composition *base) {
	struct scene *scene = wl_container_of(base, scene, base);
	wlr_scene_node_destroy(&scene->scene->tree.node);
	free(scene);
}

static bool handle_attach_output(struct composition *base, struct wlr_output *output) {
	struct scene *scene = wl_container_of(base, scene, base);
	scene->output = wlr_scene_output_create(scene->scene, output);
	return scene->output != NULL;
}

static void handle_detach_output(struct composition *base) {
	struct scene *scene = wl_container_of(base, scene, base);
	scene->output = NULL;
}

static bool handle_needs_frame(const struct composition *base) {
	const struct scene *scene = wl_container_of(base, scene, base);
	return wlr_scene_output_needs_frame(scene->output);
}

static bool handle_build(struct composition *base, struct wlr_output_state *state) {
	struct scene *scene = wl_container_of(base, scene, base);
	return wlr_scene_output_build_state(scene->output, state, NULL);
}

/* The scene hears of each commit, and keeps what is to be drawn again until then. */
static void handle_nothing(struct composition *base) {
}

/* --- parts ------------------------------------------------------------------------------------ */

static void handle_destroy_part(struct part *base) {
	struct scene_part *part = wl_container_of(base, part, base);
	if (part->tree != NULL) {
		wlr_scene_node_destroy(&part->tree->node);
	}
	free(part);
}

static struct part *handle_create_part(
		struct composition *base, enum composition_level level, const struct gid_box *box) {
	struct scene *scene = wl_container_of(base, scene, base);
	struct scene_part *part = calloc(1, sizeof(*part));
	if (part == NULL) {
		return NULL;
	}
	part->tree = wlr_scene_tree_create(scene->levels[level]);
	if (part->tree != NULL) {
		part->buffer = wlr_scene_buffer_create(part->tree, NULL);
		part->veil = wlr_scene_rect_create(
				part->tree, box->width, box->height, veil_colour);
	}
	if (part->tree == NULL || part->buffer == NULL || part->veil == NULL) {
		handle_destroy_part(&part->base);
		return NULL;
	}
	wlr_scene_node_set_position(&part->tree->node, box->x, box->y);
	wlr_scene_node_set_enabled(&part->tree->node, false);
	wlr_scene_node_set_enabled(&part->veil->node, false);
	return &part->base;
}

static void handle_picture_changed(struct part *base) {
	struct scene_part *part = wl_container_of(base, part, base);
	wlr_scene_buffer_set_buffer(part->buffer, &base->picture->view.base);
}

static void handle_shown_changed(struct part *base) {
	struct scene_part *part = wl_container_of(base, part, base);
	wlr_scene_node_set_enabled(&part->tree->node, base->is_shown);
}

static void handle_veil_changed(struct part *base) {
	struct scene_part *part = wl_container_of(base, part, base);
	wlr_scene_node_set_enabled(&part->veil->node, base->is_veiled);
}

/* --- begin ------------------------------------------------------------------------------------ */

static const struct composition_impl impl = {
		.destroy = handle_destroy,
		.attach_output = handle_attach_output,
		.detach_output = handle_detach_output,
		.needs_frame = handle_needs_frame,
		.build = handle_build,
		.committed = handle_nothing,
		.forget = handle_nothing,
		.create_part = handle_create_part,
		.destroy_part = handle_destroy_part,
		.picture_changed = handle_picture_changed,
		.shown_changed = handle_shown_changed,
		.veil_changed = handle_veil_changed,
};

struct composition *composed_scene_create(void) {
	/*
	 * Everything is composed into our own memory, which the check reads back. Direct scan-out
	 * would put a client buffer that covers the output on the screen; from wlroots 0.19 on also
	 * a smaller one.
	 */
	setenv("WLR_SCENE_DISABLE_DIRECT_SCANOUT", "1", 1);
	struct scene *scene = calloc(1, sizeof(*scene));
	struct wlr_scene *tree = scene != NULL ? wlr_scene_create() : NULL;
	if (tree == NULL) {
		free(scene);
		return NULL;
	}
	scene->base.impl = &impl;
	scene->scene = tree;
	wl_list_init(&scene->base.parts);
	for (int i = 0; i < COMPOSITION_LEVELS; i++) {
		scene->levels[i] = wlr_scene_tree_create(&tree->tree);
		if (scene->levels[i] == NULL) {
			handle_destroy(&scene->base);
			return NULL;
		}
	}
	return &scene->base;
}
