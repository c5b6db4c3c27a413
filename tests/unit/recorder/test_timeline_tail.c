// SPDX-License-Identifier: MIT
/* The end of a file that grows, with the names that it began with. */
#include "timeline_tail.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

#define LOOKS 4u
#define NAME "{ \"id\":1, \"type\":\"weston_output\", \"name\":\"DP-1\" }\n"

static char path[] = "/tmp/gid-tail-XXXXXX";

static void append(const char *text) {
	FILE *file = fopen(path, "a");
	fputs(text, file);
	fclose(file);
}

/* What would be written now, as a string that is good until the next call. */
static const char *text_of(const struct timeline_tail *tail) {
	static char *text;
	free(text);
	int fd = memfd_create("tail", MFD_CLOEXEC);
	int64_t size = timeline_tail_write(tail, LOOKS, fd);
	text = calloc(1, (size_t)size + 1);
	bool whole = size == timeline_tail_write(tail, LOOKS, -1) &&
			pread(fd, text, (size_t)size, 0) == size;
	close(fd);
	return whole ? text : "";
}

static void look(struct timeline_tail *tail, int times) {
	for (int i = 0; i < times; i++) {
		timeline_tail_look(tail);
	}
}

static void test_growing(struct timeline_tail *tail) {
	append(NAME "{ \"T\":[1, 2], \"N\":\"old\" }\n");
	look(tail, 1);
	tap_ok(strstr(text_of(tail), "old") != NULL, "what is there at the start");
	append("{ \"T\":[1, 3], \"N\":\"ne");
	look(tail, 1);
	append("wer\" }\n");
	look(tail, 1);
	const char *text = text_of(tail);
	tap_ok(strstr(text, "newer") != NULL && strstr(text, "weston_output") != NULL,
			"a line in parts is whole");
	look(tail, 2 * LOOKS);
	append("{ \"T\":[1, 4], \"N\":\"newest\" }\n");
	look(tail, 1);
	text = text_of(tail);
	tap_ok(strstr(text, "newest") != NULL && strstr(text, "old") == NULL, "old lines go");
	tap_ok(strncmp(text, NAME, strlen(NAME)) == 0, "names stay");
	tap_ok(strstr(text + 1, "weston_output") == strstr(text, "weston_output"), "once");
}

static void test_another_file(struct timeline_tail *tail) {
	append("{ \"T\":[1, 5], \"N\":\"last\" }\n");
	unlink(path);
	append("{ \"T\":[2, 0], \"N\":\"another\" }\n");
	look(tail, 1);
	tap_ok(strstr(text_of(tail), "another") != NULL, "a file in its place is followed");
	tap_ok(strstr(text_of(tail), "last") != NULL, "after the end of the one before");
	tap_ok(truncate(path, 0) == 0, "it is emptied");
	look(tail, 1);
	append("{ \"T\":[3, 0], \"N\":\"emptied\" }\n");
	look(tail, 1);
	tap_ok(strstr(text_of(tail), "emptied") != NULL, "and then, too");
}

static void test_flood(struct timeline_tail *tail) {
	FILE *file = fopen(path, "a");
	for (int i = 0; i < 12000; i++) {
		fprintf(file, "{ \"id\":%d, \"type\":\"weston_surface\", \"desc\":\"%s\" }\n", i,
				i % 2 ? "short"
				      : "a name as long as a hundred characters ..............");
		fprintf(file, "{ \"T\":[4, %d], \"N\":\"%0999d\" }\n", i, i);
	}
	fclose(file);
	look(tail, 20);
	int64_t size = timeline_tail_write(tail, LOOKS, -1);
	tap_ok(tail->is_full, "names are too many");
	look(tail, 1);
	append("{ \"T\":[5, 0], \"N\":\"behind\" }\n");
	look(tail, 1);
	tap_ok(size <= (int64_t)TIMELINE_TAIL_ROOM + TIMELINE_TAIL_NAMES, "there is a limit");
	tap_ok(strstr(text_of(tail), "behind") != NULL, "and the end is kept");
}

int main(void) {
	struct timeline_tail tail;
	close(mkstemp(path));
	timeline_tail_init(&tail, path, LOOKS);
	test_growing(&tail);
	test_another_file(&tail);
	test_flood(&tail);
	timeline_tail_finish(&tail);
	unlink(path);
	return tap_finish();
}
