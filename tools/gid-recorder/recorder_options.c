// SPDX-License-Identifier: MIT
#include "recorder_options.h"

#include <argp.h>
#include <gid/gid.h>
#include <string.h>

#include "command_line.h"
#include "gidway_version.h"
#include "option_number.h"

const char *argp_program_version = "gid-recorder " GIDWAY_VERSION;

static const struct argp_option argp_options[] = {
		{"domain", 'd', "NAME", 0,
				"the domain that the program runs in (default: $GID_DOMAIN, else "
				"the only one here)",
				0},
		{"folder", 'f', "FOLDER", 0,
				"where the files are written; it is made (default: incidents)", 0},
		{"on", 'o', "STATES", 0,
				"of which changes of roles files are written, with commas between "
				"them; none: none (default: late,frozen,wrong,lost,gone)",
				0},
		{"status", 'S', "PATH", 0,
				"the socket of gid-cluster's --status, where it is another one than "
				"usual",
				0},
		{"seconds", 's', "N", 0, "how much is kept, 2 to 600 seconds (default: 30)", 0},
		{"after", 'a', "N", 0,
				"how long after an incident its file is written, less than "
				"--seconds (default: 5)",
				0},
		{"rate", 'r', "N", 0, "pictures a second of each stream, 1 to 30 (default: 4)", 0},
		{"width", 'w', "PIXELS", 0,
				"how wide pictures are at most, 16 to 1280 (default: 320)", 0},
		{"timeline", 't', "FILE", 0,
				"a file that $GID_TIMELINE names, or Weston's log, which is "
				"followed; up to 8 of them",
				0},
		{"perfetto", 'p', "TRACE", 0,
				"a trace in Perfetto's own format, as of Weston itself: its events "
				"come into the file, too",
				0},
		{"interval", 'i', "N", 0,
				"at most one file in so many seconds, 0 to 86400 (default: 60)", 0},
		{"keep", 'k', "N", 0,
				"how many files are kept, the newest, 1 to 1000 (default: 20)", 0},
		{"check", 'n', 0, 0, "say how much memory it takes, and end", 0},
		{0},
};

/* [DOMAIN:]STREAM */
static void parse_stream(struct argp_state *state, struct recorder_options *options, char *word) {
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

static void check_states(struct argp_state *state, const char *list) {
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

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct recorder_options *options = state->input;
	switch (key) {
	case 'd':
		options->domain = value;
		break;
	case 'f':
		options->folder = value;
		break;
	case 'o':
		check_states(state, value);
		options->on = value;
		break;
	case 'S':
		options->status = value;
		break;
	case 's':
		options->seconds = (uint32_t)option_number("--seconds", value, 2, 600, state);
		break;
	case 'a':
		options->after = (uint32_t)option_number("--after", value, 0, 599, state);
		break;
	case 'r':
		options->rate = (uint32_t)option_number("--rate", value, 1, 30, state);
		break;
	case 'w':
		options->width = (uint32_t)option_number("--width", value, 16, 1280, state);
		break;
	case 't':
		if (options->timeline_count == RECORDER_TIMELINES_MAX) {
			argp_error(state, "more than %u timelines", RECORDER_TIMELINES_MAX);
		}
		options->timelines[options->timeline_count++] = value;
		break;
	case 'p':
		options->perfetto = value;
		break;
	case 'i':
		options->interval = (uint32_t)option_number("--interval", value, 0, 86400, state);
		break;
	case 'k':
		options->keep = (uint32_t)option_number("--keep", value, 1, 1000, state);
		break;
	case 'n':
		options->check = true;
		break;
	case ARGP_KEY_ARG:
		parse_stream(state, options, value);
		break;
	case ARGP_KEY_END:
		if (options->after >= options->seconds) {
			argp_error(state, "--after=%u: less than --seconds=%u", options->after,
					options->seconds);
		}
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.args_doc = "[[DOMAIN:]STREAM...]",
		.doc = "Keeps the last seconds of streams, of roles and of the timeline in memory, and "
		       "writes them to a page for a browser when something happens."
		       "\vSIGUSR1 has it write a file, too. Exit status: 0 after SIGTERM or SIGINT; 1 "
		       "after an error; 2 for wrong words. See gid-recorder(1).",
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
	};
	command_line_parse(&argp, argc, argv, options);
}

bool recorder_options_has_state(const struct recorder_options *options, const char *state) {
	size_t length = strlen(state);
	for (const char *at = options->on; (at = strstr(at, state)) != NULL; at += length) {
		bool begins = at == options->on || at[-1] == ',';
		if (begins && (at[length] == ',' || at[length] == '\0')) {
			return length > 0;
		}
	}
	return false;
}
