// SPDX-License-Identifier: MIT
#include "recorder_options.h"

#include <gid/gid.h>
#include <string.h>

#include "command_line.h"
#include "gidway_version.h"

const char *argp_program_version = "gid-recorder " GIDWAY_VERSION;

/* [DOMAIN:]STREAM */
static void take_stream(void *data, char *word, struct argp_state *state) {
	struct recorder_options *options = data;
	char *colon = strchr(word, ':');
	struct recorder_stream stream = {.name = word};
	if (options->stream_count == RECORDER_STREAMS_MAX) {
		argp_error(state, "more than %u streams", RECORDER_STREAMS_MAX);
	}
	if (colon != NULL) {
		*colon = '\0';
		stream = (struct recorder_stream){.owner = word, .name = colon + 1};
	}
	if (!gid_name_is_valid(stream.name) ||
			(stream.owner != NULL && !gid_name_is_valid(stream.owner))) {
		argp_error(state, "%s%s%s: not [DOMAIN:]STREAM", colon != NULL ? word : "",
				colon != NULL ? ":" : "", stream.name);
	}
	options->streams[options->stream_count++] = stream;
}

/* The last one is of gid-cluster itself. */
static const char *const states[] = {"waiting", "live", "late", "frozen", "wrong", "lost", "gone"};

static void set_states(void *data, const char *list, struct argp_state *state) {
	struct recorder_options *options = data;
	options->on = list;
	if (strcmp(list, "none") == 0) {
		return;
	}
	for (const char *word = list; word != NULL;) {
		size_t length = strcspn(word, ",");
		bool is_known = false;
		for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
			is_known |= strlen(states[i]) == length &&
					strncmp(states[i], word, length) == 0;
		}
		if (!is_known) {
			argp_error(state,
					"--on=%s: states are waiting, live, late, frozen, wrong, "
					"lost and gone",
					list);
		}
		word = word[length] == ',' ? word + length + 1 : NULL;
	}
}

static void add_timeline(void *data, const char *path, struct argp_state *state) {
	struct recorder_options *options = data;
	if (options->timeline_count == RECORDER_TIMELINES_MAX) {
		argp_error(state, "more than %u timelines", RECORDER_TIMELINES_MAX);
	}
	options->timelines[options->timeline_count++] = path;
}

static void check_options(void *data, struct argp_state *state) {
	const struct recorder_options *options = data;
	if (options->after >= options->seconds) {
		argp_error(state, "--after=%u: less than --seconds=%u", options->after,
				options->seconds);
	}
}

#define MEMBER(member) OPTION_MEMBER(struct recorder_options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "domain", 'd', "NAME", OPTION_DOMAIN_HELP, MEMBER(domain)},
		{OPTION_TEXT, "folder", 'f', "FOLDER",
				"Where the files are written; it is made (default: incidents)",
				MEMBER(folder)},
		{OPTION_OWN, "on", 'o', "STATES",
				"Of which changes of roles files are written, with commas between "
				"them; none: none (default: late,frozen,wrong,lost,gone)",
				.set = set_states},
		{OPTION_TEXT, "status", 'S', "PATH",
				"The socket of gid-cluster's --status, where it is another one than "
				"usual",
				MEMBER(status)},
		{OPTION_NUMBER, "seconds", 's', "N",
				"How much is kept, 2 to 600 seconds (default: 30)", MEMBER(seconds),
				.least = 2, .most = 600},
		{OPTION_NUMBER, "after", 'a', "N",
				"How long after an incident its file is written, less than "
				"--seconds (default: 5)",
				MEMBER(after), .most = 599},
		{OPTION_NUMBER, "rate", 'r', "N",
				"Pictures a second of each stream, 1 to 30 (default: 4)",
				MEMBER(rate), .least = 1, .most = 30},
		{OPTION_NUMBER, "width", 'w', "PIXELS",
				"How wide pictures are at most, 16 to 1280 (default: 320)",
				MEMBER(width), .least = 16, .most = 1280},
		{OPTION_OWN, "timeline", 't', "FILE",
				"A file that $GID_TIMELINE names, or Weston's log, which is "
				"followed; up to 8 of them",
				.set = add_timeline},
		{OPTION_TEXT, "perfetto", 'p', "TRACE",
				"A trace in Perfetto's own format, as of Weston itself: its events "
				"come into the file, too",
				MEMBER(perfetto)},
		{OPTION_NUMBER, "interval", 'i', "N",
				"At most one file in so many seconds, 0 to 86400 (default: 60)",
				MEMBER(interval), .most = 86400},
		{OPTION_NUMBER, "keep", 'k', "N",
				"How many files are kept, the newest, 1 to 1000 (default: 20)",
				MEMBER(keep), .least = 1, .most = 1000},
		{OPTION_NUMBER, "limit", 'l', "N",
				"How many seconds making a file may take, 1 to 3600 (default: "
				"600)",
				MEMBER(limit), .least = 1, .most = 3600},
		{OPTION_SWITCH, "check", 'n', NULL, "Say how much memory it takes, and end",
				MEMBER(check)},
};

static const struct command_line line = {
		COMMAND_LINE_ROWS(rows),
		.words = "[[DOMAIN:]STREAM...]",
		.help = "Keeps the last seconds of streams, of roles and of the timeline in memory, and "
			"writes them to a page for a browser when something happens."
			"\vSIGUSR1 has it write a file, too. Exit status: 0 after SIGTERM or SIGINT; 1 "
			"after an error; 2 for wrong words. See gid-recorder(1).",
		.take = take_stream,
		.check = check_options,
};

void recorder_options_parse(struct recorder_options *options, int argc, char **argv) {
	*options = (struct recorder_options){
			.folder = "incidents",
			.on = "late,frozen,wrong,lost,gone",
			.seconds = 30,
			.after = 5,
			.rate = 4,
			.width = 320,
			.interval = 60,
			.keep = 20,
			.limit = 600,
	};
	command_line_parse(&line, argc, argv, options);
}

bool recorder_options_has_state(const struct recorder_options *options, const char *state) {
	const size_t length = strlen(state);
	const char *word = options->on;
	while (*word != '\0') {
		size_t size = strcspn(word, ",");
		if (size == length && strncmp(word, state, size) == 0) {
			return true;
		}
		word += word[size] == ',' ? size + 1 : size;
	}
	return false;
}
