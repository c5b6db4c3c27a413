// SPDX-License-Identifier: MIT
#include "config_keys.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "ini_line.h"
#include "weston_config.h"

#define KEYS_MAX 12
#define LINE_MAX_BYTES 512 /* more than a section or a key and its `=` need */

static const struct section {
	const char *name;
	const char *keys[KEYS_MAX + 1];
} sections[] = {
		{"gid", {"domain", "capture-clients", "on-revoke", "pacing", "pacing-miss-rate"}},
		{"gid-output",
				{"name", "mirror", "stream", "mode", "scale", "input", "clipboard",
						"resize", "cursor"}},
		{"gid-window",
				{"stream", "app-id", "title", "clients", "user", "input",
						"clipboard", "resize", "cursor"}},
		{"gid-safety",
				{"role", "clients", "user", "app-id", "size", "heartbeat-ms",
						"lease-ms", "client-ms", "visible", "copy",
						"protection", "protection-key"}},
};

/* NULL: it is not the module's. */
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

/* Cuts the line where Weston's parser does. Returns whether all is well. */
static bool check_line(
		const struct section **section, char *line, const char *path, unsigned number) {
	char *end = strchr(line, line[0] == '[' ? ']' : '=');
	/* To Weston, a comment that does not begin the line is a key that nobody asks for. */
	char first = line[strspn(line, " \t")];
	if (first == '#' || first == ';' || end == NULL) {
		return true;
	}
	*end = '\0';
	if (line[0] == '[') {
		*section = find_section(line + 1);
	} else if (*section != NULL && !has_key(*section, line)) {
		report_key(*section, path, number, line);
		return false;
	}
	return true;
}

int config_keys_check(struct weston_compositor *compositor) {
	const char *path = weston_config_get_full_path(wet_get_config(compositor));
	FILE *file = path != NULL && path[0] != '\0' ? fopen(path, "re") : NULL;
	if (file == NULL) {
		return 0; /* Weston runs without one, or has just read it */
	}
	const struct section *section = NULL;
	char line[LINE_MAX_BYTES];
	ssize_t length;
	int result = 0;
	for (unsigned number = 1;
			(length = ini_line_read(file, line, sizeof(line))) >= 0 || length == -E2BIG;
			number++) {
		if (!check_line(&section, line, path, number)) {
			result = -EINVAL;
		}
	}
	fclose(file);
	return result;
}
