// SPDX-License-Identifier: MIT
/*
 * A program that waits for its list rings again for an engine that sleeps on; waits no longer than
 * it may; and knows a report that it cannot read. The engine is a mock, because the real one
 * overlooks no bell.
 */
#define COCKPIT_STREAMS "engine/*"
#define COCKPIT_MORE "[share cluster open]\nstreams=canvas/*\n"
#include "cockpit.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <gid/engine.h>
#include <sys/mman.h>

#include "client/canvas_request.h"
#include "language.h"
#include "tap.h"

#define OVERLOOKED 3u /* bells */

struct sleeper {
	struct gid_domain *domain;
	struct gid_slab *slab;
	struct engine_report *page;
	struct gid_producer *report;
	struct gid_consumer *lists;
	uint32_t bells;
};

static void tell_of(struct sleeper *engine, const struct gid_slab *slab) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, 0);
	gid_producer_send(engine->report, &frame);
}

static void tell(struct sleeper *engine) {
	tell_of(engine, engine->slab);
}

static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	if (joined) {
		tell(data);
	}
}

static bool sleeper_init(struct sleeper *engine) {
	struct gid_layout layout;
	const struct gid_producer_options report = {
			.size = sizeof(report), .subscriber = handle_subscriber, .data = engine};
	const struct gid_consumer_options lists = {.size = sizeof(lists), .reconnect = true};
	*engine = (struct sleeper){0};
	if (gid_domain_connect("cluster", &engine->domain) < 0 ||
			gid_layout_init(&layout, DRM_FORMAT_R8, sizeof(*engine->page), 1, 64) < 0 ||
			gid_slab_create_for_stream(engine->domain, "canvas/panel/report", &layout,
					0, 1, NULL, &engine->slab) < 0) {
		return false;
	}
	engine->page = gid_slab_data(engine->slab, 0);
	engine->page->version = ENGINE_VERSION;
	engine->page->magic = ENGINE_REPORT_MAGIC;
	engine->page->asleep = 1;
	return gid_producer_create(engine->domain, "canvas/panel/report", &report,
			       &engine->report) == 0 &&
			gid_consumer_create(engine->domain, "open", "engine/panel", &lists,
					&engine->lists) == 0;
}

static void sleeper_finish(struct sleeper *engine) {
	gid_consumer_destroy(engine->lists);
	gid_producer_destroy(engine->report);
	gid_slab_destroy(engine->slab, true);
	gid_domain_destroy(engine->domain);
}

/* Hears bells, and overlooks all but the last. */
static void sleeper_dispatch(struct sleeper *engine, uint64_t fence) {
	struct gid_frame frame;
	gid_domain_dispatch(engine->domain);
	gid_producer_dispatch(engine->report);
	while (gid_consumer_receive(engine->lists, &frame) == 1) {
		gid_consumer_release(engine->lists, &frame);
		engine->bells += frame.gid != GID_NONE;
		if (engine->bells > OVERLOOKED) {
			engine->page->fence = fence;
			tell(engine);
		}
	}
}

/* Asks again and again, for `timeout_ms` each. */
static void test_bell(struct sleeper *engine, struct gid_canvas *canvas, int timeout_ms) {
	const struct gid_rectangle all = {0, 0, 65535, 65535};
	uint64_t fence = 0;
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	engine->bells = 0;
	engine->page->asleep += 2; /* it was awake in between */
	gid_list_begin(canvas);
	gid_list_fill(canvas, GID_OPERATOR_SRC, 0xff000000, &all, 1);
	int ret = gid_list_submit(canvas, &fence);
	while (ret == 0 && (ret = gid_canvas_wait(canvas, fence, timeout_ms)) == -ETIMEDOUT &&
			cockpit_now_ms() < end) {
		sleeper_dispatch(engine, fence);
		cockpit_sleep_ms(5);
		ret = 0;
	}
	tap_ok(ret == 0 && engine->bells > OVERLOOKED,
			"an engine that overlooks bells is rung again (%d ms): %s, %u bells",
			timeout_ms, strerror(-ret), engine->bells);
}

/* Whether the program finds its engine, or has it no more. */
static bool becomes_connected(struct gid_domain *domain, struct sleeper *engine,
		struct gid_canvas *canvas, bool connected) {
	const long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (gid_canvas_is_connected(canvas) != connected && cockpit_now_ms() < end) {
		gid_domain_dispatch(domain);
		gid_canvas_dispatch(canvas);
		sleeper_dispatch(engine, 0);
		cockpit_sleep_ms(5);
	}
	return gid_canvas_is_connected(canvas) == connected;
}

/* An event loop only asks, however long the program would spin for a list. */
static void test_spin(struct gid_canvas *canvas) {
	uint64_t fence = 0;
	canvas->options.spin_us = UINT32_MAX;
	gid_list_begin(canvas);
	gid_list_submit(canvas, &fence);
	int ret = gid_canvas_wait(canvas, fence, 0);
	tap_ok(fence > 0 && ret == -ETIMEDOUT, "a limit of 0 is one, also for who spins: %s",
			strerror(-ret));
	canvas->options.spin_us = 0;
}

/* A report in a file of the engine's, of which no number lies at a multiple of its size. */
static struct gid_slab *make_odd_report(const struct sleeper *engine) {
	static uint8_t bytes[4096];
	struct gid_layout layout;
	struct gid_slab *slab = NULL;
	int fd = memfd_create("report", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	memcpy(bytes + 1, engine->page, sizeof(*engine->page));
	if (write(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE) == 0 &&
			gid_layout_init(&layout, DRM_FORMAT_R8, sizeof(*engine->page), 1, 1) == 0) {
		gid_slab_export(engine->domain, fd, 1, &layout, NULL, &slab);
	}
	close(fd);
	return slab;
}

/* A processor may stop a program that loads such a number. */
static void test_odd_report(
		struct gid_domain *domain, struct sleeper *engine, struct gid_canvas *canvas) {
	struct gid_slab *odd = make_odd_report(engine);
	tap_ok(odd != NULL, "there is a report at an odd place: %s",
			gid_domain_error(engine->domain));
	if (odd == NULL) {
		return;
	}
	tell_of(engine, odd);
	tap_ok(becomes_connected(domain, engine, canvas, false), "which is none");
	tell(engine);
	tap_ok(becomes_connected(domain, engine, canvas, true), "but the next one is");
	gid_slab_destroy(odd, false);
}

int main(void) {
	struct gid_domain *domain = NULL;
	struct gid_canvas *canvas = NULL;
	struct sleeper engine;
	const struct gid_canvas_options options = {
			.size = sizeof(options), .width = 8, .height = 8, .connect_ms = -1};
	if (!cockpit_init() || gid_domain_connect("open", &domain) < 0 || !sleeper_init(&engine) ||
			gid_canvas_create(domain, "cluster", "panel", &options, &canvas) < 0) {
		tap_ok(false, "a canvas, and who draws it");
		cockpit_finish();
		return tap_finish();
	}
	tap_ok(becomes_connected(domain, &engine, canvas, true), "the program finds its engine");
	test_bell(&engine, canvas, 0);
	test_bell(&engine, canvas, 20);
	test_bell(&engine, canvas, 450);
	test_spin(canvas);
	test_odd_report(domain, &engine, canvas);
	gid_canvas_destroy(canvas);
	sleeper_finish(&engine);
	gid_domain_destroy(domain);
	cockpit_finish();
	return tap_finish();
}
