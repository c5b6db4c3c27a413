// SPDX-License-Identifier: MIT
#include "config_place.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ini_line.h"
#include "size_text.h"

#define LINE_MAX_BYTES 512 /* more than a section or a key and its `=` need */

/* --- the file --------------------------------------------------------------------------------- */

/* Splits the line as Weston's parser does. Returns whether it begins a section or has a key. */
static bool cut_line(char *text, struct config_line *line) {
	char *end = strchr(text, text[0] == '[' ? ']' : '=');
	/* To Weston, a comment that does not begin the line is a key, which is never asked for. */
	char first = text[strspn(text, " \t")];
	if (first == '#' || first == ';' || end == NULL) {
		return false;
	}
	*end = '\0';
	line->section = text[0] == '[' ? text + 1 : NULL;
	line->key = text[0] == '[' ? NULL : text;
	return true;
}

bool config_read_lines(struct weston_config *config,
		void (*handle_line)(void *data, const struct config_line *line), void *data) {
	const char *path = weston_config_get_full_path(config);
	FILE *file = path != NULL && path[0] != '\0' ? fopen(path, "re") : NULL;
	if (file == NULL) {
		return false; /* Weston runs without one, or it was removed since */
	}
	char text[LINE_MAX_BYTES];
	struct config_line line = {.number = 0};
	ssize_t length;
	while ((length = ini_line_read(file, text, sizeof(text))) >= 0 || length == -E2BIG) {
		line.number++;
		if (cut_line(text, &line)) {
			handle_line(data, &line);
		}
	}
	fclose(file);
	return true;
}

/* --- a place in it ---------------------------------------------------------------------------- */

struct search {
	unsigned section; /* number of the wanted section, from 1 */
	const char *name, *key;
	unsigned begun; /* sections that began so far */
	unsigned line;	/* 0: not found */
	bool has_key;
};

static void handle_line(void *data, const struct config_line *line) {
	struct search *search = data;
	if (line->section != NULL) {
		search->begun++;
		if (search->begun == search->section && strcmp(line->section, search->name) == 0) {
			search->line = line->number;
		}
	} else if (search->begun == search->section && search->line != 0 && !search->has_key &&
			search->key != NULL && strcmp(line->key, search->key) == 0) {
		search->line = line->number;
		search->has_key = true;
	}
}

static struct search find_place(const struct config_place *place, const char *key) {
	struct search search = {.name = "", .key = key};
	struct weston_config_section *section = NULL;
	do {
		search.section++;
	} while (weston_config_next_section(place->config, &section, &search.name) &&
			section != place->section);
	config_read_lines(place->config, handle_line, &search);
	return search;
}

/* --- values ----------------------------------------------------------------------------------- */

char *config_get_text(const struct config_place *place, const char *key) {
	char *text;
	weston_config_section_get_string(place->section, key, &text, NULL);
	return text;
}

int config_get_bool(const struct config_place *place, const char *key, bool *value, bool usual) {
	if (weston_config_section_get_bool(place->section, key, value, usual) == 0 ||
			errno == ENOENT) {
		return 0;
	}
	return config_mistake(place, key, "%s= must be true or false", key);
}

int config_get_number(const struct config_place *place, const char *key, int32_t *value,
		int32_t usual, int32_t least, int32_t most) {
	/* for a value beyond int32_t, too, Weston sets `usual` */
	bool right = weston_config_section_get_int(place->section, key, value, usual) == 0 ||
			errno == ENOENT;
	if (right && *value >= least && *value <= most) {
		return 0;
	}
	return config_mistake(place, key, "%s= must be %d to %d", key, least, most);
}

bool config_get_size(const struct config_place *place, const char *key, int32_t *width,
		int32_t *height) {
	char *text = config_get_text(place, key);
	uint32_t x = 0, y = 0;
	const char *rest = text != NULL ? size_text_read(text, GID_SIZE_MAX, &x, &y) : "";
	bool right = rest != NULL && *rest == '\0';
	*width = (int32_t)x;
	*height = (int32_t)y;
	free(text);
	return right;
}

/* --- mistakes --------------------------------------------------------------------------------- */

int config_mistake(const struct config_place *place, const char *key, const char *format, ...) {
	struct search found = find_place(place, key);
	const char *path = weston_config_get_full_path(place->config);
	char line[16] = "", what[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (found.line != 0) {
		snprintf(line, sizeof(line), "%u:", found.line);
	}
	weston_log("gid: %s:%s [%s] %s\n", path, line, found.name, what);
	return -EINVAL;
}
