// SPDX-License-Identifier: MIT
/*
 * gid-engine and a program whose first list is refused, whose memory or whose engine's memory moves
 * between lists, and an engine whose log nobody reads: the next list is drawn all the same. And a
 * file by which two canvases would be in each other's way.
 */
#define COCKPIT_STREAMS "engine/*"
#define COCKPIT_MORE "[share cluster open]\nstreams=canvas/*\n"
#include "engine_program.h"

#include <errno.h>

#include "client/canvas_request.h"

#define TIMES 5

static struct gid_domain *domain, *cluster;
static pid_t engine;

/* It looks for more of a batch for 100 ms, so that it has one in work when something happens. */
static void start_engine(int log) {
	engine_write_config("[engine]\nspin-us=100000\n[canvas panel]\ndomain=open\nmemory=1M\n");
	engine = engine_start(log, NULL);
}

static int end_engine(void) {
	int status = -1;
	kill(engine, SIGTERM);
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS; cockpit_now_ms() < end;) {
		if (waitpid(engine, &status, WNOHANG) != 0) {
			return status;
		}
		cockpit_sleep_ms(10);
	}
	kill(engine, SIGKILL);
	waitpid(engine, &status, 0);
	return status;
}

/* With a mistake, if `transform` is above 7. */
static uint64_t submit(struct gid_canvas *canvas, uint8_t transform) {
	const struct gid_rectangle all = {0, 0, 65535, 65535};
	const struct gid_layer layer = {.gid = GID_NONE, .alpha = 255, .transform = transform};
	uint64_t fence = 0;
	gid_list_begin(canvas);
	gid_list_fill(canvas, GID_OPERATOR_SRC, 0xff112233, &all, 1);
	if (transform > 7) {
		gid_list_layer(canvas, &layer);
	}
	gid_list_present(canvas, false, 0);
	gid_list_submit(canvas, &fence);
	return fence;
}

static int draw(struct gid_canvas *canvas) {
	return gid_canvas_wait(canvas, submit(canvas, 0), COCKPIT_PATIENCE_MS);
}

static int draw_wrong(struct gid_canvas *canvas) {
	return gid_canvas_wait(canvas, submit(canvas, 9), COCKPIT_PATIENCE_MS);
}

/* The list that says how large the canvas is may be the one that is refused. */
static void test_first(void) {
	struct gid_canvas *canvas = engine_make_canvas(domain, "panel", 64, 48);
	int ret = draw_wrong(canvas);
	tap_ok(ret == -EINVAL && draw(canvas) == 0,
			"after a first list that was refused there is a canvas: %s",
			gid_canvas_error(canvas));
	gid_canvas_resize(canvas, 0, 4096, 4096);
	ret = draw(canvas);
	tap_ok(ret == -EDQUOT && draw(canvas) == -EDQUOT,
			"a size that it cannot have is refused as often as it is asked for: %s",
			gid_canvas_error(canvas));
	gid_canvas_resize(canvas, 0, 64, 48);
	tap_ok(draw(canvas) == 0, "until another one is: %s", gid_canvas_error(canvas));
	gid_canvas_destroy(canvas);
}

/* As by `gidctl revoke`: the program goes on in other memory, with the batch that it has begun. */
static void test_lists_move(void) {
	struct gid_canvas *canvas = engine_make_canvas(domain, "panel", 64, 48);
	struct gid_canvas_stats before, after;
	int drawn = 0;
	gid_canvas_get_stats(canvas, &before);
	for (int i = 0; i < TIMES; i++) {
		drawn += draw(canvas) == 0;
		gid_domain_revoke(domain, "open", NULL, gid_slab_gid(canvas->slab, 0), NULL);
		drawn += draw(canvas) == 0;
	}
	gid_canvas_get_stats(canvas, &after);
	tap_ok(drawn == 2 * TIMES && after.refused == before.refused,
			"where the memory of lists moves, all are drawn, and once: %d, %llu refused: %s",
			drawn, (unsigned long long)(after.refused - before.refused),
			gid_canvas_error(canvas));
	gid_canvas_destroy(canvas);
}

/* What it says of lists that it refuses meanwhile is heard. */
static void test_report_moves(void) {
	struct gid_canvas *canvas = engine_make_canvas(domain, "panel", 64, 48);
	int refused = 0;
	draw(canvas);
	for (int i = 0; i < TIMES; i++) {
		gid_domain_revoke(cluster, "cluster", NULL, canvas->report_gid, NULL);
		cockpit_sleep_ms(50); /* in which the engine hears of it, but not the program */
		refused += draw_wrong(canvas) == -EINVAL;
	}
	tap_ok(refused == TIMES && draw(canvas) == 0,
			"where the engine's report moves, a refused list is told as such: %d",
			refused);
	gid_canvas_destroy(canvas);
}

static void test_log(void) {
	static const char text[4096];
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		return;
	}
	while (write(ends[1], text, sizeof(text)) > 0) {
	}
	fcntl(ends[1], F_SETFL, 0); /* as a terminal or a pipe usually is */
	start_engine(ends[1]);
	struct gid_canvas *canvas = engine_make_canvas(domain, "panel", 64, 48);
	int ret = draw_wrong(canvas);
	tap_ok(ret == -EINVAL && draw(canvas) == 0, "an engine whose log nobody reads goes on: %s",
			gid_canvas_error(canvas));
	gid_canvas_destroy(canvas);
	tap_ok(end_engine() == 0, "and ends");
	close(ends[0]);
	close(ends[1]);
}

/* The stream of the second one would be that of the first one's report. */
static void test_names(void) {
	int status = -1;
	engine_write_config("[canvas panel]\ndomain=open\n[canvas panel/report]\ndomain=open\n");
	pid_t check = engine_start(STDERR_FILENO, "--check");
	waitpid(check, &status, 0);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 1,
			"a canvas with the name of another one's report is a mistake");
}

int main(void) {
	if (!cockpit_init() || gid_domain_connect("open", &domain) < 0 ||
			gid_domain_connect("cluster", &cluster) < 0) {
		tap_ok(false, "two domains");
		cockpit_finish();
		return tap_finish();
	}
	start_engine(STDERR_FILENO);
	test_first();
	test_lists_move();
	test_report_moves();
	tap_ok(end_engine() == 0, "the engine ends in good order");
	test_log();
	test_names();
	gid_domain_destroy(cluster);
	gid_domain_destroy(domain);
	cockpit_finish();
	return tap_finish();
}
