// SPDX-License-Identifier: MIT
#include "engine_config.h"

#include "language.h"
#include <ctype.h>
#include <errno.h>
#include <gid/gid.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define CANVASES_MAX 64u

struct reading {
	struct engine_config *config;
	FILE *file, *errors;
	const char *name;
	unsigned line, section; /* the line, and that where its section begins */
	bool section_is_empty;
	int result;
};

static __attribute__((format(printf, 2, 3))) void mistake(
		struct reading *reading, const char *format, ...) {
	va_list args;
	fprintf(reading->errors, "%s:%u: ", reading->name, reading->line);
	va_start(args, format);
	vfprintf(reading->errors, format, args);
	va_end(args);
	fputc('\n', reading->errors);
	reading->result = -EINVAL;
}

/* A number from `least` to `most`, which may end in K, M or G where `is_size`. */
static uint64_t read_number(struct reading *reading, const char *key, const char *value,
		bool is_size, uint64_t least, uint64_t most) {
	char *end;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	unsigned shift = 0;
	if (is_size && *end != '\0') {
		const char *units = "KMG", *unit = strchr(units, *end);
		shift = unit != NULL ? (unsigned)(unit - units + 1) * 10 : 0;
		end += unit != NULL;
	}
	if (!isdigit((unsigned char)value[0]) || *end != '\0' || errno != 0 ||
			number > most >> shift || number << shift < least) {
		mistake(reading, "%s=%s is not a number from %llu to %llu", key, value,
				(unsigned long long)least, (unsigned long long)most);
		return least;
	}
	return number << shift;
}

static bool read_switch(struct reading *reading, const char *key, const char *value) {
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0) {
		mistake(reading, "%s=%s must be on or off", key, value);
	}
	return strcmp(value, "on") == 0;
}

static void set_text(struct reading *reading, char **text, const char *value) {
	free(*text);
	*text = strdup(value);
	if (*text == NULL) {
		reading->result = -ENOMEM;
	}
}

/* --- keys and sections ------------------------------------------------------------------------ */

static void canvas_key(struct reading *reading, struct canvas_config *canvas, const char *key,
		const char *value) {
	if (strcmp(key, "domain") == 0) {
		set_text(reading, &canvas->domain, value);
		if (!gid_name_is_valid(value) || strchr(value, '/') != NULL) {
			mistake(reading, "domain=%s cannot be a domain's name", value);
		}
	} else if (strcmp(key, "memory") == 0) {
		canvas->memory = read_number(reading, key, value, true, 4096, 64ull << 30);
	} else if (strcmp(key, "slots") == 0) {
		canvas->slots = (uint32_t)read_number(reading, key, value, false, 2, 64);
	} else if (strcmp(key, "pixels-per-second") == 0) {
		canvas->pixels_per_second = read_number(reading, key, value, true, 0, 1ull << 50);
	} else if (strcmp(key, "list-ms") == 0) {
		canvas->list_ns = read_number(reading, key, value, false, 1, 60000) * MS;
	} else if (strcmp(key, "lease-ms") == 0) {
		canvas->lease_ns = read_number(reading, key, value, false, 1, 60000) * MS;
	} else if (strcmp(key, "realtime") == 0) {
		canvas->realtime = read_switch(reading, key, value);
	} else {
		mistake(reading, "a canvas has no \"%s\"", key);
	}
}

static struct canvas_config *find_canvas(struct reading *reading, const char *name) {
	struct engine_config *config = reading->config;
	for (size_t i = 0; i < config->canvas_count; i++) {
		if (strcmp(config->canvases[i].name, name) == 0) {
			return &config->canvases[i];
		}
	}
	if (config->canvas_count == CANVASES_MAX) {
		mistake(reading, "more than %u canvases", CANVASES_MAX);
		return NULL;
	}
	struct canvas_config *canvases =
			reallocarray(config->canvases, config->canvas_count + 1, sizeof(*canvases));
	if (canvases == NULL) {
		reading->result = -ENOMEM;
		return NULL;
	}
	config->canvases = canvases;
	char *copy = strdup(name);
	if (copy == NULL) {
		reading->result = -ENOMEM;
		return NULL;
	}
	struct canvas_config *canvas = &canvases[config->canvas_count++];
	*canvas = (struct canvas_config){
			.name = copy,
			.line = reading->section,
			.memory = 64ull << 20,
			.slots = 4,
			.list_ns = 1000 * MS,
			.lease_ns = 1000 * MS,
	};
	if (!gid_name_is_valid(name) || strlen(name) > ENGINE_NAME_MAX) {
		mistake(reading, "[canvas %s]: this cannot be a part of a stream's name", name);
	}
	return canvas;
}

static int handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	reading->section_is_empty = false;
	if (strcmp(section, "engine") == 0 && strcmp(key, "spin-us") == 0) {
		reading->config->spin_us =
				(uint32_t)read_number(reading, key, value, false, 0, 100000);
	} else if (strcmp(section, "engine") == 0) {
		mistake(reading, "the engine has no \"%s\"", key);
	} else if (strncmp(section, "canvas ", 7) == 0) {
		struct canvas_config *canvas = find_canvas(reading, section + 7);
		if (canvas != NULL) {
			canvas_key(reading, canvas, key, value);
		}
	} else {
		mistake(reading, "unknown section [%s]; there are [engine] and [canvas NAME]",
				section);
	}
	return 1;
}

/* A canvas without a key would otherwise not be there, without a word. */
static void end_section(struct reading *reading) {
	if (reading->section_is_empty) {
		reading->line = reading->section;
		mistake(reading, "a section without a key");
	}
	reading->section_is_empty = false;
}

/* fgets() for inih, which tells its handler neither lines nor sections without a key. */
static char *read_line(char *buffer, int size, void *data) {
	struct reading *reading = data;
	char *line = fgets(buffer, size, reading->file);
	unsigned number = reading->line + 1;
	if (line == NULL || line[0] == '[') {
		end_section(reading);
	}
	reading->line = number;
	if (line != NULL && line[0] == '[') {
		reading->section = number;
		reading->section_is_empty = true;
	}
	return line;
}

static void complete(struct reading *reading) {
	const struct engine_config *config = reading->config;
	for (size_t i = 0; i < config->canvas_count; i++) {
		if (config->canvases[i].domain == NULL) {
			reading->line = config->canvases[i].line;
			mistake(reading, "[canvas %s] needs domain=: whose programs may draw on it",
					config->canvases[i].name);
		}
	}
	if (config->canvas_count == 0) {
		mistake(reading, "there is no [canvas NAME], so nobody could draw");
	}
}

int engine_config_read_file(
		struct engine_config *config, FILE *file, const char *name, FILE *errors) {
	struct reading reading = {.config = config, .file = file, .errors = errors, .name = name};
	*config = (struct engine_config){.spin_us = 50};
	int ret = ini_parse_stream(read_line, &reading, handle_key, &reading);
	if (ret > 0) {
		reading.line = (unsigned)ret;
		mistake(&reading, "neither [section] nor key=value, or a line that is too long");
	} else if (ret < 0) {
		return -ENOMEM;
	}
	complete(&reading);
	return reading.result;
}

int engine_config_read(struct engine_config *config, const char *path, FILE *errors) {
	*config = (struct engine_config){0};
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		int error = -errno;
		fprintf(errors, "%s: %s\n", path, strerror(-error));
		return error;
	}
	int ret = engine_config_read_file(config, file, path, errors);
	fclose(file);
	return ret;
}

int canvas_config_copy(struct canvas_config *copy, const struct canvas_config *canvas) {
	*copy = *canvas;
	copy->name = strdup(canvas->name);
	copy->domain = strdup(canvas->domain);
	return copy->name == NULL || copy->domain == NULL ? -ENOMEM : 0;
}

void canvas_config_finish(struct canvas_config *canvas) {
	free(canvas->name);
	free(canvas->domain);
}

void engine_config_finish(struct engine_config *config) {
	for (size_t i = 0; i < config->canvas_count; i++) {
		canvas_config_finish(&config->canvases[i]);
	}
	free(config->canvases);
}
