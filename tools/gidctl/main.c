// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "gidctl.h"
#include "gidctl_table.h"
#include "gidway_version.h"
#include "option_number.h"
#include "standard_streams.h"

#define WORDS_MAX 8
#define FRAMES_MAX 1000000u
#define SECONDS_MIN 0.05
#define SECONDS_MAX 3600

const char *argp_program_version = "gidctl " GIDWAY_VERSION;

static const struct command {
	const char *name;
	int (*run)(const struct options *options);
	int words; /* at most, behind the command */
} commands[] = {
		{"status", command_status, 0},
		{"list", command_list, WORDS_MAX},
		{"top", command_top, 0},
		{"watch", command_watch, 2},
#if HAVE_SNAP
		{"snap", command_snap, 2},
#endif
		{"doctor", command_doctor, 0},
		{"revoke", command_revoke, 2},
		{"seal", command_seal, 0},
		{"unseal", command_unseal, 0},
};

struct parsed {
	struct options options;
	const struct command *command;
	char *words[WORDS_MAX];
	uint32_t given; /* a bit for each row */
};

static void set_interval(void *data, const char *value, struct argp_state *state) {
	struct parsed *parsed = data;
	parsed->options.interval =
			option_decimal("interval", value, SECONDS_MIN, SECONDS_MAX, state);
}

static void set_wait(void *data, const char *value, struct argp_state *state) {
	struct parsed *parsed = data;
	parsed->options.wait = option_decimal("wait", value, SECONDS_MIN, SECONDS_MAX, state);
}

static void set_reader(void *data, const char *name, struct argp_state *state) {
	struct parsed *parsed = data;
	if (name[0] == '\0') {
		argp_error(state, "--from takes a domain: all others lose it only without --from");
	}
	parsed->options.from = name;
}

#define MEMBER(member) OPTION_MEMBER(struct parsed, options.member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "domain", 'd', "NAME",
				"The domain to ask (default: $GID_DOMAIN, else the only one)",
				MEMBER(domain)},
		{OPTION_TEXT, "config", 'c', "FILE",
				"doctor: the configuration (default: that of the gidds "
				"that run, else " DOCTOR_DEFAULT_CONFIG ")",
				MEMBER(config), .commands = "doctor "},
		{OPTION_OWN, "interval", 'i', "SECONDS",
				"top: seconds between measurements (default: 1)",
				.set = set_interval, .commands = "top "},
		{OPTION_SWITCH, "all", 0, NULL, "top: all domains that run here", MEMBER(all),
				.commands = "top "},
		{OPTION_SWITCH, "assurance", 0, NULL,
				"doctor: what whoever builds a system must provide, as far as it is seen "
				"here",
				MEMBER(assurance), .commands = "doctor "},
		{OPTION_SWITCH, "once", 0, NULL, "top: measure once, and end", MEMBER(once),
				.commands = "top "},
		{OPTION_OWN, "from", 0, "DOMAIN",
				"revoke: the domain that loses it (default: all others)",
				.set = set_reader, .commands = "revoke "},
		{OPTION_TEXT, "output", 'o', "FILE",
				"snap: the PNG to write; - is the standard output", MEMBER(output),
				.commands = "snap "},
		{OPTION_NUMBER, "frames", 'n', "N",
				"snap: so many pictures, in files with the number for %d of FILE; "
				"watch: so many frames, then end",
				MEMBER(frames), .least = 1, .most = FRAMES_MAX,
				.commands = "snap watch "},
		{OPTION_OWN, "wait", 0, "SECONDS",
				"snap, watch: how long to wait for a frame (default: 5, and as long as "
				"there is a producer; watch: for ever)",
				.set = set_wait, .commands = "snap watch "},
		{OPTION_SWITCH, "json", 'j', NULL, "JSON, for programs", MEMBER(json)},
		{OPTION_SWITCH, "plain", 0, NULL, "No colours, no rewriting of the screen",
				MEMBER(plain)},
};

static void refuse_command(const char *word, struct argp_state *state) {
	char list[128] = "";
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ",
				commands[i].name);
	}
	argp_error(state, "there is no command \"%s\"; there are: %s", word, list);
}

static void take_word(void *data, char *word, struct argp_state *state) {
	struct parsed *parsed = data;
	for (size_t i = 0; parsed->command == NULL && i < sizeof(commands) / sizeof(commands[0]);
			i++) {
		if (strcmp(commands[i].name, word) == 0) {
			parsed->command = &commands[i];
			return;
		}
	}
	if (parsed->command == NULL) {
		refuse_command(word, state);
		return;
	}
	if (parsed->options.word_count == parsed->command->words) {
		argp_error(state, "%s takes no \"%s\"", parsed->command->name, word);
	}
	parsed->words[parsed->options.word_count++] = word;
}

static void note_option(void *data, const struct option_row *row) {
	struct parsed *parsed = data;
	parsed->given |= UINT32_C(1) << (row - rows);
}

/* One that means nothing to the command: whoever gives it there expects something. */
static void check_options(void *data, struct argp_state *state) {
	const struct parsed *parsed = data;
	char command[16];
	if (parsed->command == NULL) {
		argp_usage(state);
	}
	snprintf(command, sizeof(command), "%s ", parsed->command->name);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *of = rows[i].commands;
		if ((parsed->given >> i & 1) != 0 && of != NULL && strstr(of, command) == NULL) {
			argp_error(state, "%s takes no --%s", parsed->command->name, rows[i].name);
		}
	}
}

static const struct command_line line = {
		COMMAND_LINE_ROWS(rows),
		.words = "status\nlist [slabs|streams|readable|subscriptions]…\ntop\n"
			 "watch [DOMAIN] STREAM\nsnap [DOMAIN] STREAM -o FILE.png\ndoctor\n"
			 "revoke DOMAIN STREAM|SLAB [--from=DOMAIN]\nseal\nunseal",
		.help = "Looks into gidway domains and at their streams, takes what they share "
			"from readers, and seals them.\v"
			"Commands:\n"
			"  status   the domain, its links, quotas and clients\n"
			"  list     slabs with their grants, streams, readable ones, subscriptions\n"
			"  top      frames a second, latency, held frames, drops and copies, live\n"
			"  watch    a line for each frame of a stream\n"
			"  snap     a stream's picture as a PNG\n"
			"  doctor   what is missing on this machine, and what to do about it\n"
			"  revoke   takes a domain's stream, or the memory of its slab, from "
			"readers\n"
			"  seal     nothing new is granted in the domain from now on\n"
			"  unseal   ends that\n\n"
			"See gidctl(1).",
		.take = take_word,
		.note = note_option,
		.check = check_options,
};

int main(int argc, char **argv) {
	struct parsed parsed = {.options = {.interval = 1}};
	standard_streams_init();
	command_line_parse(&line, argc, argv, &parsed);
	parsed.options.words = parsed.words;
	style_init(parsed.options.plain);
	return parsed.command->run(&parsed.options);
}
