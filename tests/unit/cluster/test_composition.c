// SPDX-License-Identifier: MIT
/*
 * What gid-cluster composes by copying is what wlroots composes with pixman, to the last bit of
 * each pixel, whatever changed between two frames.
 */
#include "cluster/screen/screen_composition.h"

#include <drm_fourcc.h>
#include <stdlib.h>
#include <string.h>
#include <wlr/render/allocator.h>
#include <wlr/render/pixman.h>

#include "cluster/screen/plain_memory.h"
#include "cluster/screen/virtual_backend.h"
#include "tap.h"

#define WIDTH 64
#define HEIGHT 48
#define PARTS 7
#define PICTURES 3 /* of each part */
#define STEPS 2000

/* --- two screens that show the same ----------------------------------------------------------- */

struct way {
	struct composition *composition;
	struct wlr_output *output;
	struct part *parts[PARTS];
};

static struct way ways[2];
static struct own_picture *pictures[PARTS][PICTURES];

/* Also some that stand out of the output, and one that covers all. */
static const struct {
	enum composition_level level;
	struct gid_box box;
} places[PARTS] = {
		{COMPOSITION_SAFETY, {10, 10, 20, 12}},
		{COMPOSITION_BACKGROUND, {0, 0, WIDTH, HEIGHT}},
		{COMPOSITION_LAYERS, {5, 3, 40, 30}},
		{COMPOSITION_LAYERS, {20, 20, 30, 20}},
		{COMPOSITION_SAFETY, {50, 40, 30, 30}},
		{COMPOSITION_LAYERS, {-7, -5, 20, 20}},
		{COMPOSITION_SAFETY, {30, 10, 1, 12}},
};

static void ignore(void *data) {
}

static bool way_init(struct way *way, struct composition *composition, struct wlr_output *output,
		struct wlr_allocator *allocator, struct wlr_renderer *renderer) {
	*way = (struct way){.composition = composition, .output = output};
	way->composition->changed = ignore;
	struct wlr_output_state state;
	wlr_output_state_init(&state);
	wlr_output_state_set_enabled(&state, true);
	bool ready = wlr_output_init_render(output, allocator, renderer) &&
			wlr_output_commit_state(output, &state) &&
			composition_attach_output(composition, output);
	wlr_output_state_finish(&state);
	for (int i = 0; i < PARTS; i++) {
		way->parts[i] = composition_add(composition, places[i].level, &places[i].box);
		ready = ready && way->parts[i] != NULL;
	}
	return ready;
}

static bool make_pictures(void) {
	bool made = true;
	for (int i = 0; i < PARTS; i++) {
		const struct gid_box *box = &places[i].box;
		for (int j = 0; j < PICTURES; j++) {
			struct own_picture **picture = &pictures[i][j];
			made = made &&
					own_picture_create_fallback(picture, FALLBACK_BLANK, NULL,
							(uint32_t)box->width,
							(uint32_t)box->height) == 0;
			for (int k = 0; made && k < box->width * box->height; k++) {
				(*picture)->data[k] = (uint32_t)random() << 1 ^ (uint32_t)random();
			}
		}
	}
	return made;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void change(struct way *way, long kind, long part, long picture) {
	struct part *changed = way->parts[part];
	switch (kind) {
	case 0:
		part_show(changed, !changed->is_shown);
		break;
	case 1: /* wlroots has no veil without a picture either */
		if (places[part].level == COMPOSITION_LAYERS && changed->picture != NULL) {
			part_veil(changed, !changed->is_veiled);
		}
		break;
	default:
		part_set_picture(changed, pictures[part][picture]);
		part_show(changed, true);
		break;
	}
}

/* What is to be seen, as it was composed; `given`: and committed. */
static bool compose(struct way *way, bool given, uint32_t *pixels) {
	struct wlr_output_state state;
	void *data;
	uint32_t format;
	size_t stride;
	wlr_output_state_init(&state);
	bool built = composition_build(way->composition, &state) &&
			wlr_buffer_begin_data_ptr_access(state.buffer,
					WLR_BUFFER_DATA_PTR_ACCESS_READ, &data, &format, &stride);
	if (built) {
		memcpy(pixels, data, sizeof(*pixels) * WIDTH * HEIGHT);
		wlr_buffer_end_data_ptr_access(state.buffer);
	}
	if (built && given) {
		built = wlr_output_commit_state(way->output, &state);
		composition_committed(way->composition);
	}
	wlr_output_state_finish(&state);
	return built;
}

static void test_same(void) {
	static uint32_t seen[2][WIDTH * HEIGHT];
	unsigned different = 0, failed = 0, unheard = 0;
	for (int step = 0; step < STEPS; step++) {
		for (long changes = random() % 4; changes > 0; changes--) {
			long kind = random() % 4, part = random() % PARTS;
			long picture = random() % PICTURES;
			change(&ways[0], kind, part, picture);
			change(&ways[1], kind, part, picture);
		}
		/* Ours also has a frame for what is hidden by something else. */
		unheard += composition_needs_frame(ways[1].composition) &&
				!composition_needs_frame(ways[0].composition);
		bool given = random() % 4 != 0;
		failed += !compose(&ways[0], given, seen[0]);
		failed += !compose(&ways[1], given, seen[1]);
		different += memcmp(seen[0], seen[1], sizeof(seen[0])) != 0;
	}
	tap_ok(failed == 0 && different == 0, "%u of %d frames differ from those of wlroots",
			different, STEPS);
	tap_ok(unheard == 0, "%u changes asked for no frame", unheard);
}

/* Such as one that is on a plane. */
static void test_not_shown(void) {
	static uint32_t before[WIDTH * HEIGHT], after[WIDTH * HEIGHT];
	struct part *part = ways[0].parts[0];
	part_set_picture(part, pictures[0][0]);
	part_show(part, false);
	bool good = compose(&ways[0], true, before);
	part_set_picture(part, pictures[0][1]);
	part_veil(part, true);
	part_veil(part, false);
	good = good && !composition_needs_frame(ways[0].composition);
	tap_ok(good, "a picture that is not shown needs no frame");
	part_show(part, true);
	good = composition_needs_frame(ways[0].composition) && compose(&ways[0], true, after) &&
			after[10 * WIDTH + 10] == pictures[0][1]->data[0] && after[0] == before[0];
	tap_ok(good, "until it is");
}

/* Another program wrote to the buffers: all is drawn again, in each of them. */
static void test_forgotten(void) {
	static uint32_t before[WIDTH * HEIGHT], after[WIDTH * HEIGHT];
	bool same = compose(&ways[0], true, before);
	for (int i = 0; i < 4; i++) {
		struct wlr_output_state state;
		wlr_output_state_init(&state);
		same = composition_build(ways[0].composition, &state) && same;
		void *data;
		uint32_t format;
		size_t stride;
		wlr_buffer_begin_data_ptr_access(state.buffer, WLR_BUFFER_DATA_PTR_ACCESS_WRITE,
				&data, &format, &stride);
		memset(data, i, stride * HEIGHT);
		wlr_buffer_end_data_ptr_access(state.buffer);
		wlr_output_state_finish(&state);
		composition_forget(ways[0].composition);
		same = same && composition_needs_frame(ways[0].composition) &&
				compose(&ways[0], true, after) &&
				memcmp(before, after, sizeof(before)) == 0;
	}
	tap_ok(same, "what was spoiled is drawn again");
}

/* Alone on the screen, where wlroots would give the device its own memory. */
static void test_covering(void) {
	const int covering = 1;
	for (int i = 0; i < 2; i++) {
		struct wlr_output_state state;
		for (int j = 0; j < PARTS; j++) {
			part_show(ways[i].parts[j], j == covering);
		}
		part_set_picture(ways[i].parts[covering], pictures[covering][i]);
		wlr_output_state_init(&state);
		tap_ok(composition_build(ways[i].composition, &state) &&
						state.buffer != &pictures[covering][i]->view.base,
				"a picture that covers all is composed: way %d", i);
		wlr_output_state_finish(&state);
	}
}

/* --- outputs ---------------------------------------------------------------------------------- */

struct outputs {
	struct wl_listener found;
	struct wlr_output *all[2];
	int count;
};

static void handle_found(struct wl_listener *listener, void *data) {
	struct outputs *outputs = wl_container_of(listener, outputs, found);
	outputs->all[outputs->count++] = data;
}

int main(void) {
	struct wl_display *display = wl_display_create();
	struct wlr_backend *backend = virtual_backend_create(wl_display_get_event_loop(display));
	struct wlr_renderer *renderer = wlr_pixman_renderer_create();
	struct wlr_allocator *allocator = plain_memory_allocator_create();
	struct outputs outputs = {.found = {.notify = handle_found}};
	wl_signal_add(&backend->events.new_output, &outputs.found);
	bool ready = virtual_backend_add_output(backend, WIDTH, HEIGHT, NULL) &&
			virtual_backend_add_output(backend, WIDTH, HEIGHT, "centre") &&
			wlr_backend_start(backend) && outputs.count == 2;
	tap_ok(ready && strcmp(outputs.all[0]->name, "HEADLESS-1") == 0 &&
					strcmp(outputs.all[1]->name, "centre") == 0,
			"two outputs without a device");
	if (ready && make_pictures() &&
			way_init(&ways[0], composed_pixels_create(), outputs.all[0], allocator,
					renderer) &&
			way_init(&ways[1], composed_scene_create(), outputs.all[1], allocator,
					renderer)) {
		test_same();
		test_not_shown();
		test_forgotten();
		test_covering();
	}
	for (int i = 0; i < 2; i++) {
		composition_detach_output(ways[i].composition);
		composition_destroy(ways[i].composition);
	}
	for (int i = 0; i < PARTS * PICTURES; i++) {
		own_picture_unref(pictures[i / PICTURES][i % PICTURES]);
	}
	wl_list_remove(&outputs.found.link);
	wlr_backend_destroy(backend);
	wlr_allocator_destroy(allocator);
	wlr_renderer_destroy(renderer);
	wl_display_destroy(display);
	return tap_finish();
}
