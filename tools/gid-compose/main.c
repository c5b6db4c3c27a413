// SPDX-License-Identifier: MIT
/* gid-compose: composes streams into a new one, by an engine, as a file says that it follows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "command_line.h"
#include "composition.h"
#include "gidway_version.h"
#include "standard_streams.h"

#define SECOND_US 1000000u

struct options {
	const char *file, *domain, *stats;
	bool check;
};

struct program {
	const struct options *options;
	struct composition composition;
	sd_event_source *timer;
	sd_event_source *target_watch; /* NULL: the file is no link */
	char *target;		       /* where the link leads to */
	uint64_t next_us, written_us;  /* the next picture, the last statistics */
};

const char *argp_program_version = "gid-compose " GIDWAY_VERSION;

#define MEMBER(member) OPTION_MEMBER(struct options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "domain", 'd', "NAME", OPTION_DOMAIN_HELP, MEMBER(domain)},
		{OPTION_SWITCH, "check", 'n', NULL,
				"Read the file, say what is wrong with it, and end", MEMBER(check)},
		{OPTION_TEXT, "stats", 's', "FILE",
				"Write counts to this file each second, as JSON", MEMBER(stats)},
};

static void take_word(void *data, char *word, struct argp_state *state) {
	struct options *options = data;
	if (options->file != NULL) {
		argp_error(state, "unexpected argument %s: one FILE is enough", word);
	}
	options->file = word;
}

static void check_options(void *data, struct argp_state *state) {
	const struct options *options = data;
	if (options->file == NULL) {
		argp_error(state, "which FILE says what is on the canvas?");
	}
}

static const struct command_line line = {
		COMMAND_LINE_ROWS(rows),
		.words = "FILE",
		.help = "Composes streams into a new one: the engine of another domain puts them on "
			"its canvas as FILE says. When FILE changes, so does the canvas."
			"\vExit status: 0 after SIGTERM or SIGINT, or when --check found nothing "
			"wrong; 1 otherwise. See gid-compose(1).",
		.take = take_word,
		.check = check_options,
};

/* --- statistics ------------------------------------------------------------------------------- */

static void write_stats(struct program *program) {
	const struct composition *composition = &program->composition;
	const char *path = program->options->stats;
	char *partial = NULL;
	if (path == NULL || asprintf(&partial, "%s.partial", path) < 0) {
		return;
	}
	FILE *file = fopen(partial, "we");
	if (file != NULL) {
		fprintf(file,
				"{\"engine\": %s, \"pictures\": %llu, \"refused\": %llu, "
				"\"layouts\": %llu}\n",
				composition->connected ? "true" : "false",
				(unsigned long long)composition->pictures,
				(unsigned long long)composition->refused,
				(unsigned long long)composition->layouts);
	}
	if (file == NULL || fclose(file) != 0 || rename(partial, path) != 0) {
		fprintf(stderr, "gid-compose: %s: %s\n", path, strerror(errno));
	}
	free(partial);
}

/* --- events ----------------------------------------------------------------------------------- */

static int handle_time(sd_event_source *source, uint64_t usec, void *data) {
	struct program *program = data;
	uint64_t now;
	composition_step(&program->composition);
	sd_event_now(sd_event_source_get_event(source), CLOCK_MONOTONIC, &now);
	if (now - program->written_us >= SECOND_US) {
		program->written_us = now;
		write_stats(program);
	}
	/* In step with the first one; those that are too late are left out. */
	uint64_t period = SECOND_US / program->composition.layout.rate;
	program->next_us += period;
	if (program->next_us < now) {
		program->next_us += (now - program->next_us) / period * period;
	}
	return sd_event_source_set_time(source, program->next_us);
}

static void follow(struct program *program) {
	struct layout_file layout;
	int ret = layout_file_read(&layout, program->options->file, stderr);
	if (ret == 0) {
		ret = composition_change(&program->composition, &layout);
	}
	if (ret < 0) {
		fprintf(stderr, "gid-compose: going on as before\n");
	}
	layout_file_finish(&layout);
	write_stats(program);
}

static const char *name_of(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

static int handle_inotify(sd_event_source *source, const struct inotify_event *event, void *data);

/* The folder is watched: most editors put a new file in the place of the old one. */
static int watch_folder(sd_event *event, struct program *program, const char *path,
		sd_event_source **source) {
	char *folder = name_of(path) == path ? strdup(".")
					     : strndup(path, (size_t)(name_of(path) - path));
	if (folder == NULL) {
		return -ENOMEM;
	}
	int ret = sd_event_add_inotify(event, source, folder, IN_CLOSE_WRITE | IN_MOVED_TO,
			handle_inotify, program);
	free(folder);
	return ret;
}

static void unwatch_target(struct program *program) {
	program->target_watch = sd_event_source_disable_unref(program->target_watch);
	free(program->target);
	program->target = NULL;
}

/* A link is followed where it leads to, which may be elsewhere now. */
static int watch_target(sd_event *event, struct program *program) {
	const char *path = program->options->file;
	struct stat status;
	unwatch_target(program);
	if (lstat(path, &status) < 0 || !S_ISLNK(status.st_mode)) {
		return 0;
	}
	program->target = realpath(path, NULL);
	return program->target == NULL
			? 0
			: watch_folder(event, program, program->target, &program->target_watch);
}

/* As where another link on the way was changed: Kubernetes changes volumes so. */
static bool leads_elsewhere(const struct program *program) {
	char *target = program->target == NULL ? NULL : realpath(program->options->file, NULL);
	bool elsewhere = target != NULL && strcmp(target, program->target) != 0;
	free(target);
	return elsewhere;
}

static int handle_inotify(sd_event_source *source, const struct inotify_event *event, void *data) {
	struct program *program = data;
	const char *path =
			source == program->target_watch ? program->target : program->options->file;
	bool is_named = event->len > 0 && strcmp(event->name, name_of(path)) == 0;
	if (is_named || leads_elsewhere(program)) {
		watch_target(sd_event_source_get_event(source), program);
		follow(program);
	}
	return 0;
}

static int watch_file(sd_event *event, struct program *program) {
	int ret = watch_folder(event, program, program->options->file, NULL);
	return ret < 0 ? ret : watch_target(event, program);
}

static int serve(struct program *program) {
	sd_event *event;
	int ret = sd_event_new(&event);
	if (ret < 0) {
		return ret;
	}
	sd_event_set_signal_exit(event, true);
	sd_event_now(event, CLOCK_MONOTONIC, &program->next_us);
	ret = sd_event_add_time(event, &program->timer, CLOCK_MONOTONIC, program->next_us, 1,
			handle_time, program);
	if (ret >= 0) {
		ret = sd_event_source_set_enabled(program->timer, SD_EVENT_ON);
	}
	if (ret >= 0) {
		ret = watch_file(event, program);
	}
	if (ret >= 0) {
		sd_notify(0, "READY=1");
		ret = sd_event_loop(event);
		sd_notify(0, "STOPPING=1");
	}
	sd_event_source_unref(program->timer);
	unwatch_target(program);
	sd_event_unref(event);
	return ret;
}

int main(int argc, char **argv) {
	struct options options = {0};
	struct layout_file layout;
	standard_streams_init();
	command_line_parse(&line, argc, argv, &options);
	int ret = layout_file_read(&layout, options.file, stderr);
	if (ret == -ENOENT) {
		fprintf(stderr, "gid-compose: write it, see gid-compose(1)\n");
	}
	if (ret == 0 && !options.check) {
		struct program program = {.options = &options};
		ret = composition_init(&program.composition, options.domain, &layout);
		if (ret == 0) {
			ret = serve(&program);
			write_stats(&program);
			if (ret < 0) {
				fprintf(stderr, "gid-compose: %s\n", strerror(-ret));
			}
		}
		composition_finish(&program.composition);
	}
	layout_file_finish(&layout);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
