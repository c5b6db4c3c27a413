// SPDX-License-Identifier: MIT
#include "engine_config.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "ini_section.h"
#include "key_table.h"
#include "language.h"

#define MS 1000000ll
#define CANVASES_MAX 64

struct reading {
	struct ini_file ini;
	struct engine_config *config;
};

/* --- keys and sections ------------------------------------------------------------------------ */

static void set_domain(
		struct ini_file *ini, const struct ini_key *key, void *canvas, const char *value) {
	ini_file_text(ini, ini_key_member(key, canvas), value);
	if (!gid_name_is_valid(value) || strchr(value, '/') != NULL) {
		ini_file_mistake(ini, "domain=%s cannot be a domain's name", value);
	}
}

static const struct ini_word back_ends[] = {
		{"pixman", CANVAS_PIXMAN}, {"gles", CANVAS_GLES}, {"auto", CANVAS_AUTO}, {0}};

#define ENGINE(member) INI_MEMBER(struct engine_config, member)
#define CANVAS(member) INI_MEMBER(struct canvas_config, member)

static const struct ini_key engine_keys[] = {
		{"spin-us", INI_NUMBER, ENGINE(spin_us), .most = 100000},
		{"helpers", INI_NUMBER, ENGINE(helpers), .most = HELPERS_MAX},
};

static const struct ini_key canvas_keys[] = {
		{"domain", INI_OWN, CANVAS(domain), .set = set_domain},
		{"memory", INI_SIZE, CANVAS(memory), .least = 4096, .most = 64ll << 30},
		{"slots", INI_NUMBER, CANVAS(slots), .least = 3, .most = 64},
		{"pixels-per-second", INI_SIZE, CANVAS(pixels_per_second), .most = 1ll << 50},
		{"list-ms", INI_NUMBER, CANVAS(list_ns), .least = 1, .most = 60000, .unit = MS},
		{"lease-ms", INI_NUMBER, CANVAS(lease_ns), .least = 1, .most = 60000, .unit = MS},
		{"realtime", INI_SWITCH, CANVAS(realtime)},
		{"backend", INI_WORD, CANVAS(back_end), .words = back_ends},
};

static const struct ini_key_table engine_table = INI_KEY_TABLE("the engine", engine_keys);
static const struct ini_key_table canvas_table = INI_KEY_TABLE("a canvas", canvas_keys);

static void canvas_key(
		struct reading *reading, const char *name, const char *key, const char *value) {
	struct engine_config *config = reading->config;
	const struct canvas_config fresh = {
			.line = reading->ini.section,
			.memory = 64ull << 20,
			.slots = 4,
			.list_ns = 1000 * MS,
			.lease_ns = 1000 * MS,
	};
	const struct ini_sections canvases = {"canvases", &config->canvases, &config->canvas_count,
			sizeof(fresh), CANVASES_MAX};
	const size_t count = config->canvas_count;
	struct canvas_config *canvas = ini_section_find(&reading->ini, &canvases, name, &fresh);
	if (config->canvas_count > count &&
			(!gid_name_is_valid(name) || strlen(name) > ENGINE_NAME_MAX)) {
		ini_file_mistake(&reading->ini,
				"[canvas %s]: this cannot be a part of a stream's name", name);
	}
	if (canvas != NULL) {
		ini_key_table_set(&canvas_table, &reading->ini, canvas, key, value);
	}
}

static void handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	if (strcmp(section, "engine") == 0) {
		ini_key_table_set(&engine_table, &reading->ini, reading->config, key, value);
	} else if (strncmp(section, "canvas ", 7) == 0) {
		canvas_key(reading, section + 7, key, value);
	} else {
		ini_file_unknown_section(&reading->ini, section, "[engine] and [canvas NAME]");
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
