// SPDX-License-Identifier: MIT
/*
 * gid-engine and a program whose first list is refused, whose memory or whose engine's memory moves
 * between lists, and an engine whose log nobody reads: the next list is drawn all the same. And a
 * file by which two canvases would be in each other's way.
 */
#define COCKPIT_STREAMS "engine/*"
#define COCKPIT_MORE "[share cluster open]\nstreams=canvas/*\n"
#include "engine_program.h"

#include <drm_fourcc.h>
#include <errno.h>

#include "client/canvas_request.h"

#define TIMES 5
#define HOGS 64 /* MiB: all that the domain may have */

static struct gid_domain *domain, *cluster;
static pid_t engine;

/* It looks for more of a batch for 100 ms, so that it has one in work when something happens. */
static void start_engine(int log) {
	engine_write_config("[engine]\nspin-us=100000\n[canvas panel]\ndomain=open\nmemory=1M\n"
			    "[canvas held]\ndomain=open\nmemory=1M\nslots=3\nlease-ms=60000\n");
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

static bool is_taken(void *data) {
	struct gid_slab_info info;
	gid_slab_get_info(data, &info);
	return info.revoked;
}

/* As much memory as gidd gives: a slab has no room then to which it could be moved. */
static void take_all_memory(struct gid_slab *hogs[HOGS]) {
	struct gid_layout layout;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 512, 512, 64);
	for (int i = 0; i < HOGS; i++) {
		hogs[i] = NULL;
		gid_slab_create(domain, &layout, 0, 1, NULL, &hogs[i]);
	}
}

static void give_memory(struct gid_slab *hogs[HOGS]) {
	for (int i = 0; i < HOGS; i++) {
		gid_slab_destroy(hogs[i], false);
	}
}

/* Takes the memory of lists for good, for there is no other. Returns whether it is taken. */
static bool take_lists(struct gid_canvas *canvas) {
	struct gid_slab *hogs[HOGS];
	take_all_memory(hogs);
	gid_domain_revoke(domain, "open", NULL, gid_slab_gid(canvas->slab, 0), NULL);
	const bool taken = cockpit_until(domain, is_taken, canvas->slab);
	give_memory(hogs);
	return taken;
}

/* What was under way is lost, and told as such. What comes next has other memory. */
static void test_lists_taken(void) {
	struct gid_canvas *canvas = NULL;
	const struct gid_canvas_options options = {.size = sizeof(options),
			.width = 64,
			.height = 48,
			.list_words = 65536,
			.lists = 62,
			.connect_ms = COCKPIT_PATIENCE_MS};
	static struct gid_point points[32000];
	if (gid_canvas_create(domain, "cluster", "panel", &options, &canvas) < 0) {
		tap_ok(false, "a canvas with long lists: %s", gid_canvas_create_error());
		return;
	}
	tap_ok(draw(canvas) == 0, "a canvas with long lists draws: %s", gid_canvas_error(canvas));
	engine_stop(engine);
	const uint64_t lost = submit(canvas, 0);
	bool taken = take_lists(canvas);
	kill(engine, SIGCONT);
	int ret = gid_canvas_wait(canvas, lost, COCKPIT_PATIENCE_MS);
	tap_ok(taken && lost > 0 && ret == -EPIPE, "a list whose memory is taken is lost: %s",
			gid_canvas_error(canvas));
	tap_ok(draw(canvas) == 0, "the next one is drawn: %s", gid_canvas_error(canvas));

	gid_list_begin(canvas);
	gid_list_points(canvas, 0xff000000, points, 4000);
	gid_list_submit(canvas, NULL);
	gid_list_begin(canvas);
	taken = take_lists(canvas);
	gid_list_points(canvas, 0xff000000, points, 32000);
	gid_list_points(canvas, 0xff000000, points, 32000); /* for which the batch has no room */
	tap_ok(taken && gid_list_submit(canvas, NULL) == -ENOTCONN && draw(canvas) == 0,
			"so is the one in work, and the next one is drawn: %s",
			gid_canvas_error(canvas));
	gid_canvas_destroy(canvas);
}

static bool is_served(struct gid_canvas *canvas) {
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			!gid_canvas_is_connected(canvas) && cockpit_now_ms() < end;) {
		cockpit_sleep_ms(5);
		gid_domain_dispatch(domain);
		gid_canvas_dispatch(canvas);
	}
	return gid_canvas_is_connected(canvas);
}

/*
 * The engine ends, and another one comes, while a list is made that has to move to a batch with
 * room: it does not say how large the canvas is, which only the one before was told.
 */
static void test_engine_changes(void) {
	static struct gid_point points[32000];
	struct gid_canvas *canvas = NULL;
	const struct gid_canvas_options options = {.size = sizeof(options),
			.width = 64,
			.height = 48,
			.list_words = 65536,
			.connect_ms = COCKPIT_PATIENCE_MS};
	if (gid_canvas_create(domain, "cluster", "panel", &options, &canvas) < 0) {
		tap_ok(false, "a canvas with long lists: %s", gid_canvas_create_error());
		return;
	}
	int drawn = draw(canvas);
	engine_stop(engine);
	gid_list_begin(canvas);
	gid_list_points(canvas, 0xff000000, points, 4000);
	gid_list_submit(canvas, NULL);
	while (gid_slab_take(canvas->slab) >= 0) { /* only the engine can give one back */
	}
	gid_list_begin(canvas);
	gid_list_points(canvas, 0xff000000, points, 32000);
	kill(engine, SIGKILL);
	waitpid(engine, NULL, 0);
	start_engine(STDERR_FILENO);
	gid_list_points(canvas, 0xff000000, points, 32000);
	const bool connected = is_served(canvas);
	int ret = gid_list_submit(canvas, NULL);
	tap_ok(drawn == 0 && connected && ret == -ENOTCONN,
			"a list that was begun for an engine that went is not another one's: %d, %s",
			ret, gid_canvas_error(canvas));
	tap_ok(draw(canvas) == 0, "the next one is drawn: %s", gid_canvas_error(canvas));
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

/* The library says that everything changed; others may say less. */
static int present(struct gid_canvas *canvas, struct engine_rectangle damage) {
	const struct gid_rectangle all = {0, 0, 65535, 65535};
	uint64_t fence = 0;
	gid_list_begin(canvas);
	gid_list_fill(canvas, GID_OPERATOR_SRC, 0xff112233, &all, 1);
	gid_list_present(canvas, false, 0);
	struct engine_present *last = (void *)(canvas->words + canvas->count);
	last[-1].damage = damage;
	gid_list_submit(canvas, &fence);
	return gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS);
}

/* The next picture, which is held then. Returns whether there is one. */
static bool take_picture(struct gid_consumer *viewer, struct gid_frame *frame) {
	const long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (cockpit_now_ms() < end) {
		if (gid_consumer_receive(viewer, frame) == 1 && frame->gid != GID_NONE) {
			return true;
		}
		gid_consumer_wait(viewer, 100);
	}
	return false;
}

/* Whether so many pictures were left out. */
static bool has_left_out(const struct gid_canvas *canvas, uint64_t count) {
	const long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	struct gid_canvas_stats stats;
	do {
		gid_canvas_get_stats(canvas, &stats);
		cockpit_sleep_ms(5);
	} while (stats.not_presented != count && cockpit_now_ms() < end);
	return stats.not_presented == count;
}

/* A viewer holds all slots but one: what is finished waits, and is left out for what comes next. */
static void test_left_out(void) {
	const struct engine_rectangle left = {8, 8, 4, 4}, right = {20, 24, 10, 6};
	const struct gid_consumer_options options = {.size = sizeof(options)};
	struct gid_canvas *canvas = engine_make_canvas(domain, "held", 64, 48);
	struct gid_consumer *viewer = NULL;
	struct gid_frame frames[3] = {0};
	bool good = gid_consumer_create(domain, "cluster", "canvas/held", &options, &viewer) == 0;
	for (int i = 0; good && i < 2; i++) {
		good = present(canvas, left) == 0 && take_picture(viewer, &frames[i]);
	}
	good = good && present(canvas, left) == 0 && present(canvas, right) == 0;
	tap_ok(good && has_left_out(canvas, 1), "a picture is left out, and counted: %s",
			gid_canvas_error(canvas));
	if (good) {
		gid_consumer_release(viewer, &frames[0]);
		good = take_picture(viewer, &frames[2]);
	}
	const struct gid_box damage = frames[2].damage;
	tap_ok(good && damage.x == 8 && damage.y == 8 && damage.width == 22 && damage.height == 22,
			"what changed in it counts for the next one: %dx%d at %d, %d", damage.width,
			damage.height, damage.x, damage.y);
	good = good && present(canvas, left) == 0 && gid_canvas_resize(canvas, 0, 64, 48) == 0 &&
			present(canvas, left) == 0;
	tap_ok(good && has_left_out(canvas, 2), "so is one before a canvas that begins anew: %s",
			gid_canvas_error(canvas));
	gid_consumer_destroy(viewer);
	gid_canvas_destroy(canvas);
}

/* A list of one fill. One that is refused draws it, and then has no source for a layer. */
static int fill(struct gid_canvas *canvas, uint32_t colour, struct gid_rectangle where,
		bool is_refused, bool discards) {
	const struct gid_layer layer = {.gid = gid_make(1, 0xffffff, 0, 1), .alpha = 255};
	uint64_t fence = 0;
	gid_list_begin(canvas);
	gid_list_fill(canvas, GID_OPERATOR_SRC, colour, &where, 1);
	if (is_refused) {
		gid_list_layer(canvas, &layer);
	}
	gid_list_present(canvas, discards, 0);
	gid_list_submit(canvas, &fence);
	return gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS);
}

/* A list that only begins the canvas anew, and then wants one that is too large. */
static int resize_wrong(struct gid_canvas *canvas) {
	uint64_t fence = 0;
	gid_canvas_resize(canvas, 0, 64, 48);
	gid_list_begin(canvas);
	struct engine_canvas *more = (void *)(canvas->words + canvas->count);
	*more = (struct engine_canvas){
			.head = {ENGINE_CANVAS, sizeof(*more) / 4},
			.fourcc = DRM_FORMAT_XRGB8888,
			.width = 4096,
			.height = 4096,
	};
	canvas->count += sizeof(*more) / 4;
	gid_list_submit(canvas, &fence);
	return gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS);
}

/* A viewer's pictures of the canvas `held`: two of its three slots. */
struct holder {
	struct gid_consumer *viewer;
	struct gid_frame frames[2]; /* the older one first */
};

static bool hold(struct holder *holder, struct gid_canvas *canvas, struct gid_rectangle where) {
	const struct gid_consumer_options options = {.size = sizeof(options)};
	bool good = gid_consumer_create(domain, "cluster", "canvas/held", &options,
				    &holder->viewer) == 0;
	for (int i = 0; good && i < 2; i++) {
		good = fill(canvas, 0xff000000, where, false, false) == 0 &&
				take_picture(holder->viewer, &holder->frames[i]);
	}
	return good;
}

/* Gives the older one back, and takes the picture that waited for that. */
static bool exchange(struct holder *holder) {
	gid_consumer_release(holder->viewer, &holder->frames[0]);
	holder->frames[0] = holder->frames[1];
	return take_picture(holder->viewer, &holder->frames[1]);
}

static uint32_t held_pixel(const struct holder *holder, uint32_t x, uint32_t y) {
	return engine_pixel(domain, holder->frames[1].gid, x, y);
}

/* What is drawn over a picture that waits is void where its list is refused: not that picture. */
static void test_refused_while_one_waits(void) {
	const struct gid_rectangle all = {0, 0, 65535, 65535}, corner = {0, 0, 8, 8};
	struct gid_canvas *canvas = engine_make_canvas(domain, "held", 64, 48);
	struct holder holder = {0};
	bool good = hold(&holder, canvas, all);
	good = good && fill(canvas, 0xffff0000, all, false, false) == 0 &&
			fill(canvas, 0xff00ff00, all, true, false) == -ENOENT && exchange(&holder);
	tap_ok(good && held_pixel(&holder, 20, 20) == 0xff0000,
			"a picture that waits is sent, whatever list is refused: %s",
			gid_canvas_error(canvas));
	good = good && fill(canvas, 0xff00ff00, all, true, false) == -ENOENT &&
			fill(canvas, 0xff0000ff, corner, false, false) == 0 && exchange(&holder);
	tap_ok(good && held_pixel(&holder, 4, 4) == 0x0000ff &&
					held_pixel(&holder, 20, 20) == 0xff0000,
			"the next one begins with its pixels: %s", gid_canvas_error(canvas));

	/* Drawn over one that waits, which is left out then. */
	good = good && fill(canvas, 0xff00ffff, all, false, false) == 0 &&
			fill(canvas, 0xff00ff00, all, true, false) == -ENOENT &&
			fill(canvas, 0xffffff00, corner, false, false) == 0 && exchange(&holder);
	tap_ok(good && held_pixel(&holder, 4, 4) == 0xffff00 &&
					held_pixel(&holder, 20, 20) == 0x00ffff,
			"so does one that takes its place: %s", gid_canvas_error(canvas));

	good = good && fill(canvas, 0xff111111, all, false, true) == 0 &&
			fill(canvas, 0xff00ff00, all, true, false) == -ENOENT && exchange(&holder);
	tap_ok(good && held_pixel(&holder, 20, 20) == 0x111111,
			"one after which any pixels come is sent, too: %s",
			gid_canvas_error(canvas));
	good = good && fill(canvas, 0xff222222, all, false, false) == 0 &&
			gid_canvas_resize(canvas, 0, 64, 48) == 0 &&
			fill(canvas, 0xff00ff00, corner, true, false) == -ENOENT &&
			exchange(&holder);
	tap_ok(good && held_pixel(&holder, 20, 20) == 0x222222,
			"and one before a canvas that would have begun anew: %s",
			gid_canvas_error(canvas));
	good = good && fill(canvas, 0xff333333, all, false, false) == 0 &&
			resize_wrong(canvas) == -EDQUOT && exchange(&holder);
	tap_ok(good && held_pixel(&holder, 20, 20) == 0x333333,
			"also where nothing was drawn on it: %s", gid_canvas_error(canvas));
	gid_consumer_destroy(holder.viewer);
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
	engine_write_config("[canvas panel]\ndomain=open\n[canvas second]\ndomain=open\n");
	kill(engine, SIGHUP);
	canvas = engine_make_canvas(domain, "second", 64, 48);
	tap_ok(draw(canvas) == 0, "reads its file again: %s", gid_canvas_error(canvas));
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
	test_lists_taken();
	test_engine_changes();
	test_report_moves();
	test_left_out();
	test_refused_while_one_waits();
	tap_ok(end_engine() == 0, "the engine ends in good order");
	test_log();
	test_names();
	gid_domain_destroy(cluster);
	gid_domain_destroy(domain);
	cockpit_finish();
	return tap_finish();
}
