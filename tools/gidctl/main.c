// SPDX-License-Identifier: MIT
#include <argp.h>
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

enum { OPTION_PLAIN = 256, OPTION_ONCE, OPTION_FROM, OPTION_WAIT, OPTION_ALL, OPTION_ASSURANCE };

static const struct argp_option argp_options[] = {
		{"domain", 'd', "NAME", 0,
				"the domain to ask (default: $GID_DOMAIN, else the only one)", 0},
		{"config", 'c', "FILE", 0,
				"doctor: the configuration (default: that of the gidds "
				"that run, else " DOCTOR_DEFAULT_CONFIG ")",
				0},
		{"interval", 'i', "SECONDS", 0, "top: seconds between measurements (default: 1)",
				0},
		{"all", OPTION_ALL, 0, 0, "top: all domains that run here", 0},
		{"assurance", OPTION_ASSURANCE, 0, 0,
				"doctor: what whoever builds a system must provide, as far as it is seen "
				"here",
				0},
		{"once", OPTION_ONCE, 0, 0, "top: measure once, and end", 0},
		{"from", OPTION_FROM, "DOMAIN", 0,
				"revoke: the domain that loses it (default: all others)", 0},
		{"output", 'o', "FILE", 0, "snap: the PNG to write; - is the standard output", 0},
		{"frames", 'n', "N", 0,
				"snap: so many pictures, in files with the number for %d of FILE; "
				"watch: so many frames, then end",
				0},
		{"wait", OPTION_WAIT, "SECONDS", 0,
				"snap, watch: how long to wait for a frame (default: 5, and as long as "
				"there is a producer; watch: for ever)",
				0},
		{"json", 'j', 0, 0, "JSON, for programs", 0},
		{"plain", OPTION_PLAIN, 0, 0, "no colours, no rewriting of the screen", 0},
		{0},
};

/* Those that mean nothing to other commands: whoever gives one there expects something. */
static const struct own_option {
	int key;
	const char *name;
	const char *commands; /* with a space behind each */
} own_options[] = {
		{'c', "--config", "doctor "},
		{'i', "--interval", "top "},
		{'n', "--frames", "snap watch "},
		{'o', "--output", "snap "},
		{OPTION_ALL, "--all", "top "},
		{OPTION_ASSURANCE, "--assurance", "doctor "},
		{OPTION_FROM, "--from", "revoke "},
		{OPTION_ONCE, "--once", "top "},
		{OPTION_WAIT, "--wait", "snap watch "},
};
#define OWN_OPTIONS (sizeof(own_options) / sizeof(own_options[0]))

struct parsed {
	struct options options;
	const struct command *command;
	char *words[WORDS_MAX];
	bool given[OWN_OPTIONS];
};

static void note_option(struct parsed *parsed, int key) {
	for (size_t i = 0; i < OWN_OPTIONS; i++) {
		parsed->given[i] = parsed->given[i] || own_options[i].key == key;
	}
}

static void check_options(const struct parsed *parsed, struct argp_state *state) {
	char command[16];
	snprintf(command, sizeof(command), "%s ", parsed->command->name);
	for (size_t i = 0; i < OWN_OPTIONS; i++) {
		if (parsed->given[i] && strstr(own_options[i].commands, command) == NULL) {
			argp_error(state, "%s takes no %s", parsed->command->name,
					own_options[i].name);
		}
	}
}

static void refuse_command(const char *word, struct argp_state *state) {
	char list[128] = "";
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ",
				commands[i].name);
	}
	argp_error(state, "there is no command \"%s\"; there are: %s", word, list);
}

static void take_word(struct parsed *parsed, char *word, struct argp_state *state) {
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

static void take_reader(struct parsed *parsed, const char *name, struct argp_state *state) {
	if (name[0] == '\0') {
		argp_error(state, "--from takes a domain: all others lose it only without --from");
	}
	parsed->options.from = name;
}

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct parsed *parsed = state->input;
	note_option(parsed, key);
	switch (key) {
	case 'd':
		parsed->options.domain = value;
		break;
	case 'c':
		parsed->options.config = value;
		break;
	case 'i':
		parsed->options.interval = option_decimal(
				"--interval", value, SECONDS_MIN, SECONDS_MAX, state);
		break;
	case 'o':
		parsed->options.output = value;
		break;
	case 'n':
		parsed->options.frames =
				(unsigned)option_number("--frames", value, 1, FRAMES_MAX, state);
		break;
	case OPTION_WAIT:
		parsed->options.wait =
				option_decimal("--wait", value, SECONDS_MIN, SECONDS_MAX, state);
		break;
	case 'j':
		parsed->options.json = true;
		break;
	case OPTION_PLAIN:
		parsed->options.plain = true;
		break;
	case OPTION_FROM:
		take_reader(parsed, value, state);
		break;
	case OPTION_ASSURANCE:
		parsed->options.assurance = true;
		break;
	case OPTION_ALL:
		parsed->options.all = true;
		break;
	case OPTION_ONCE:
		parsed->options.once = true;
		break;
	case ARGP_KEY_ARG:
		take_word(parsed, value, state);
		break;
	case ARGP_KEY_END:
		if (parsed->command == NULL) {
			argp_usage(state);
		}
		check_options(parsed, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.args_doc = "status\nlist [slabs|streams|readable|subscriptions]…\ntop\n"
			    "watch [DOMAIN] STREAM\nsnap [DOMAIN] STREAM -o FILE.png\ndoctor\n"
			    "revoke DOMAIN STREAM|SLAB [--from=DOMAIN]\nseal\nunseal",
		.doc = "Looks into gidway domains and at their streams, takes what they share "
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
};

int main(int argc, char **argv) {
	struct parsed parsed = {.options = {.interval = 1}};
	standard_streams_init();
	command_line_parse(&argp, argc, argv, &parsed);
	parsed.options.words = parsed.words;
	style_init(parsed.options.plain);
	return parsed.command->run(&parsed.options);
}
