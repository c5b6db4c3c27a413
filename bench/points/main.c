// SPDX-License-Identifier: MIT
/*
 * What one point of the timeline costs its program, in ns: in a loop that does nothing else, less
 * the same loop without the point.
 *
 *     gid-bench-points off COUNT         there is no timeline
 *     gid-bench-points weston COUNT      in the Weston module: nobody listens to Weston's timeline
 *     gid-bench-points on COUNT FILE     it is appended to FILE
 */
#include <err.h>
#include <gid/timeline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBWESTON
#include <libweston/libweston.h>
#include <libweston/weston-log.h>
#endif

/* Makes the compiler forget what it knows of memory: each round loads the pointer, as a frame does.
 */
#define FORGET(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

struct writer {
	struct gid_timeline *timeline;
	uint64_t sequence;
};

static double seconds(void) {
	return (double)gid_clock_now() / 1e9;
}

__attribute__((noinline)) static void write_point(const struct writer *writer) {
	gid_timeline_write(writer->timeline,
			&(struct gid_timeline_point){
					.event = GID_TIMELINE_SUBMIT,
					.time = 1234567890123456789 + writer->sequence,
					.gid = gid_make(1, 42, writer->sequence % 8, 7),
					.stream = "movie",
					.sequence = writer->sequence,
					.domain = 1,
			});
}

static double loop_with_points(struct writer *writer, uint64_t count) {
	double begin = seconds();
	for (uint64_t i = 0; i < count; i++) {
		FORGET(writer);
		writer->sequence++;
		if (writer->timeline != NULL) {
			write_point(writer);
		}
	}
	return seconds() - begin;
}

/* As the module's points.c asks at each commit. */
static double loop_in_weston(struct writer *writer, uint64_t count) {
#ifdef HAVE_LIBWESTON
	struct weston_log_context *context = weston_log_ctx_create();
	struct weston_log_scope *scope =
			weston_log_ctx_add_log_scope(context, "timeline", "", NULL, NULL, NULL);
	double begin = seconds();
	for (uint64_t i = 0; i < count; i++) {
		FORGET(writer);
		writer->sequence++;
		if (writer->timeline != NULL ||
				weston_log_subscription_iterate(scope, NULL) != NULL) {
			write_point(writer);
		}
	}
	double spent = seconds() - begin;
	weston_log_scope_destroy(scope);
	weston_log_ctx_destroy(context);
	return spent;
#else
	errx(1, "was built without libweston");
#endif
}

static double loop_without(struct writer *writer, uint64_t count) {
	double begin = seconds();
	for (uint64_t i = 0; i < count; i++) {
		FORGET(writer);
		writer->sequence++;
	}
	return seconds() - begin;
}

int main(int argc, char *argv[]) {
	bool on = argc == 4 && strcmp(argv[1], "on") == 0;
	bool weston = argc == 3 && strcmp(argv[1], "weston") == 0;
	if (!on && !weston && (argc != 3 || strcmp(argv[1], "off") != 0)) {
		errx(2, "usage: gid-bench-points off COUNT | weston COUNT | on COUNT FILE");
	}
	uint64_t count = strtoull(argv[2], NULL, 10);
	struct writer writer = {0};
	int error = on ? gid_timeline_open(argv[3], "bench", &writer.timeline) : 0;
	if (error < 0) {
		errx(1, "%s: %s", argv[3], strerror(-error));
	}
	double least[] = {1e9, 1e9};
	for (int i = 0; i < 5; i++) {
		double with = weston ? loop_in_weston(&writer, count)
				     : loop_with_points(&writer, count);
		double without = loop_without(&writer, count);
		least[0] = with < least[0] ? with : least[0];
		least[1] = without < least[1] ? without : least[1];
	}
	printf("%.2f\n", (least[0] - least[1]) / (double)count * 1e9);
	gid_timeline_unref(writer.timeline);
	return 0;
}
