// SPDX-License-Identifier: MIT
/*
 * gid-engine with helpers: they draw, also into memory that moves meanwhile; their work is the
 * canvas's; and the file says how many there are.
 */
#define COCKPIT_STREAMS "engine/*"
#define COCKPIT_MORE "[share cluster open]\nstreams=canvas/*\n"
#include "engine_program.h"

#include <dirent.h>
#include <drm_fourcc.h>
#include <sched.h>

#define SIZE 2048 /* of the canvas: some milliseconds for each fill */
#define MOVES 30
#define ADDED 4 /* layers of a list, each of which counts in the picture */

static struct gid_domain *domain, *cluster;
static pid_t engine;

static void write_config(const char *helpers) {
	engine_write_config("[engine]\n%s\n[canvas panel]\ndomain=open\nmemory=64M\n"
			    "list-ms=60000\n",
			helpers);
}

/* What a thread of the engine's /proc says; -1: the thread is gone. */
static int read_proc(const char *thread, const char *what, char *text, size_t size) {
	char path[300];
	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", (int)engine, thread, what);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0) {
		close(fd);
	}
	text[count > 0 ? count : 0] = '\0';
	return count < 0 ? -1 : 0;
}

/* How many helpers the engine has, and how many ns of a processor they, or all threads, had. */
static int count_helpers(uint64_t *theirs, uint64_t *all) {
	char path[64], text[128];
	int count = 0;
	*theirs = *all = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)engine);
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		if (entry->d_name[0] == '.' ||
				read_proc(entry->d_name, "comm", text, sizeof(text)) < 0) {
			continue;
		}
		const bool is_helper = strcmp(text, "helper\n") == 0;
		read_proc(entry->d_name, "schedstat", text, sizeof(text));
		const uint64_t used = strtoull(text, NULL, 10);
		count += is_helper;
		*theirs += is_helper ? used : 0;
		*all += used;
	}
	if (folder != NULL) {
		closedir(folder);
	}
	return count;
}

static bool has_helpers(int wanted) {
	uint64_t theirs, all;
	const long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (count_helpers(&theirs, &all) != wanted && cockpit_now_ms() < end) {
		cockpit_sleep_ms(10);
	}
	return count_helpers(&theirs, &all) == wanted;
}

static int draw(struct gid_canvas *canvas, uint32_t colour) {
	uint64_t fence;
	const struct gid_rectangle all = {0, 0, SIZE, SIZE};
	gid_list_begin(canvas);
	for (int i = 0; i < 8; i++) {
		gid_list_fill(canvas, i == 0 ? GID_OPERATOR_SRC : GID_OPERATOR_OVER,
				i == 0 ? colour : 0, &all, 1);
	}
	gid_list_present(canvas, true, 0);
	int ret = gid_list_submit(canvas, &fence);
	return ret < 0 ? ret : gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS);
}

/* Whether the last picture has this colour from its first row to its last. */
static bool shows(uint32_t colour) {
	struct gid_consumer *consumer;
	const struct gid_consumer_options options = {.size = sizeof(options), .drop_old = true};
	struct gid_frame frame;
	struct gid_slab *slab;
	struct gid_slab_info info;
	bool good = false;
	const long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	gid_consumer_create(domain, "cluster", "canvas/panel", &options, &consumer);
	while (!good && cockpit_now_ms() < end) {
		gid_domain_dispatch(domain);
		if (gid_consumer_receive(consumer, &frame) != 1) {
			gid_consumer_wait(consumer, 100);
			continue;
		}
		if (gid_slab_import(domain, frame.gid, &slab) == 0) {
			gid_slab_get_info(slab, &info);
			const uint8_t *view = gid_slab_view(slab, gid_slot_of(frame.gid));
			good = view != NULL;
			for (size_t y = 0; good && y < SIZE; y++) {
				uint32_t pixel;
				memcpy(&pixel,
						view + y * info.layout.planes[0].stride +
								4 * (y / 2),
						4);
				good = (pixel & 0xffffff) == (colour & 0xffffff);
			}
			gid_slab_unref(slab);
		}
		gid_consumer_release(consumer, &frame);
	}
	gid_consumer_destroy(consumer);
	return good;
}

static void test_work(struct gid_canvas *canvas, bool are_two) {
	struct gid_canvas_stats stats;
	uint64_t theirs, all;
	const long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	int ret = 0;
	do {
		ret = draw(canvas, 0xff336699);
		count_helpers(&theirs, &all);
	} while (ret == 0 && are_two && theirs < 20000000 && cockpit_now_ms() < end);
	tap_ok(ret == 0 && shows(0xff336699), "lists are drawn");
	tap_ok(!are_two || theirs >= 20000000, "by helpers, too: %llu us of %llu",
			(unsigned long long)theirs / 1000, (unsigned long long)all / 1000);
	const long patience = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	do { /* it is written when the engine pauses */
		cockpit_sleep_ms(20);
		gid_canvas_get_stats(canvas, &stats);
	} while (stats.work_ns < all - theirs / 2 && cockpit_now_ms() < patience);
	tap_ok(stats.work_ns >= all - theirs / 2, "whose work is the canvas's: %llu us",
			(unsigned long long)stats.work_ns / 1000);
}

/* A small picture of one colour, for the engine. */
static struct gid_slab *make_source(struct gid_canvas *canvas, uint32_t colour) {
	struct gid_layout layout;
	struct gid_slab *slab = NULL;
	gid_layout_init(&layout, DRM_FORMAT_ARGB8888, 16, 16, 64);
	if (gid_slab_create(domain, &layout, 0, 1, NULL, &slab) == 0) {
		uint32_t *pixels = gid_slab_data(slab, 0);
		for (int i = 0; i < 16 * 16; i++) {
			pixels[i] = colour;
		}
		gid_canvas_share(canvas, slab);
	}
	return slab;
}

/*
 * Everything one brighter, time and again: what is lost of one layer is missing in the end. Scaled,
 * so that each takes a while.
 */
static uint64_t submit_sum(struct gid_canvas *canvas, uint32_t base, gid_id one) {
	const struct gid_rectangle all = {0, 0, SIZE, SIZE};
	const struct gid_layer layer = {.gid = one,
			.box = all,
			.op = GID_OPERATOR_ADD,
			.alpha = 255,
			.bilinear = true};
	uint64_t fence = 0;
	gid_list_begin(canvas);
	gid_list_fill(canvas, GID_OPERATOR_SRC, base, &all, 1);
	for (int i = 0; i < ADDED; i++) {
		gid_list_layer(canvas, &layer);
	}
	gid_list_present(canvas, true, 0);
	gid_list_submit(canvas, &fence);
	return fence;
}

static bool next_picture(struct gid_consumer *viewer, struct gid_frame *frame) {
	const long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (cockpit_now_ms() < end) {
		if (gid_consumer_receive(viewer, frame) == 1 && frame->gid != GID_NONE) {
			return true;
		}
		gid_consumer_wait(viewer, 100);
	}
	return false;
}

/* How many pixels of it have another colour; all of them, if it cannot be read. */
static uint32_t count_wrong(const struct gid_frame *frame, uint32_t colour) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	uint32_t wrong = SIZE * SIZE;
	if (gid_slab_import(domain, frame->gid, &slab) < 0) {
		return wrong;
	}
	gid_slab_get_info(slab, &info);
	const uint8_t *view = gid_slab_view(slab, gid_slot_of(frame->gid));
	for (size_t y = 0; view != NULL && y < SIZE; y++) {
		const uint32_t *row = (const void *)(view + y * info.layout.planes[0].stride);
		for (size_t x = 0; x < SIZE; x++) {
			wrong -= ((row[x] ^ colour) & 0xffffff) == 0;
		}
	}
	gid_slab_unref(slab);
	return wrong;
}

/*
 * As by `gidctl revoke`, while it is drawn into. Each slot is a slab, and three of them take turns:
 * one has the last picture, the next one had to be free before that was sent.
 */
static void test_moves(struct gid_canvas *canvas) {
	const struct gid_consumer_options options = {.size = sizeof(options)};
	struct gid_slab *source = make_source(canvas, 0xff010101);
	struct gid_consumer *viewer = NULL;
	struct gid_frame frame;
	gid_id slots[3] = {0};
	uint32_t wrong = 0, moved = 0;
	bool good = source != NULL &&
			gid_consumer_create(domain, "cluster", "canvas/panel", &options, &viewer) ==
					0 &&
			next_picture(viewer, &frame); /* that is there already */
	for (uint32_t i = 0; good && i < MOVES; i++) {
		gid_consumer_release(viewer, &frame);
		const uint32_t base = 0xff000000 | i * 0x010101;
		const uint64_t fence = submit_sum(canvas, base, gid_slab_gid(source, 0));
		cockpit_sleep_ms(5 + i % 20);
		gid_domain_revoke(cluster, "cluster", NULL, slots[i % 3], NULL);
		good = gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS) == 0 &&
				next_picture(viewer, &frame);
		wrong += good ? count_wrong(&frame, base + ADDED * 0x010101) : 0;
		moved += i > 2 && gid_slab_of(frame.gid) != gid_slab_of(slots[i % 3]);
		slots[i % 3] = frame.gid;
	}
	tap_ok(good && moved > 0 && wrong == 0,
			"what is drawn into memory that moves is not lost: %u pixels in %u moves: %s",
			wrong, moved, gid_canvas_error(canvas));
	gid_consumer_destroy(viewer);
	gid_slab_destroy(source, false);
}

int main(void) {
	cpu_set_t set;
	sched_getaffinity(0, sizeof(set), &set);
	if (!cockpit_init() || gid_domain_connect("open", &domain) < 0 ||
			gid_domain_connect("cluster", &cluster) < 0) {
		tap_ok(false, "two domains");
		cockpit_finish();
		return tap_finish();
	}
	write_config("helpers=16");
	int status = -1;
	waitpid(engine_start_logging("check.log", "--check"), &status, 0);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 1, "there are 15 helpers at most");

	write_config("helpers=3");
	engine = engine_start_logging("engine.log", NULL);
	struct gid_canvas *canvas = engine_make_canvas(domain, "panel", SIZE, SIZE);
	tap_ok(has_helpers(3), "there are as many as the file says");
	test_work(canvas, CPU_COUNT(&set) > 1);
	test_moves(canvas);
	write_config("helpers=0");
	kill(engine, SIGHUP);
	tap_ok(has_helpers(0), "and none, if the file says so and is read again");
	gid_canvas_destroy(canvas);
	canvas = engine_make_canvas(domain, "panel", SIZE, SIZE);
	tap_ok(draw(canvas, 0xff996633) == 0 && shows(0xff996633), "which draws as well");
	write_config("spin-us=50");
	kill(engine, SIGHUP);
	const int usual = CPU_COUNT(&set) - 1 < 15 ? CPU_COUNT(&set) - 1 : 15;
	tap_ok(has_helpers(usual), "without a word it is one less than processors");
	gid_canvas_destroy(canvas);
	kill(engine, SIGTERM);
	waitpid(engine, &status, 0);
	tap_ok(status == 0, "the engine ends in good order");
	gid_domain_destroy(cluster);
	gid_domain_destroy(domain);
	cockpit_finish();
	return tap_finish();
}
