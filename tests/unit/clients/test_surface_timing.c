// SPDX-License-Identifier: MIT
/* When pictures are to be shown, told to a compositor that writes it down. */
#include "common/surface_timing.h"

#include <inttypes.h>

#include "commit-timing-v1-protocol.h"
#include "fifo-v1-protocol.h"
#include "presentation-time-protocol.h"
#include "tap.h"
#include "writing_compositor.h"

/* Beyond what 32 bits of seconds hold. */
#define FAR_SECONDS (UINT64_C(1) << 32 | 7)
#define SECOND UINT64_C(1000000000)

static bool wants_each, wants_times; /* of the client that runs next */

/* --- the compositor --------------------------------------------------------------------------- */

static void handle_set_barrier(struct wl_client *client, struct wl_resource *resource) {
	note(wl_resource_get_user_data(resource), "set ");
}

static void handle_wait_barrier(struct wl_client *client, struct wl_resource *resource) {
	note(wl_resource_get_user_data(resource), "wait ");
}

static const struct wp_fifo_v1_interface fifo_implementation = {
		.set_barrier = handle_set_barrier,
		.wait_barrier = handle_wait_barrier,
		.destroy = handle_destroy,
};

static void handle_set_timestamp(struct wl_client *client, struct wl_resource *resource,
		uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec) {
	note(wl_resource_get_user_data(resource), "%u,%u,%u ", sec_hi, sec_lo, nsec);
}

static const struct wp_commit_timer_v1_interface timer_implementation = {
		.set_timestamp = handle_set_timestamp,
		.destroy = handle_destroy,
};

static void handle_gone(struct wl_resource *resource) {
	note(wl_resource_get_user_data(resource), "gone ");
}

static void handle_get_fifo(struct wl_client *client, struct wl_resource *resource, uint32_t id,
		struct wl_resource *surface) {
	struct compositor *compositor = wl_resource_get_user_data(resource);
	note(compositor, "fifo ");
	wl_resource_set_implementation(wl_resource_create(client, &wp_fifo_v1_interface, 1, id),
			&fifo_implementation, compositor, handle_gone);
}

static const struct wp_fifo_manager_v1_interface fifo_manager_implementation = {
		.destroy = handle_destroy,
		.get_fifo = handle_get_fifo,
};

static void handle_get_timer(struct wl_client *client, struct wl_resource *resource, uint32_t id,
		struct wl_resource *surface) {
	struct compositor *compositor = wl_resource_get_user_data(resource);
	note(compositor, "timer ");
	wl_resource_set_implementation(
			wl_resource_create(client, &wp_commit_timer_v1_interface, 1, id),
			&timer_implementation, compositor, handle_gone);
}

static const struct wp_commit_timing_manager_v1_interface timing_manager_implementation = {
		.destroy = handle_destroy,
		.get_timer = handle_get_timer,
};

static void bind_fifo(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	wl_resource_set_implementation(
			wl_resource_create(client, &wp_fifo_manager_v1_interface, 1, id),
			&fifo_manager_implementation, data, NULL);
}

static void bind_timing(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	wl_resource_set_implementation(
			wl_resource_create(client, &wp_commit_timing_manager_v1_interface, 1, id),
			&timing_manager_implementation, data, NULL);
}

/* Its times are those of another clock. */
static void bind_presentation(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *presentation =
			wl_resource_create(client, &wp_presentation_interface, 1, id);
	wl_resource_set_dispatcher(presentation, ignore, NULL, NULL, NULL);
	wp_presentation_send_clock_id(presentation, CLOCK_REALTIME);
}

static void add_fifo(struct compositor *compositor) {
	wl_global_create(compositor->display, &wp_fifo_manager_v1_interface, 1, compositor,
			bind_fifo);
}

static void add_timing(struct compositor *compositor) {
	wl_global_create(compositor->display, &wp_commit_timing_manager_v1_interface, 1, compositor,
			bind_timing);
}

static void add_both(struct compositor *compositor) {
	add_fifo(compositor);
	add_timing(compositor);
}

static void add_another_clock(struct compositor *compositor) {
	add_timing(compositor);
	wl_global_create(compositor->display, &wp_presentation_interface, 1, compositor,
			bind_presentation);
}

/* --- the client ------------------------------------------------------------------------------- */

enum answer { FAILED, WAITS_FOR_CALLBACKS, QUEUES };

/* Shows a picture at once, and one later. */
static int run_client(void) {
	struct wayland wayland;
	struct surface_timing timing;
	struct wl_surface *surface = connect_client(&wayland);
	if (surface == NULL) {
		return FAILED;
	}
	surface_timing_init(&timing, &wayland, surface, wants_each, wants_times);
	bool queues = surface_timing_queues(&timing);
	surface_timing_set(&timing, 0);
	surface_timing_set(&timing, FAR_SECONDS * SECOND + 11);
	surface_timing_finish(&timing);
	bool failed = wl_display_roundtrip(wayland.display) < 0;
	wayland_finish(&wayland);
	return failed ? FAILED : queues ? QUEUES : WAITS_FOR_CALLBACKS;
}

static void expect(void (*add)(struct compositor *), bool each, bool timed, enum answer answer,
		const char *told, const char *what) {
	struct compositor compositor;
	wants_each = each;
	wants_times = timed;
	int found = meet(&compositor, add, run_client);
	tap_ok(found == (int)answer && strcmp(compositor.told, told) == 0, "%s: %d, %s", what,
			found, compositor.told);
}

/* Its seconds are those since 1970, and not since the start of this machine. */
static void expect_another_clock(void) {
	struct compositor compositor;
	struct timespec real, monotonic;
	uint64_t high, low, rest;
	wants_each = false;
	wants_times = true;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	int64_t ahead = (int64_t)(real.tv_sec - monotonic.tv_sec);
	bool good = meet(&compositor, add_another_clock, run_client) == QUEUES &&
			sscanf(compositor.told, "timer %" SCNu64 ",%" SCNu64 ",%" SCNu64, &high,
					&low, &rest) == 3;
	int64_t off = good ? (int64_t)((high << 32) + low - FAR_SECONDS) - ahead : 0;
	tap_ok(good && llabs(off) <= 10, "times are those of its clock, off by %" PRId64 " s", off);
}

int main(void) {
	char folder[] = "/tmp/gid-timing-XXXXXX";
	if (mkdtemp(folder) == NULL) {
		return EXIT_FAILURE;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	expect(add_both, true, true, QUEUES, "fifo timer wait set wait set 1,7,11 gone gone ",
			"each, and at its time");
	expect(add_both, true, false, QUEUES, "fifo wait set wait set gone ", "each");
	expect(add_both, false, true, QUEUES, "timer 1,7,11 gone ", "at its time");
	expect(add_both, false, false, WAITS_FOR_CALLBACKS, "", "the newest");
	expect(add_fifo, true, true, QUEUES, "fifo wait set wait set gone ", "without times");
	expect(add_timing, true, true, WAITS_FOR_CALLBACKS, "",
			"no times where one could replace another");
	expect(NULL, true, true, WAITS_FOR_CALLBACKS, "", "without the protocols");
	expect_another_clock();
	rmdir(folder);
	return tap_finish();
}
