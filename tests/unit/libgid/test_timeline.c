// SPDX-License-Identifier: MIT
/* The lines of gidway's own points, and files that several processes append to. */
#include <errno.h>
#include <fcntl.h>
#include <gid/timeline.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "timeline_domain.h"

#define WRITERS 4
#define POINTS 2000
#define SIZE_MOST 3000 /* of a file */

static char folder[] = "/tmp/gid-timeline-XXXXXX";

static const char *place(const char *name) {
	static char path[128];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static char *read_file(const char *path) {
	static char text[4096];
	FILE *file = fopen(path, "r");
	size_t length = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[length] = '\0';
	if (file != NULL) {
		fclose(file);
	}
	return text;
}

static struct gid_timeline_point example(void) {
	return (struct gid_timeline_point){
			.event = GID_TIMELINE_SUBMIT,
			.time = 4122303820201,
			.gid = gid_make(1, 42, 3, 7),
			.stream = "movie",
			.sequence = 42,
			.domain = 1,
	};
}

static void test_format(void) {
	char line[GID_TIMELINE_LINE_MAX];
	struct gid_timeline_point point = example();
	size_t length = gid_timeline_format(&point, "gidsink", line);
	const char *expected =
			"{ \"T\":[4122, 303820201], \"N\":\"gid_submit\", \"stream\":\"movie\", "
			"\"sequence\":42, \"gid\":\"1:42.3#7\", \"domain\":1, "
			"\"by\":\"gidsink\" }\n";
	tap_ok(strcmp(line, expected) == 0 && length == strlen(line), "the line of the document");
	point.stream = NULL;
	point.event = GID_TIMELINE_SHOWN;
	gid_timeline_format(&point, "weston", line);
	expected = "{ \"T\":[4122, 303820201], \"N\":\"gid_shown\", \"gid\":\"1:42.3#7\", "
		   "\"domain\":1, \"by\":\"weston\" }\n";
	tap_ok(strcmp(line, expected) == 0, "without a stream neither that nor a sequence");

	char longest[GID_NAME_MAX + 1];
	memset(longest, 'n', GID_NAME_MAX);
	longest[GID_NAME_MAX] = '\0';
	point = (struct gid_timeline_point){
			.event = GID_TIMELINE_RELEASED,
			.time = UINT64_MAX,
			.gid = UINT64_MAX,
			.stream = longest,
			.sequence = UINT64_MAX,
			.domain = UINT32_MAX,
	};
	length = gid_timeline_format(&point, longest, line);
	tap_ok(length < GID_TIMELINE_LINE_MAX && line[length - 1] == '\n',
			"the longest line is whole: %zu bytes", length);
}

static void test_places(void) {
	struct gid_timeline *timeline = (struct gid_timeline *)folder;
	unsetenv("GID_TIMELINE");
	tap_ok(gid_timeline_open(NULL, "test", &timeline) == 0 && timeline == NULL,
			"without GID_TIMELINE there is none");
	setenv("GID_TIMELINE", "", 1);
	tap_ok(gid_timeline_open(NULL, "test", &timeline) == 0 && timeline == NULL,
			"nor with an empty one");
	tap_ok(gid_timeline_open("/nonexistent/file", "test", &timeline) == -ENOENT,
			"a folder that is not there");
	tap_ok(gid_timeline_open("", "test", &timeline) == -ENOENT, "nor is a name that is empty");
	tap_ok(mkfifo(place("pipe"), 0600) == 0 &&
					gid_timeline_open(place("pipe"), "test", &timeline) ==
							-ENOTSUP,
			"a pipe that nobody reads is refused, and not waited for");
	int reader = open(place("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	tap_ok(reader >= 0 && gid_timeline_open(place("pipe"), "test", &timeline) == -ENOTSUP,
			"nor is one that somebody reads written to");
	close(reader);
	gid_timeline_unref(NULL);
	tap_ok(gid_timeline_ref(NULL) == NULL, "none may be referred to");

	setenv("GID_TIMELINE", place("environment"), 1);
	struct gid_timeline_point point = example();
	tap_ok(gid_timeline_open(NULL, "a \"writer\"\n", &timeline) == 0, "the environment's file");
	gid_timeline_write(timeline, &point);
	point.gid = GID_NONE;
	gid_timeline_write(timeline, &point);
	gid_timeline_unref(timeline);
	const char *text = read_file(place("environment"));
	tap_ok(strstr(text, "\"by\":\"a--writer--\"") != NULL, "what no name may have becomes -");
	tap_ok(strchr(text, '\n') == text + strlen(text) - 1, "no frame, no line");

	point = example();
	gid_timeline_open(NULL, NULL, &timeline);
	gid_timeline_write(timeline, &point);
	gid_timeline_unref(timeline);
	text = read_file(place("environment"));
	tap_ok(strstr(text, "\"by\":\"test_timeline\"") != NULL,
			"by itself it bears the program's name, behind what was there");
	gid_timeline_open(NULL, "", &timeline);
	gid_timeline_write(timeline, &point);
	gid_timeline_unref(timeline);
	text = read_file(place("environment"));
	tap_ok(strstr(text, "\"by\":\"-\"") != NULL, "an empty name is one, too");
	unsetenv("GID_TIMELINE");
}

/* Domains of one kernel need not be told apart by their frames. */
static void test_domain_says_its_clock(void) {
	struct gid_timeline *timeline;
	char boot[64] = "", expected[128];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	tap_ok(file != NULL && fscanf(file, "%63s", boot) == 1, "this kernel's start has a name");
	if (file != NULL) {
		fclose(file);
	}
	gid_timeline_open(place("domain"), "test", &timeline);
	gid_timeline_name_domain(timeline, 2, "cluster");
	gid_timeline_unref(timeline);
	snprintf(expected, sizeof(expected),
			"{ \"id\":2, \"type\":\"gid_domain\", \"name\":\"cluster\", "
			"\"clock\":\"%s/",
			boot);
	const char *text = read_file(place("domain"));
	tap_ok(strncmp(text, expected, strlen(expected)) == 0 &&
					strchr(text, '\n') == text + strlen(text) - 1,
			"a domain's line names it: %s", text);
}

static void write_many(int writer) {
	struct gid_timeline *timeline;
	if (gid_timeline_open(place("shared"), "test", &timeline) != 0) {
		_exit(1);
	}
	for (uint64_t i = 0; i < POINTS; i++) {
		struct gid_timeline_point point = example();
		point.sequence = (uint64_t)writer * POINTS + i;
		gid_timeline_write(timeline, &point);
	}
	gid_timeline_unref(timeline);
	_exit(0);
}

static void test_processes_share_a_file(void) {
	for (int i = 0; i < WRITERS; i++) {
		if (fork() == 0) {
			write_many(i);
		}
	}
	int status, failed = 0;
	for (int i = 0; i < WRITERS; i++) {
		failed += wait(&status) < 0 || status != 0;
	}
	static bool seen[WRITERS * POINTS];
	size_t good = 0, bad = 0;
	char line[GID_TIMELINE_LINE_MAX], whole[GID_TIMELINE_LINE_MAX];
	FILE *file = fopen(place("shared"), "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		const char *key = strstr(line, "\"sequence\":");
		struct gid_timeline_point point = example();
		point.sequence = key != NULL ? strtoull(key + 11, NULL, 10) : WRITERS * POINTS;
		gid_timeline_format(&point, "test", whole);
		bool right = point.sequence < WRITERS * POINTS && !seen[point.sequence] &&
				strcmp(line, whole) == 0;
		if (right) {
			seen[point.sequence] = true;
		}
		good += right;
		bad += !right;
	}
	if (file != NULL) {
		fclose(file);
	}
	tap_ok(failed == 0 && good == WRITERS * POINTS && bad == 0,
			"%d processes wrote %zu whole lines, %zu others", WRITERS, good, bad);
}

static void write_to_the_limit(const char *path) {
	const struct rlimit limit = {SIZE_MOST, SIZE_MOST};
	const struct gid_timeline_point point = example();
	struct gid_timeline *timeline;
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0 || gid_timeline_open(path, "test", &timeline) < 0) {
		_exit(1);
	}
	gid_timeline_name_domain(timeline, 1, "open");
	for (int i = 0; i < POINTS; i++) {
		gid_timeline_write(timeline, &point);
		gid_timeline_name_domain(timeline, 1, "open");
	}
	gid_timeline_unref(timeline);
	_exit(0);
}

/* The kernel would end a program that goes beyond it, for the sake of its timeline. */
static void test_files_that_may_not_grow(void) {
	const char *path = place("limited");
	if (fork() == 0) {
		write_to_the_limit(path);
	}
	int status = -1;
	wait(&status);
	size_t size = strlen(read_file(path));
	tap_ok(status == 0, "a timeline that may not grow ends no program: %d", status);
	tap_ok(size <= SIZE_MOST && size > SIZE_MOST - GID_TIMELINE_LINE_MAX &&
					read_file(path)[size - 1] == '\n',
			"it has %zu bytes, all of whole lines", size);
}

int main(void) {
	if (mkdtemp(folder) == NULL) {
		return 1;
	}
	test_format();
	test_places();
	test_domain_says_its_clock();
	test_processes_share_a_file();
	test_files_that_may_not_grow();
	const char *names[] = {"pipe", "environment", "domain", "shared", "limited"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unlink(place(names[i]));
	}
	rmdir(folder);
	return tap_finish();
}
