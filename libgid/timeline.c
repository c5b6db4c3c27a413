// SPDX-License-Identifier: MIT
/** The lines of gidway's own points, and the file that they are appended to. */
#include "timeline_domain.h"

#include <errno.h>
#include <fcntl.h>
#include <gid/timeline.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_S 1000000000u

#define CLOCK_NAME_MAX 63u

struct gid_timeline {
	unsigned references;
	int fd;
	rlim_t limit;			/* of the file's size, as it was when the file was opened */
	char clock[CLOCK_NAME_MAX + 1]; /* of all its times; empty: nobody can tell */
	char by[GID_NAME_MAX + 1];
};

static const char *event_name(enum gid_timeline_event event) {
	static const char *const names[] = {
			[GID_TIMELINE_CAPTURE] = "gid_capture",
			[GID_TIMELINE_SUBMIT] = "gid_submit",
			[GID_TIMELINE_RECEIVE] = "gid_receive",
			[GID_TIMELINE_COMMIT] = "gid_commit",
			[GID_TIMELINE_SHOWN] = "gid_shown",
			[GID_TIMELINE_RELEASED] = "gid_released",
			[GID_TIMELINE_FREED] = "gid_freed",
	};
	return names[event];
}

size_t gid_timeline_format(const struct gid_timeline_point *point, const char *by,
		char line[GID_TIMELINE_LINE_MAX]) {
	char gid[GID_TEXT_MAX], frame[GID_NAME_MAX + 64] = "";
	if (point->stream != NULL) {
		snprintf(frame, sizeof(frame), "\"stream\":\"%.*s\", \"sequence\":%" PRIu64 ", ",
				(int)GID_NAME_MAX, point->stream, point->sequence);
	}
	int length = snprintf(line, GID_TIMELINE_LINE_MAX,
			"{ \"T\":[%" PRIu64 ", %" PRIu64 "], \"N\":\"%s\", %s\"gid\":\"%s\", "
			"\"domain\":%" PRIu32 ", \"by\":\"%.*s\" }\n",
			point->time / NS_PER_S, point->time % NS_PER_S, event_name(point->event),
			frame, gid_format(point->gid, gid), point->domain, (int)GID_NAME_MAX, by);
	return (size_t)length;
}

/* A writer's name from any text. */
static void name_writer(char by[GID_NAME_MAX + 1], const char *text) {
	size_t length = strnlen(text, GID_NAME_MAX);
	memcpy(by, text, length);
	for (size_t i = 0; i < length; i++) {
		char one[] = {by[i], '\0'};
		if (!gid_name_is_valid(one)) {
			by[i] = '-';
		}
	}
	if (length == 0) {
		by[0] = '-';
	}
}

/*
 * Which CLOCK_MONOTONIC this process sees: that of a kernel since its start, and of a namespace of
 * times. Domains with the same have no clocks to be compared.
 */
static void name_clock(char clock[static CLOCK_NAME_MAX + 1]) {
	clock[0] = '\0';
	char boot[37] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return;
	}
	ssize_t got = read(fd, boot, sizeof(boot) - 1);
	close(fd);
	struct stat times = {0};
	if (got != (ssize_t)sizeof(boot) - 1 || !gid_name_is_valid(boot) ||
			(stat("/proc/self/ns/time", &times) < 0 && errno != ENOENT)) {
		return;
	}
	snprintf(clock, CLOCK_NAME_MAX + 1, "%s/%" PRIu64, boot, (uint64_t)times.st_ino);
}

/* Never waits: a pipe that nobody reads is no place for points. */
static int open_file(const char *path) {
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			0666);
	if (fd < 0) {
		return errno == ENXIO ? -ENOTSUP : -errno;
	}
	struct stat status;
	if (fstat(fd, &status) < 0 || (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode))) {
		close(fd);
		return -ENOTSUP;
	}
	return fd;
}

int gid_timeline_open(const char *path, const char *by, struct gid_timeline **result) {
	*result = NULL;
	if (path == NULL) {
		path = getenv("GID_TIMELINE");
		if (path == NULL || path[0] == '\0') {
			return 0;
		}
	}
	struct gid_timeline *timeline = calloc(1, sizeof(*timeline));
	if (timeline == NULL) {
		return -ENOMEM;
	}
	timeline->fd = open_file(path);
	if (timeline->fd < 0) {
		int error = timeline->fd;
		free(timeline);
		return error;
	}
	struct rlimit limit;
	timeline->limit = getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
	timeline->references = 1;
	name_clock(timeline->clock);
	name_writer(timeline->by, by != NULL ? by : program_invocation_short_name);
	*result = timeline;
	return 0;
}

struct gid_timeline *gid_timeline_ref(struct gid_timeline *timeline) {
	if (timeline != NULL) {
		__atomic_add_fetch(&timeline->references, 1, __ATOMIC_RELAXED);
	}
	return timeline;
}

void gid_timeline_unref(struct gid_timeline *timeline) {
	if (timeline != NULL &&
			__atomic_sub_fetch(&timeline->references, 1, __ATOMIC_ACQ_REL) == 0) {
		close(timeline->fd);
		free(timeline);
	}
}

/* A file that is larger than this process may make would end it by SIGXFSZ. */
static bool has_room(const struct gid_timeline *timeline, size_t length) {
	struct stat status;
	return timeline->limit == RLIM_INFINITY ||
			(fstat(timeline->fd, &status) == 0 &&
					(rlim_t)status.st_size + length <= timeline->limit);
}

static void append(const struct gid_timeline *timeline, const char *line, size_t length) {
	if (has_room(timeline, length)) {
		ssize_t written = write(timeline->fd, line, length);
		(void)written; /* there is nobody to tell */
	}
}

void gid_timeline_name_domain(struct gid_timeline *timeline, uint32_t number, const char *name) {
	char line[GID_NAME_MAX + CLOCK_NAME_MAX + 80], clock[CLOCK_NAME_MAX + 16] = "";
	if (timeline->clock[0] != '\0') {
		snprintf(clock, sizeof(clock), ", \"clock\":\"%s\"", timeline->clock);
	}
	int length = snprintf(line, sizeof(line),
			"{ \"id\":%" PRIu32 ", \"type\":\"gid_domain\", \"name\":\"%.*s\"%s }\n",
			number, (int)GID_NAME_MAX, name, clock);
	append(timeline, line, (size_t)length);
}

void gid_timeline_write(struct gid_timeline *timeline, const struct gid_timeline_point *point) {
	if (point->gid == GID_NONE) {
		return;
	}
	char line[GID_TIMELINE_LINE_MAX];
	append(timeline, line, gid_timeline_format(point, timeline->by, line));
}
