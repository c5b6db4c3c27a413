// SPDX-License-Identifier: MIT
/*
 * A screen that cannot compose, also after its device has refused a frame with planes: what it
 * gives to wlroots is finished once, and the next frame comes. On an output without a device; the
 * planes, and what is drawn at the worst, are none of this test.
 */
#include "cluster/screen/screen.h"

#include <errno.h>
#include <wlr/backend.h>
#include <wlr/interfaces/wlr_output.h>
#include <wlr/render/allocator.h>
#include <wlr/render/pixman.h>

#include "kms_device.h"
#include "kms_layer.h"
#include "kms_output.h"
#include "kms_writeback.h"
#include "publisher.h"
#include "tap.h"
#include "virtual_backend.h"

/* --- states of an output ---------------------------------------------------------------------- */

#define STATES 16

static const struct wlr_output_state *alive[STATES];
static unsigned wrong;	  /* made or finished twice */
static bool refuses;	  /* the device, what it is given */
static int composes = -1; /* so many times, and then no more; -1: always */

typedef void state_func(struct wlr_output_state *state);
typedef bool commit_func(struct wlr_output *output, const struct wlr_output_state *state);
typedef bool build_func(struct composition *composition, struct wlr_output_state *state);

state_func __real_wlr_output_state_init, __wrap_wlr_output_state_init;
state_func __real_wlr_output_state_finish, __wrap_wlr_output_state_finish;
commit_func __real_wlr_output_commit_state, __wrap_wlr_output_commit_state;
build_func __real_composition_build, __wrap_composition_build;

static const struct wlr_output_state **find(const struct wlr_output_state *state) {
	for (int i = 0; i < STATES; i++) {
		if (alive[i] == state) {
			return &alive[i];
		}
	}
	return NULL;
}

void __wrap_wlr_output_state_init(struct wlr_output_state *state) {
	const struct wlr_output_state **place = find(NULL);
	if (find(state) != NULL || place == NULL) {
		wrong++;
	} else {
		*place = state;
	}
	__real_wlr_output_state_init(state);
}

void __wrap_wlr_output_state_finish(struct wlr_output_state *state) {
	const struct wlr_output_state **place = find(state);
	if (place == NULL) {
		wrong++;
		return; /* it would be freed twice */
	}
	*place = NULL;
	__real_wlr_output_state_finish(state);
}

bool __wrap_wlr_output_commit_state(
		struct wlr_output *output, const struct wlr_output_state *state) {
	return !refuses && __real_wlr_output_commit_state(output, state);
}

bool __wrap_composition_build(struct composition *composition, struct wlr_output_state *state) {
	if (composes == 0) {
		return false;
	}
	composes -= composes > 0;
	return __real_composition_build(composition, state);
}

/* --- planes, and what else a screen has beside it --------------------------------------------- */

static struct kms_output planes = {.error = -EINVAL};

struct kms_output *kms_output_from_wlr(struct wlr_output *output) {
	return &planes;
}

bool kms_layers_have_plane(const struct kms_output *output) {
	return true;
}

bool kms_layers_have_news(const struct kms_output *output) {
	return false;
}

void kms_writeback_want(struct kms_output *output) {
}

bool kms_writeback_is_ready(const struct kms_output *output) {
	return false;
}

bool kms_writeback_is_there(const struct kms_output *output) {
	return false;
}

void kms_writeback_ask(struct kms_output *output,
		void (*done)(void *data, const struct kms_dumb *picture), void *data) {
}

struct publisher *publisher_create(const char *domain, const char *stream) {
	return NULL;
}

void publisher_destroy(struct publisher *publisher) {
}

int publisher_get_fd(const struct publisher *publisher) {
	return -1;
}

bool publisher_collect(struct publisher *publisher) {
	return false;
}

bool publisher_has_readers(const struct publisher *publisher) {
	return false;
}

bool publisher_offer(struct publisher *publisher, struct wlr_buffer *buffer) {
	return false;
}

int frame_bound_measure(const struct cluster_config *config, size_t output, uint32_t width,
		uint32_t height, struct frame_bound *bound) {
	return -ENOSYS;
}

int own_picture_create_png(
		struct own_picture **picture, const char *path, uint32_t width, uint32_t height) {
	return -EINVAL;
}

struct own_picture *own_picture_ref(struct own_picture *picture) {
	return picture;
}

void own_picture_unref(struct own_picture *picture) {
}

void pixels_veil(uint32_t *to, const uint32_t *from, size_t count) {
}

/* --- the display of the screen ---------------------------------------------------------------- */

static unsigned plans[SCREEN_REFUSED + 1];

static void ignore(void *data, struct screen *screen) {
}

static void plan(void *data, struct screen *screen, struct kms_output *kms, enum screen_plan plan) {
	plans[plan]++;
}

static void ignore_begin(void *data, struct screen *screen, uint64_t now) {
}

static void read_back(void *data, struct screen *screen, const struct pixels *shown, uint64_t now) {
}

static bool check(void *data, struct screen *screen, const struct pixels *composed, uint64_t now) {
	return true;
}

static void presented(void *data, struct screen *screen, uint32_t commit, uint64_t when) {
}

static const struct screen_hooks hooks = {
		.attached = ignore,
		.detaching = ignore,
		.plan = plan,
		.begin = ignore_begin,
		.update_planes = ignore_begin,
		.expects_readback = ignore,
		.read_back = read_back,
		.check = check,
		.presented = presented,
};

static struct screen *attached;

static void handle_found(struct wl_listener *listener, void *data) {
	screen_attach_output(attached, data);
}

/* --- tests ------------------------------------------------------------------------------------ */

static bool is_finished(void) {
	bool left = false;
	for (int i = 0; i < STATES; i++) {
		left = left || alive[i] != NULL;
	}
	return !left && wrong == 0;
}

static void test_frames(struct screen *screen) {
	tap_ok(screen->output != NULL && screen->kms == &planes && is_finished(),
			"a screen with planes");
	composes = 0;
	wlr_output_send_frame(screen->output);
	tap_ok(screen->stats.missed == 1 && screen->stats.frames == 0, "it cannot compose");
	tap_ok(is_finished(), "what it was to give is finished once");
	composes = 1;
	refuses = true;
	wlr_output_send_frame(screen->output);
	tap_ok(plans[SCREEN_REFUSED] == 1 && composes == 0,
			"its device refuses the planes, and it cannot compose all");
	tap_ok(screen->stats.missed == 2 && is_finished(), "that is finished once, too");
	composes = -1;
	refuses = false;
	wlr_output_send_frame(screen->output);
	tap_ok(screen->stats.frames == 1 && screen->front != NULL && is_finished(),
			"the next frame is shown");
}

int main(void) {
	struct wl_display *display = wl_display_create();
	struct wl_event_loop *loop = wl_display_get_event_loop(display);
	struct wlr_backend *backend = virtual_backend_create(loop);
	struct wlr_renderer *renderer = wlr_pixman_renderer_create();
	struct device device = {
			.renderer = renderer,
			.allocator = wlr_allocator_autocreate(backend, renderer),
	};
	struct output_config output = {
			.width = 64, .height = 48, .pacing = PACING_OFF, .planes = PLANES_ON};
	struct cluster_config config = {.outputs = &output, .output_count = 1};
	struct screen screen = {
			.device = &device,
			.whole = &config,
			.config = &output,
			.hooks = &hooks,
	};
	struct wl_listener found = {.notify = handle_found};
	wl_signal_add(&backend->events.new_output, &found);
	attached = &screen;
	bool ready = screen_init(&screen, loop) == 0 &&
			virtual_backend_add_output(backend, 64, 48, NULL) &&
			wlr_backend_start(backend);
	tap_ok(ready, "an output");
	if (ready) {
		test_frames(&screen);
	}
	wl_list_remove(&found.link);
	screen_finish(&screen);
	wlr_allocator_destroy(device.allocator);
	wlr_renderer_destroy(renderer);
	wlr_backend_destroy(backend);
	wl_display_destroy(display);
	return tap_finish();
}
