// SPDX-License-Identifier: MIT
#include "engine_config.h"

#include "helpers.h"
#include "ini_file.h"
#include "language.h"
#include <errno.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define CANVASES_MAX 64u

struct reading {
	struct ini_file ini;
	struct engine_config *config;
};

/* --- keys and sections ------------------------------------------------------------------------ */

static enum canvas_back_end read_back_end(struct reading *reading, const char *value) {
	static const char *const names[] = {
			[CANVAS_PIXMAN] = "pixman", [CANVAS_GLES] = "gles", [CANVAS_AUTO] = "auto"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(value, names[i]) == 0) {
			return (enum canvas_back_end)i;
		}
	}
	ini_file_mistake(&reading->ini, "backend=%s must be pixman, gles or auto", value);
	return CANVAS_PIXMAN;
}

static void canvas_key(struct reading *reading, struct canvas_config *canvas, const char *key,
		const char *value) {
	if (strcmp(key, "domain") == 0) {
		ini_file_text(&reading->ini, &canvas->domain, value);
		if (!gid_name_is_valid(value) || strchr(value, '/') != NULL) {
			ini_file_mistake(&reading->ini, "domain=%s cannot be a domain's name",
					value);
		}
	} else if (strcmp(key, "memory") == 0) {
		canvas->memory = ini_file_size(&reading->ini, key, value, 4096, 64ull << 30);
	} else if (strcmp(key, "slots") == 0) {
		canvas->slots = (uint32_t)ini_file_number(&reading->ini, key, value, 3, 64);
	} else if (strcmp(key, "pixels-per-second") == 0) {
		canvas->pixels_per_second = ini_file_size(&reading->ini, key, value, 0, 1ull << 50);
	} else if (strcmp(key, "list-ms") == 0) {
		canvas->list_ns = ini_file_number(&reading->ini, key, value, 1, 60000) * MS;
	} else if (strcmp(key, "lease-ms") == 0) {
		canvas->lease_ns = ini_file_number(&reading->ini, key, value, 1, 60000) * MS;
	} else if (strcmp(key, "realtime") == 0) {
		canvas->realtime = ini_file_switch(&reading->ini, key, value);
	} else if (strcmp(key, "backend") == 0) {
		canvas->back_end = read_back_end(reading, value);
	} else {
		ini_file_no_key(&reading->ini, "a canvas", key,
				"domain, memory, slots, pixels-per-second, list-ms, lease-ms, "
				"realtime, backend");
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
		ini_file_mistake(&reading->ini, "more than %u canvases", CANVASES_MAX);
		return NULL;
	}
	struct canvas_config *canvases =
			reallocarray(config->canvases, config->canvas_count + 1, sizeof(*canvases));
	if (canvases == NULL) {
		reading->ini.result = -ENOMEM;
		return NULL;
	}
	config->canvases = canvases;
	char *copy = strdup(name);
	if (copy == NULL) {
		reading->ini.result = -ENOMEM;
		return NULL;
	}
	struct canvas_config *canvas = &canvases[config->canvas_count++];
	*canvas = (struct canvas_config){
			.name = copy,
			.line = reading->ini.section,
			.memory = 64ull << 20,
			.slots = 4,
			.list_ns = 1000 * MS,
			.lease_ns = 1000 * MS,
	};
	if (!gid_name_is_valid(name) || strlen(name) > ENGINE_NAME_MAX) {
		ini_file_mistake(&reading->ini,
				"[canvas %s]: this cannot be a part of a stream's name", name);
	}
	return canvas;
}

static void handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	if (strcmp(section, "engine") == 0 && strcmp(key, "spin-us") == 0) {
		reading->config->spin_us =
				(uint32_t)ini_file_number(&reading->ini, key, value, 0, 100000);
	} else if (strcmp(section, "engine") == 0 && strcmp(key, "helpers") == 0) {
		reading->config->helpers = (uint32_t)ini_file_number(
				&reading->ini, key, value, 0, HELPERS_MAX);
	} else if (strcmp(section, "engine") == 0) {
		ini_file_no_key(&reading->ini, "the engine", key, "spin-us, helpers");
	} else if (strncmp(section, "canvas ", 7) == 0) {
		struct canvas_config *canvas = find_canvas(reading, section + 7);
		if (canvas != NULL) {
			canvas_key(reading, canvas, key, value);
		}
	} else {
		ini_file_mistake(&reading->ini,
				"unknown section [%s]; there are [engine] and [canvas NAME]",
				section);
	}
}

/* A canvas's report is a stream, which must not have the name of another one's pictures. */
static void check_reports(struct reading *reading, const struct canvas_config *canvas) {
	const struct engine_config *config = reading->config;
	const size_t length = strlen(canvas->name);
	for (size_t i = 0; i < config->canvas_count; i++) {
		const struct canvas_config *other = &config->canvases[i];
		if (strncmp(other->name, canvas->name, length) == 0 &&
				strcmp(other->name + length, "/report") == 0) {
			reading->ini.line = other->line;
			ini_file_mistake(&reading->ini,
					"[canvas %s]: the report of [canvas %s] has that name",
					other->name, canvas->name);
		}
	}
}

static void complete(struct reading *reading) {
	const struct engine_config *config = reading->config;
	for (size_t i = 0; i < config->canvas_count; i++) {
		if (config->canvases[i].domain == NULL) {
			reading->ini.line = config->canvases[i].line;
			ini_file_mistake(&reading->ini,
					"[canvas %s] needs domain=: whose programs may draw on it",
					config->canvases[i].name);
		}
		check_reports(reading, &config->canvases[i]);
	}
	if (config->canvas_count == 0) {
		ini_file_mistake(&reading->ini, "there is no [canvas NAME], so nobody could draw");
	}
}

int engine_config_read_file(
		struct engine_config *config, FILE *file, const char *name, FILE *errors) {
	struct reading reading = {
			.ini = {.file = file, .name = name, .errors = errors}, .config = config};
	*config = (struct engine_config){.spin_us = 50, .helpers = HELPERS_AUTO};
	if (ini_file_read(&reading.ini, handle_key, &reading) != -ENOMEM) {
		complete(&reading);
	}
	return reading.ini.result;
}

int engine_config_read(struct engine_config *config, const char *path, FILE *errors) {
	*config = (struct engine_config){0};
	FILE *file = ini_file_open(path, errors);
	if (file == NULL) {
		return -errno;
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
