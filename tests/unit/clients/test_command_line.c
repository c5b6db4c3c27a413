// SPDX-License-Identifier: MIT
/* The rows of a program's options: what each sets, and what ends the program. */
#include "command_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

const char *argp_program_version = "test 1";

struct options {
	const char *name, *words[2];
	bool on, noted_old, checked;
	uint32_t few;
	uint64_t many;
	unsigned word_count;
	char own[16];
};

static void set_own(void *data, const char *value, struct argp_state *state) {
	struct options *options = data;
	snprintf(options->own, sizeof(options->own), "%s", value != NULL ? value : "(none)");
}

static void take(void *data, char *word, struct argp_state *state) {
	struct options *options = data;
	if (options->word_count == 2) {
		argp_error(state, "two words are enough");
	}
	options->words[options->word_count++] = word;
}

static void note(void *data, const struct option_row *row) {
	struct options *options = data;
	options->noted_old |= strcmp(row->name, "old") == 0;
}

static void check(void *data, struct argp_state *state) {
	struct options *options = data;
	options->checked = true;
	if (options->few == 3) {
		argp_error(state, "--few: three is none of them");
	}
}

#define MEMBER(member) OPTION_MEMBER(struct options, member)

static const struct option_row rows[] = {
		{.help = "First"},
		{OPTION_TEXT, "name", 'n', "NAME", "A name", MEMBER(name)},
		{OPTION_TEXT, "old", 0, "NAME", NULL, MEMBER(name)},
		{OPTION_SWITCH, "on", 'o', NULL, "On", MEMBER(on)},
		{.help = "Second"},
		{OPTION_NUMBER, "few", 'f', "N", "A few", MEMBER(few), .least = 2, .most = 10},
		{OPTION_NUMBER, "many", 0, "N", "Many", MEMBER(many), .most = UINT64_MAX},
		{OPTION_OWN, "own", 0, "TEXT", "Own", .is_optional = true, .set = set_own},
};

static const struct command_line plain = {COMMAND_LINE_ROWS(rows), .help = "Plain."};
static const struct command_line whole = {COMMAND_LINE_ROWS(rows), .words = "[WORD]...",
		.help = "Whole.", .take = take, .note = note, .check = check};

#define WORDS_MAX 8

static void parse(const struct command_line *line, const char *const *words,
		struct options *options) {
	char *argv[WORDS_MAX + 2] = {(char *)"test"};
	int argc = 1;
	for (; words[argc - 1] != NULL; argc++) {
		argv[argc] = (char *)words[argc - 1];
	}
	command_line_parse(line, argc, argv, options);
}

/* In a process of its own, which the words may end. Returns its status, and what it printed. */
static int status_of(const struct command_line *line, const char *const *words, char said[4096]) {
	int ends[2], status;
	if (pipe(ends) < 0) {
		return -1;
	}
	pid_t child = fork();
	if (child == 0) {
		struct options options = {0};
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		parse(line, words, &options);
		exit(0);
	}
	close(ends[1]);
	size_t used = 0;
	for (ssize_t got; (got = read(ends[0], said + used, 4095 - used)) > 0;) {
		used += (size_t)got;
	}
	said[used] = '\0';
	close(ends[0]);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_members(void) {
	struct options options = {0};
	parse(&whole,
			(const char *const[]){"one", "-n", "a", "--few=10",
					"--many=18446744073709551615", "-o", "two", NULL},
			&options);
	tap_ok(strcmp(options.name, "a") == 0 && options.on, "a text and a switch are set");
	tap_ok(options.few == 10 && options.many == UINT64_MAX, "so are numbers of both sizes");
	tap_ok(options.word_count == 2 && strcmp(options.words[0], "one") == 0 &&
					strcmp(options.words[1], "two") == 0,
			"words are taken wherever they stand");
	tap_ok(options.checked && !options.noted_old, "all is checked at the end");
	options = (struct options){0};
	parse(&whole, (const char *const[]){"--old=b", "--own", NULL}, &options);
	tap_ok(strcmp(options.name, "b") == 0 && options.noted_old, "two options set one member");
	tap_ok(strcmp(options.own, "(none)") == 0, "an optional value is left out");
	parse(&whole, (const char *const[]){"--own=c", NULL}, &options);
	tap_ok(strcmp(options.own, "c") == 0, "or is there");
}

static void test_mistakes(void) {
	static const struct {
		const char *word, *said;
	} wrong[] = {
			{"--few=1", "--few must be a number from 2 to 10, not 1"},
			{"--few=x", "--few must be a number from 2 to 10, not x"},
			{"--few=3", "--few: three is none of them"},
			{"--on=yes", "--on"},
			{"--name", "--name"},
			{"--none", "--none"},
	};
	char said[4096];
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int status = status_of(&whole, (const char *const[]){wrong[i].word, NULL}, said);
		tap_ok(status == EXIT_USAGE && strstr(said, wrong[i].said) != NULL,
				"%s is told, and ends it", wrong[i].word);
	}
	int status = status_of(&plain, (const char *const[]){"word", NULL}, said);
	tap_ok(status == EXIT_USAGE && strstr(said, "unexpected argument word") != NULL,
			"a program without words takes none");
}

static void test_help(void) {
	char said[4096];
	for (int i = 0; i < 2; i++) {
		const char *word = i == 0 ? "-h" : "--help";
		int status = status_of(&plain, (const char *const[]){word, NULL}, said);
		tap_ok(status == 0 && strstr(said, "-n, --name=NAME") != NULL &&
						strstr(said, "--own[=TEXT]") != NULL,
				"%s lists the options", word);
	}
	const char *first = strstr(said, "First"), *second = strstr(said, "Second");
	const char *on = strstr(said, "--on"), *few = strstr(said, "--few");
	tap_ok(first != NULL && first < on && on < second && second < few,
			"each is below its heading");
	tap_ok(strstr(said, "--old") == NULL, "one without help is not there");
	tap_ok(status_of(&plain, (const char *const[]){"-V", NULL}, said) == 0 &&
					strcmp(said, "test 1\n") == 0,
			"-V tells the version");
}

int main(void) {
	test_members();
	test_mistakes();
	test_help();
	return tap_finish();
}
