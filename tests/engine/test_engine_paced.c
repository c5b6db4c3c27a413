// SPDX-License-Identifier: MIT
/* gid-engine with canvases on which only so much may be drawn in a second. */
#define COCKPIT_STREAMS "engine/*"
#define COCKPIT_MORE "[share cluster open]\nstreams=canvas/*\n"
#include "engine_program.h"

#include <errno.h>

#define LISTS 400
#define POINTS_MOST 1000u /* of a list: 15 ms, at the rate of `paced` */

static struct gid_domain *domain;
static pid_t engine;

static void start_engine(void) {
	engine_write_config("[engine]\nhelpers=0\n"
			    "[canvas paced]\ndomain=open\nmemory=1M\npixels-per-second=200000\n"
			    "[canvas stingy]\ndomain=open\nmemory=1M\npixels-per-second=1\n");
	engine = engine_start_logging("engine.log", NULL);
}

/* A name for the library without blanks, at which LD_PRELOAD would end. */
static void preload_late_clock(void) {
	char link[128], told[128];
	snprintf(link, sizeof(link), "%s/late_clock.so", cockpit_folder);
	snprintf(told, sizeof(told), "%s/told", cockpit_folder);
	close(open(told, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	if (symlink(getenv("LATE_CLOCK"), link) == 0) {
		setenv("LD_PRELOAD", link, 1);
		setenv("GIDWAY_PRELOADED", told, 1);
	}
}

/* As vm/preloaded.c says, for a library that cannot be loaded is left out. */
static bool is_preloaded(void) {
	char told[128], text[64] = "";
	snprintf(told, sizeof(told), "%s/told", cockpit_folder);
	int fd = open(told, O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, text, sizeof(text) - 1);
	close(fd);
	return size > 0 && strncmp(text, "gid-engine\n", 11) == 0;
}

static void end_engine(void) {
	int status = -1;
	kill(engine, SIGTERM);
	waitpid(engine, &status, 0);
	tap_ok(status == 0, "the engine ends in good order");
}

/* Its next list waits for nearly an hour: nobody waits as long to hear of the one before. */
static void test_told(void) {
	struct gid_canvas *canvas = engine_make_canvas(domain, "stingy", 64, 48);
	struct pollfd fd = {gid_canvas_get_fd(canvas), POLLIN, 0};
	const struct gid_rectangle all = {0, 0, 64, 48};
	uint64_t fence = 0;
	int ret, told;
	engine_stop(engine); /* so that the program sleeps before the list is done */
	gid_list_begin(canvas);
	gid_list_fill(canvas, GID_OPERATOR_SRC, 0xff102030, &all, 1);
	gid_list_submit(canvas, &fence);
	ret = gid_canvas_wait(canvas, fence, 0);
	tap_ok(fence > 0 && ret == -ETIMEDOUT, "a list that is waited for is not done yet");
	kill(engine, SIGCONT);
	do {
		told = poll(&fd, 1, COCKPIT_PATIENCE_MS);
		ret = gid_canvas_wait(canvas, fence, 0);
	} while (told == 1 && ret == -ETIMEDOUT);
	tap_ok(told == 1 && ret == 0,
			"who sleeps is told as soon as it is done, not when the next one may be");
	gid_canvas_destroy(canvas);
}

/* Of all sizes, so that some delay ends just as the engine is about to wait for it. */
static void test_delays(void) {
	static struct gid_point points[POINTS_MOST];
	struct gid_canvas *canvas = NULL;
	const struct gid_canvas_options options = {.size = sizeof(options),
			.width = 64,
			.height = 48,
			.spin_us = 1000000,
			.connect_ms = COCKPIT_PATIENCE_MS};
	uint32_t random = 7;
	int done = 0;
	gid_canvas_create(domain, "cluster", "paced", &options, &canvas);
	while (canvas != NULL && done < LISTS) {
		uint64_t fence = 0;
		random = random * 1664525 + 1013904223;
		gid_list_begin(canvas);
		gid_list_points(canvas, 0xffffffff, points, 1 + (random >> 8) % POINTS_MOST);
		gid_list_submit(canvas, &fence);
		if (fence == 0 || gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS) < 0) {
			break;
		}
		done++;
	}
	tap_ok(done == LISTS, "no delay lasts for ever: %d of %d lists are done: %s", done, LISTS,
			canvas != NULL ? gid_canvas_error(canvas) : gid_canvas_create_error());
	gid_canvas_destroy(canvas);
}

int main(void) {
	if (!cockpit_init() || gid_domain_connect("open", &domain) < 0) {
		tap_ok(false, "two domains");
		cockpit_finish();
		return tap_finish();
	}
	start_engine();
	test_told();
	end_engine();
	preload_late_clock();
	start_engine();
	unsetenv("LD_PRELOAD");
	test_delays();
	tap_ok(is_preloaded(), "the engine had the clock that takes its time");
	end_engine();
	gid_domain_destroy(domain);
	cockpit_finish();
	return tap_finish();
}
