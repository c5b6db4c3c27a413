// SPDX-License-Identifier: MIT
#include "incident_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAKER "gid-timeline"
#define NOT_THERE 127
#define NICENESS 19
#define SECOND_US UINT64_C(1000000)

/* --- the folder ------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end) {
	size_t length = strlen(name), rest = strlen(end);
	return length > rest && strcmp(name + length - rest, end) == 0;
}

static bool is_ours(const char *name, const char *end) {
	return strncmp(name, "incident-", 9) == 0 && ends_with(name, end);
}

static int is_partial(const struct dirent *entry) {
	return is_ours(entry->d_name, ".html.partial");
}

static int is_whole(const struct dirent *entry) {
	return is_ours(entry->d_name, ".html");
}

static void remove_file(const char *folder, const char *name) {
	char *path = NULL;
	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		return;
	}
	if (unlink(path) < 0) {
		fprintf(stderr, "gid-recorder: %s: %s\n", path, strerror(errno));
	}
	free(path);
}

/* What a file is about is in its name between the time and the state: a role; or that it was asked
 * for. */
#define STAMP_SIZE (sizeof("incident-20261127-081512.250-") - 1)

static bool is_about_the_same(const char *one, const char *other) {
	if (strlen(one) < STAMP_SIZE || strlen(other) < STAMP_SIZE) {
		return false;
	}
	const char *end = strrchr(one + STAMP_SIZE, '-'), *its = strrchr(other + STAMP_SIZE, '-');
	end = end != NULL ? end : one + strlen(one);
	its = its != NULL ? its : other + strlen(other);
	return end - one == its - other &&
			strncmp(one + STAMP_SIZE, other + STAMP_SIZE,
					(size_t)(end - one) - STAMP_SIZE) == 0;
}

struct old_file {
	const char *name;
	int newer; /* files about the same */
};

/*
 * Of files from the oldest one on, one after the other the oldest of the role that has the most. So
 * no role that changes all the time takes the files of another.
 */
static void remove_superfluous(
		const char *folder, struct old_file *files, int count, uint32_t keep) {
	for (int i = 0; i < count; i++) {
		for (int k = i + 1; k < count; k++) {
			files[i].newer += is_about_the_same(files[i].name, files[k].name);
		}
	}
	for (; count > (int)keep; count--) {
		int found = 0;
		for (int i = 1; i < count; i++) {
			found = files[i].newer > files[found].newer ? i : found;
		}
		remove_file(folder, files[found].name);
		memmove(&files[found], &files[found + 1],
				(size_t)(count - 1 - found) * sizeof(files[0]));
	}
}

/*
 * Removes all files but `keep`. Their names are in the order of time, of which `newest` is the
 * last: what is dated after it was there before the clock was set back.
 */
static void remove_but(const char *folder, const char *newest, uint32_t keep) {
	struct dirent **entries;
	int oldest = 0, count = scandir(folder, &entries, is_whole, alphasort);
	struct old_file *files = count > 0 ? calloc((size_t)count, sizeof(*files)) : NULL;
	while (oldest < count && strcmp(entries[oldest]->d_name, newest) <= 0) {
		oldest++;
	}
	for (int i = 0; i < count && files != NULL; i++) {
		files[i].name = entries[(oldest + i) % count]->d_name;
	}
	if (files != NULL) {
		remove_superfluous(folder, files, count, keep);
	}
	for (int i = 0; i < count; i++) {
		free(entries[i]);
	}
	free(files);
	if (count >= 0) {
		free(entries);
	}
}

/* Whether the file is a page with its end. */
static bool is_complete(int fd) {
	static const char end[] = "</html>";
	char found[sizeof(end) - 1];
	off_t size = lseek(fd, 0, SEEK_END);
	return size > (off_t)sizeof(found) &&
			pread(fd, found, sizeof(found), size - (off_t)sizeof(found)) ==
			(ssize_t)sizeof(found) &&
			memcmp(found, end, sizeof(found)) == 0;
}

/* What a run that was killed left: its maker goes on, and has the file locked while it writes. */
static void take_over(const char *folder, const char *name) {
	char *partial = NULL, *path = NULL;
	int length = (int)(strlen(name) - strlen(".partial"));
	if (asprintf(&partial, "%s/%s", folder, name) < 0) {
		return;
	}
	int fd = open(partial, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool is_written = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (is_written) {
		fprintf(stderr, "gid-recorder: %s: another run's, which still writes it\n",
				partial);
	} else if (fd >= 0 && is_complete(fd) &&
			asprintf(&path, "%s/%.*s", folder, length, name) >= 0 &&
			rename(partial, path) == 0) {
		fprintf(stderr, "gid-recorder: %s: of another run, which had not named it\n", path);
	} else {
		remove_file(folder, name);
	}
	if (fd >= 0) {
		close(fd);
	}
	free(partial);
	free(path);
}

static void take_over_all(const char *folder) {
	struct dirent **entries;
	int count = scandir(folder, &entries, is_partial, alphasort);
	for (int i = 0; i < count; i++) {
		take_over(folder, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0) {
		free(entries);
	}
}

static void kill_one(sd_event_source *process) {
	if (process != NULL) {
		sd_event_source_send_child_signal(process, SIGKILL, NULL, 0);
	}
}

/* Whoever does not get on keeps all later incidents from their files. */
static int handle_late(sd_event_source *source, uint64_t usec, void *data) {
	struct incident_file *file = data;
	fprintf(stderr, "gid-recorder: " MAKER " does not end within %u s\n", file->limit);
	file->failed = true;
	kill_one(file->maker);
	kill_one(file->writer);
	return 0;
}

static int make_folder(const char *path) {
	int fd = -1, error = 0;
	if (mkdir(path, 0777) == 0 || errno == EEXIST) {
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (fd < 0 || faccessat(fd, ".", W_OK | X_OK, 0) < 0) {
		error = -errno;
	}
	if (fd >= 0) {
		close(fd);
	}
	return error;
}

int incident_file_init(struct incident_file *file, sd_event *event,
		const struct recorder_options *options, void (*done)(void *data, bool is_written),
		void *data) {
	*file = (struct incident_file){
			.folder = options->folder,
			.perfetto = options->perfetto,
			.keep = options->keep,
			.limit = options->limit,
			.event = event,
			.done = done,
			.data = data,
	};
	int error = make_folder(file->folder);
	if (error == 0) {
		error = sd_event_add_time(
				event, &file->late, CLOCK_MONOTONIC, 0, 0, handle_late, file);
	}
	if (error < 0) {
		fprintf(stderr, "gid-recorder: %s: %s\n", file->folder, strerror(-error));
		return error;
	}
	sd_event_source_set_enabled(file->late, SD_EVENT_OFF);
	take_over_all(file->folder);
	return 0;
}

static void forget(struct incident_file *file) {
	sd_event_source_set_enabled(file->late, SD_EVENT_OFF);
	file->maker = sd_event_source_disable_unref(file->maker);
	file->writer = sd_event_source_disable_unref(file->writer);
	free(file->path);
	free(file->partial);
	file->path = file->partial = NULL;
}

void incident_file_finish(struct incident_file *file) {
	if (incident_file_is_busy(file)) {
		fprintf(stderr, "gid-recorder: %s: not written, the end came before\n", file->path);
		unlink(file->partial);
	}
	forget(file);
	file->late = sd_event_source_disable_unref(file->late);
}

bool incident_file_is_busy(const struct incident_file *file) {
	return file->path != NULL;
}

/* --- its name --------------------------------------------------------------------------------- */

/* incident-20261127-081512.250-telltale-late.html: in the order of time. */
static int name_it(struct incident_file *file, const struct incident *incident) {
	const struct role_change *change = &incident->change;
	struct timespec time;
	struct tm parts;
	char stamp[32], what[2 * ROLE_WATCH_TEXT];
	clock_gettime(CLOCK_REALTIME, &time);
	gmtime_r(&time.tv_sec, &parts);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &parts);
	if (change->role[0] == '\0') {
		snprintf(what, sizeof(what), "asked");
	} else {
		snprintf(what, sizeof(what), "%s-%s", change->role, change->to);
	}
	for (char *at = what; *at != '\0'; at++) {
		bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
				(*at >= '0' && *at <= '9') || *at == '-' || *at == '_';
		*at = is_plain ? *at : '-';
	}
	if (asprintf(&file->path, "%s/incident-%s.%03ld-%s.html", file->folder, stamp,
			    time.tv_nsec / 1000000, what) < 0) {
		file->path = NULL;
		return -ENOMEM;
	}
	if (asprintf(&file->partial, "%s.partial", file->path) < 0) {
		file->partial = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* --- its two processes ------------------------------------------------------------------------ */

static void end(struct incident_file *file) {
	bool failed = file->failed;
	if (!failed && rename(file->partial, file->path) < 0) {
		fprintf(stderr, "gid-recorder: %s: %s\n", file->path, strerror(errno));
		failed = true;
	}
	if (failed) {
		unlink(file->partial);
		fprintf(stderr, "gid-recorder: %s: not written\n", file->path);
	} else {
		fprintf(stderr, "gid-recorder: wrote %s\n", file->path);
		take_over_all(file->folder);
		remove_but(file->folder, file->path + strlen(file->folder) + 1, file->keep);
	}
	forget(file);
	file->done(file->data, !failed);
}

static int handle_end(sd_event_source *source, const siginfo_t *info, void *data) {
	struct incident_file *file = data;
	bool is_maker = source == file->maker;
	bool is_good = info->si_code == CLD_EXITED && info->si_status == 0;
	if (is_maker && info->si_code == CLD_EXITED && info->si_status == NOT_THERE) {
		fprintf(stderr, "gid-recorder: there is no " MAKER " in $PATH to make the file\n");
	} else if (is_maker && info->si_code != CLD_EXITED) {
		fprintf(stderr, "gid-recorder: " MAKER " was ended by signal %d\n",
				info->si_status);
	}
	file->failed |= !is_good;
	if (is_maker) {
		file->maker = sd_event_source_unref(file->maker);
	} else {
		file->writer = sd_event_source_unref(file->writer);
	}
	if (file->maker == NULL && file->writer == NULL) {
		end(file);
	}
	return 0;
}

/* What a child has of us and shall not have: signals that wait for the event loop, its priority. */
static void become_child(void) {
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpriority(PRIO_PROCESS, 0, NICENESS);
}

static pid_t start_maker(const struct incident_file *file, int input) {
	pid_t pid = fork();
	if (pid == 0) {
		become_child();
		dup2(input, STDIN_FILENO);
		const char *more = file->perfetto != NULL ? "--perfetto" : NULL;
		execlp(MAKER, MAKER, "incident", "-", "-o", file->partial, more, file->perfetto,
				(char *)NULL);
		_exit(NOT_THERE);
	}
	return pid;
}

/* A child has all memory as it is at this moment, whatever comes meanwhile. */
static pid_t start_writer(
		const struct recording *recording, const char *line, int input, int output) {
	pid_t pid = fork();
	if (pid == 0) {
		close(input);
		become_child();
		_exit(recording_write(recording, line, output) == 0 ? 0 : 1);
	}
	return pid;
}

static int start(struct incident_file *file, const struct recording *recording, const char *line) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return -errno;
	}
	file->failed = false;
	pid_t maker = start_maker(file, ends[0]);
	pid_t writer = maker > 0 ? start_writer(recording, line, ends[0], ends[1]) : -1;
	int error = maker > 0 && writer > 0 ? 0 : -errno;
	close(ends[0]);
	close(ends[1]);
	if (maker > 0 &&
			sd_event_add_child(file->event, &file->maker, maker, WEXITED, handle_end,
					file) < 0) {
		file->failed = true;
	}
	if (writer > 0 &&
			sd_event_add_child(file->event, &file->writer, writer, WEXITED, handle_end,
					file) < 0) {
		file->failed = true;
	}
	file->failed |= error < 0;
	sd_event_source_set_time_relative(file->late, file->limit * SECOND_US);
	sd_event_source_set_enabled(file->late, SD_EVENT_ONESHOT);
	/* One that was started ends by itself: nothing comes by the pipe. */
	return file->maker != NULL || file->writer != NULL ? 0 : error < 0 ? error : -EIO;
}

int incident_file_begin(struct incident_file *file, const struct recording *recording,
		const struct incident *incident) {
	char *line = NULL;
	(void)mkdir(file->folder, 0777); /* somebody may have taken it away */
	int error = name_it(file, incident);
	if (error == 0) {
		error = recording_describe(recording, incident, &line);
	}
	if (error == 0) {
		error = start(file, recording, line);
	}
	free(line);
	if (error < 0) {
		fprintf(stderr, "gid-recorder: an incident is not written: %s\n", strerror(-error));
		forget(file);
	}
	return error;
}
