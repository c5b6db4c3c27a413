// SPDX-License-Identifier: MIT
#include "config_keys.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "config_place.h"

#define KEYS_MAX 12

static const struct section {
	const char *name;
	const char *keys[KEYS_MAX + 1];
} sections[] = {
		{"gid", {"domain", "capture-clients", "on-revoke", "pacing", "pacing-miss-rate"}},
		{"gid-output",
				{"name", "mirror", "stream", "mode", "scale", "input", "clipboard",
						"resize", "cursor", "lend"}},
		{"gid-window",
				{"stream", "app-id", "title", "clients", "user", "input",
						"clipboard", "resize", "cursor"}},
		{"gid-safety",
				{"role", "clients", "user", "app-id", "size", "heartbeat-ms",
						"lease-ms", "client-ms", "visible", "copy",
						"protection", "protection-key"}},
};

struct check {
	const char *path;
	const struct section *section; /* NULL: not one of the module's */
	int result;
};

static const struct section *find_section(const char *name) {
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strcmp(sections[i].name, name) == 0) {
			return &sections[i];
		}
	}
	return NULL;
}

static bool has_key(const struct section *section, const char *name) {
	for (const char *const *key = section->keys; *key != NULL; key++) {
		if (strcmp(*key, name) == 0) {
			return true;
		}
	}
	return false;
}

static void report_key(const struct section *section, const char *path, unsigned number,
		const char *name) {
	weston_log("gid: %s:%u: [%s] has no \"%s\"; it has:", path, number, section->name, name);
	for (const char *const *key = section->keys; *key != NULL; key++) {
		weston_log_continue("%s %s", key == section->keys ? "" : ",", *key);
	}
	weston_log_continue("\n");
}

static void handle_line(void *data, const struct config_line *line) {
	struct check *check = data;
	if (line->section != NULL) {
		check->section = find_section(line->section);
	} else if (check->section != NULL && !has_key(check->section, line->key)) {
		report_key(check->section, check->path, line->number, line->key);
		check->result = -EINVAL;
	}
}

int config_keys_check(struct weston_compositor *compositor) {
	struct weston_config *config = wet_get_config(compositor);
	struct check check = {.path = weston_config_get_full_path(config)};
	config_read_lines(config, handle_line, &check);
	return check.result;
}
