// SPDX-License-Identifier: MIT
#include "ini_file.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ini_line.h"

/* A file with more is no configuration. */
#define MISTAKES_MAX 100
/* inih cuts off what is longer between [ and ]. */
#define SECTION_MAX 49

FILE *ini_file_open(const char *path, FILE *errors) {
	FILE *file = fopen(path, "re");
	struct stat status;
	int error = errno;
	if (file != NULL && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
		fclose(file);
		file = NULL;
		error = EISDIR;
	}
	if (file == NULL) {
		fprintf(errors, "%s: %s\n", path, strerror(error));
		errno = error;
	}
	return file;
}

__attribute__((format(printf, 3, 0))) static void tell(
		struct ini_file *ini, unsigned line, const char *format, va_list args) {
	if (line == 0) { /* of an empty file, or of none */
		fprintf(ini->errors, "%s: ", ini->name);
	} else {
		fprintf(ini->errors, "%s:%u: ", ini->name, line);
	}
	vfprintf(ini->errors, format, args);
	fputc('\n', ini->errors);
	ini->mistakes++;
	if (ini->result == 0) {
		ini->result = -EINVAL;
	}
}

void ini_file_mistake(struct ini_file *ini, const char *format, ...) {
	va_list args;
	va_start(args, format);
	tell(ini, ini->line, format, args);
	va_end(args);
}

void ini_file_mistake_at(struct ini_file *ini, unsigned line, const char *format, ...) {
	va_list args;
	va_start(args, format);
	tell(ini, line, format, args);
	va_end(args);
}

void ini_file_unknown_section(struct ini_file *ini, const char *section, const char *known) {
	if (ini->section_is_unknown) {
		return;
	}
	ini->section_is_unknown = true;
	if (ini->section == 0) {
		ini_file_mistake(ini, "a key before the first section; there are %s", known);
	} else {
		ini_file_mistake_at(ini, ini->section, "unknown section [%s]; there are %s",
				section, known);
	}
}

struct reading {
	struct ini_file *ini;
	ini_file_key_func handle_key;
	void *data;
	void *given;  /* a tree of struct given: the keys so far */
	bool is_more; /* the line continues the value before it */
};

/* --- keys that a section has twice ------------------------------------------------------------ */

struct given {
	unsigned line;
	char name[]; /* of the section, and of the key */
};

static int compare_given(const void *a, const void *b) {
	return strcmp(((const struct given *)a)->name, ((const struct given *)b)->name);
}

static void forget_given(struct reading *reading) {
	tdestroy(reading->given, free);
	reading->given = NULL;
}

/*
 * The line in which the section has this key already. 0: it has not; the present line is
 * remembered.
 */
static unsigned line_of_given(struct reading *reading, const char *section, const char *key) {
	struct ini_file *ini = reading->ini;
	struct given *given = malloc(sizeof(*given) + strlen(section) + strlen(key) + 2);
	if (given == NULL) {
		ini->result = -ENOMEM;
		return 0;
	}
	given->line = ini->line;
	sprintf(given->name, "%s]%s", section, key);
	struct given **known = tsearch(given, &reading->given, compare_given);
	unsigned line = known != NULL && *known != given ? (*known)->line : 0;
	if (known == NULL) {
		ini->result = -ENOMEM;
	}
	if (known == NULL || line != 0) {
		free(given);
	}
	return line;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* inih does not report a section without a key. */
static void end_section(struct ini_file *ini) {
	if (ini->section_is_empty) {
		ini_file_mistake_at(ini, ini->section, "a section without a key");
	}
	ini->section_is_empty = false;
}

/* inih ignores what follows the ], such as a key or a second section. */
static void check_rest(struct ini_file *ini, const char *line) {
	const char *end = strchr(line, ']');
	const char *rest = end != NULL ? end + 1 + strspn(end + 1, " \t\r\n") : "";
	if (rest[0] != '\0' && rest[0] != ';' && rest[0] != '#') {
		ini_file_mistake(ini, "\"%.*s\" stands behind the section: give it its own line",
				(int)strcspn(rest, "\r\n"), rest);
	}
}

static void begin_section(struct reading *reading, char *line) {
	struct ini_file *ini = reading->ini;
	check_rest(ini, line);
	ini->is_behind_key = false;
	if (ini->handle_section != NULL) {
		forget_given(reading);
		ini->handle_section(reading->data, line + 1);
		strcpy(line, "[s]\n"); /* so that inih forgets the key before it */
		return;
	}
	end_section(ini);
	ini->section = ini->line;
	ini->section_is_empty = true;
	ini->section_is_unknown = false;
	if (strcspn(line + 1, "]") > SECTION_MAX) {
		ini_file_mistake(ini, "a section's name is longer than %d bytes", SECTION_MAX);
	}
}

static bool has_control_character(const char *line, ssize_t length) {
	for (ssize_t i = 0; i < length; i++) {
		if (iscntrl((unsigned char)line[i]) && memchr("\n\r\t", line[i], 3) == NULL) {
			return true;
		}
	}
	return false;
}

/* Returns whether the line can be read; reports why not. */
static bool check_line(struct ini_file *ini, const char *line, ssize_t length, int size) {
	if (length < 0 && ini->is_list != NULL) {
		ini_file_mistake(ini,
				"longer than %d bytes; a list goes on in the next line when that "
				"begins with a space",
				size - 3);
	} else if (length < 0) {
		ini_file_mistake(ini, "longer than %d bytes", size - 2);
	} else if (ini->is_list != NULL && has_control_character(line, length)) {
		ini_file_mistake(ini, "a control character");
	} else if (strlen(line) != (size_t)length) {
		ini_file_mistake(ini, "a byte of zero, which no text has");
	} else {
		return true;
	}
	return false;
}

/* inih would report only the first line that is neither, and only at the end. */
static bool is_section_or_key(const char *text) {
	return text[0] == '[' ? strchr(text, ']') != NULL
			      : strchr("\n;#", text[0]) != NULL || strpbrk(text, "=:") != NULL;
}

/*
 * fgets() for inih. A line that inih must not see is given to it as an empty one. Without lists,
 * blanks at the begin of a line are removed: inih would take the line for a continuation.
 */
static char *read_line(char *buffer, int size, void *data) {
	struct reading *reading = data;
	struct ini_file *ini = reading->ini;
	static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark, which some editors leave */
	size_t room = (size_t)size - (ini->is_list != NULL);
	ssize_t length = ini_line_read(ini->file, buffer, room);
	if (length == -ENODATA) {
		return NULL;
	}
	ini->line++;
	if (length == -EFBIG) {
		ini_file_mistake(ini, "a line without an end: this is no text");
		return NULL;
	}
	if (ini->mistakes >= MISTAKES_MAX) {
		ini_file_mistake(ini, "after so many mistakes the rest is not read");
		return NULL;
	}
	if (!check_line(ini, buffer, length, size)) {
		strcpy(buffer, "\n");
		return buffer;
	}
	bool marked = ini->line == 1 && strncmp(buffer, mark, strlen(mark)) == 0;
	char *begin = buffer + (marked ? strlen(mark) : 0);
	char *text = begin + strspn(begin, " \t\r\v\f");
	reading->is_more = ini->is_list != NULL && ini->is_behind_key && text != begin;
	if (reading->is_more) {
		return buffer;
	}
	memmove(buffer, text, strlen(text) + 1);
	bool has_parser = buffer[0] == '[' && ini->handle_section != NULL;
	if (!has_parser && !is_section_or_key(buffer)) {
		ini_file_mistake(ini, "neither [section] nor key=value");
		strcpy(buffer, "\n");
	} else if (buffer[0] == '[') {
		begin_section(reading, buffer);
	}
	return buffer;
}

/* As other files have it: # begins one only at the begin of a line. */
static bool has_foreign_comment(const char *value) {
	const char *mark = strchr(value, '#');
	return mark != NULL && (mark == value || mark[-1] == ' ' || mark[-1] == '\t');
}

static int take_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	struct ini_file *ini = reading->ini;
	ini->section_is_empty = false;
	ini->is_behind_key = key[0] != '\0'; /* as inih has it */
	unsigned mistakes = ini->mistakes;
	bool is_list = ini->is_list != NULL && ini->is_list(reading->data, key);
	unsigned before = is_list ? 0 : line_of_given(reading, section, key);
	if (before == 0) {
		reading->handle_key(reading->data, section, key, value);
	} else if (reading->is_more) {
		ini_file_mistake(ini, "%s= of line %u is no list: its value cannot go on here", key,
				before);
	} else {
		ini_file_mistake(ini, "%s= is in line %u of this section already", key, before);
	}
	/* Elsewhere it may well be meant: a command has such words. */
	if (ini->mistakes != mistakes && has_foreign_comment(value)) {
		ini_file_mistake(ini, "behind a value a comment begins with ; and not with #");
	}
	return 1;
}

int ini_file_read(struct ini_file *ini, ini_file_key_func handle_key, void *data) {
	struct reading reading = {.ini = ini, .handle_key = handle_key, .data = data};
	/* Only inih notices a comment before the =. */
	int bad_line = ini_parse_stream(read_line, &reading, take_key, &reading);
	if (bad_line > 0) {
		ini->line = (unsigned)bad_line;
		ini_file_mistake(ini, "neither [section] nor key=value");
	} else if (bad_line < 0) {
		ini->result = -ENOMEM;
	}
	end_section(ini);
	forget_given(&reading);
	if (ferror(ini->file)) {
		ini_file_mistake(ini, "the file cannot be read");
	}
	return ini->result;
}

/* --- values ----------------------------------------------------------------------------------- */

static const char size_units[] = "KMGT"; /* each is 1024 times the one before */

static bool parse_number(const char *value, const char *units, int64_t *number) {
	char *end;
	errno = 0;
	*number = strtoll(value, &end, 10);
	bool valid = (isdigit((unsigned char)value[0]) || value[0] == '-') && end != value &&
			errno == 0;
	const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
	if (unit != NULL) {
		int64_t factor = INT64_C(1024) << 10 * (unit - units);
		valid = valid && !__builtin_mul_overflow(*number, factor, number);
		end++;
	}
	return valid && *end == '\0';
}

bool ini_parse_size(const char *value, int64_t *size) {
	return parse_number(value, size_units, size);
}

/* In the largest unit that gives a whole number. */
static const char *put_size(int64_t size, char text[24]) {
	size_t unit = 0;
	while (size_units[unit] != '\0' && size != 0 && size % 1024 == 0) {
		size /= 1024;
		unit++;
	}
	snprintf(text, 24, "%lld%.*s", (long long)size, unit > 0, &size_units[unit - (unit > 0)]);
	return text;
}

static int64_t read_number(struct ini_file *ini, const char *key, const char *value,
		const char *units, int64_t least, int64_t most) {
	int64_t number;
	if (parse_number(value, units, &number) && number >= least && number <= most) {
		return number;
	}
	ini_file_mistake(ini, "%s=%s is not a number from %lld to %lld", key, value,
			(long long)least, (long long)most);
	return least;
}

int64_t ini_file_number(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most) {
	return read_number(ini, key, value, "", least, most);
}

int64_t ini_file_count(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most) {
	return read_number(ini, key, value, size_units, least, most);
}

int64_t ini_file_size(struct ini_file *ini, const char *key, const char *value, int64_t least,
		int64_t most) {
	char from[24], to[24];
	int64_t number;
	if (parse_number(value, size_units, &number) && number >= least && number <= most) {
		return number;
	}
	if (most == INT64_MAX) {
		ini_file_mistake(ini,
				"%s=%s is not a size: a number, with K, M, G or T behind it or "
				"nothing",
				key, value);
	} else {
		ini_file_mistake(ini, "%s=%s is not a size from %s to %s", key, value,
				put_size(least, from), put_size(most, to));
	}
	return least;
}

bool ini_file_switch(struct ini_file *ini, const char *key, const char *value) {
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0) {
		ini_file_mistake(ini, "%s=%s must be on or off", key, value);
	}
	return strcmp(value, "on") == 0;
}

void ini_file_text(struct ini_file *ini, char **text, const char *value) {
	free(*text);
	*text = strdup(value);
	if (*text == NULL) {
		ini->result = -ENOMEM;
	}
}
