// SPDX-License-Identifier: MIT
#include "safety_config.h"

#include "client_program.h"
#include <ctype.h>
#include <errno.h>
#include <gid/gid.h>
#include <libweston/config-parser.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEARTBEAT_DEFAULT_MS 50
#define LEASE_DEFAULT_MS 1000
#define CLIENT_DEFAULT_MS 500
#define SECOND_MS 1000

static int fail(const struct safety_config *config, const char *what) {
	weston_log("gid: weston.ini, [gid-safety] role=%s: %s\n",
			config->role != NULL ? config->role : "", what);
	return -EINVAL;
}

static int read_role(struct safety_config *config, struct weston_config_section *section) {
	weston_config_section_get_string(section, "role", &config->role, NULL);
	if (config->role == NULL) {
		return fail(config, "a role's name is missing");
	}
	/* The stream is safety/ROLE. */
	if (!gid_name_is_valid(config->role) ||
			strlen(config->role) + strlen("safety/") > GID_NAME_MAX) {
		return fail(config,
				"a role's name has 1 to 56 characters of a-z A-Z 0-9 - _ . and, "
				"between others, /");
	}
	return 0;
}

/* Cuts spaces at both ends. */
static char *trim(char *text) {
	while (isspace((unsigned char)*text)) {
		text++;
	}
	size_t length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1])) {
		text[--length] = '\0';
	}
	return text;
}

static int read_clients(struct safety_config *config, struct weston_config_section *section) {
	char *list;
	weston_config_section_get_string(section, "clients", &list, "");
	size_t count = 1;
	for (const char *at = list; at != NULL && *at; at++) {
		count += *at == ',';
	}
	config->clients = calloc(count + 1, sizeof(*config->clients));
	int result = list != NULL && config->clients != NULL ? 0 : -ENOMEM;
	char *rest = list;
	for (size_t i = 0; result == 0 && rest != NULL;) {
		char *path = trim(strsep(&rest, ","));
		if (path[0] == '\0') {
			continue;
		}
		if (path[0] != '/') {
			result = fail(config, "clients must be absolute paths of executables");
			break;
		}
		config->clients[i] = strdup(path);
		result = config->clients[i++] != NULL ? 0 : -ENOMEM;
	}
	free(list);
	return result;
}

static int read_user(struct safety_config *config, struct weston_config_section *section) {
	char *name, *end;
	weston_config_section_get_string(section, "user", &name, NULL);
	if (name == NULL) {
		return 0;
	}
	config->has_user = true;
	int result = 0;
	const struct passwd *entry = getpwnam(name);
	unsigned long number = strtoul(name, &end, 10);
	if (entry != NULL) {
		config->user = entry->pw_uid;
	} else if (end != name && *end == '\0' && number < UINT32_MAX) {
		config->user = (uid_t)number;
	} else {
		result = fail(config, "user is neither a user's name nor a number");
	}
	free(name);
	return result;
}

static int read_size(struct safety_config *config, struct weston_config_section *section) {
	char *size, rest;
	weston_config_section_get_string(section, "size", &size, NULL);
	if (size == NULL) {
		return 0;
	}
	int result = 0;
	if (sscanf(size, "%dx%d%c", &config->width, &config->height, &rest) != 2 ||
			config->width < 1 || config->height < 1 ||
			config->width > (int)GID_SIZE_MAX || config->height > (int)GID_SIZE_MAX) {
		result = fail(config, "size must be WIDTHxHEIGHT in pixels, as 320x80");
	}
	free(size);
	return result;
}

static int read_time(struct safety_config *config, struct weston_config_section *section,
		const char *key, int32_t *ms, int32_t usual, int32_t least, int32_t most) {
	if (weston_config_section_get_int(section, key, ms, usual) != 0 && errno == EINVAL) {
		*ms = -1;
	}
	if (*ms >= least && *ms <= most) {
		return 0;
	}
	weston_log("gid: weston.ini, [gid-safety] role=%s: %s must be %d to %d\n", config->role,
			key, least, most);
	return -EINVAL;
}

static int read_bool(struct safety_config *config, struct weston_config_section *section,
		const char *key, bool *value) {
	if (weston_config_section_get_bool(section, key, value, true) != 0 && errno == EINVAL) {
		weston_log("gid: weston.ini, [gid-safety] role=%s: %s must be true or false\n",
				config->role, key);
		return -EINVAL;
	}
	return 0;
}

int safety_config_read(struct safety_config *config, struct weston_config_section *section) {
	*config = (struct safety_config){0};
	int result = read_role(config, section);
	if (result == 0) {
		weston_config_section_get_string(section, "app-id", &config->app_id, NULL);
		result = read_clients(config, section);
	}
	if (result == 0) {
		result = read_user(config, section);
	}
	if (result == 0) {
		result = read_size(config, section);
	}
	if (result == 0) {
		result = read_time(config, section, "heartbeat-ms", &config->heartbeat_ms,
				HEARTBEAT_DEFAULT_MS, 1, 3600 * SECOND_MS);
	}
	if (result == 0) {
		result = read_time(config, section, "lease-ms", &config->lease_ms, LEASE_DEFAULT_MS,
				1, 3600 * SECOND_MS);
	}
	if (result == 0) {
		result = read_time(config, section, "client-ms", &config->client_ms,
				CLIENT_DEFAULT_MS, 0, 3600 * SECOND_MS);
	}
	if (result == 0) {
		result = read_bool(config, section, "visible", &config->visible);
	}
	if (result == 0) {
		result = read_bool(config, section, "copy", &config->copy);
	}
	if (result == 0 && config->clients[0] == NULL && config->app_id == NULL) {
		result = fail(config, "nobody can take it: set clients= or app-id=");
	}
	return result;
}

void safety_config_finish(struct safety_config *config) {
	for (size_t i = 0; config->clients != NULL && config->clients[i] != NULL; i++) {
		free(config->clients[i]);
	}
	free(config->clients);
	free(config->app_id);
	free(config->role);
	*config = (struct safety_config){0};
}

bool safety_config_names(const struct safety_config *config, struct wl_client *client) {
	for (size_t i = 0; config->clients[i] != NULL; i++) {
		if (client_runs_program(client, config->clients[i])) {
			return client_is_of_user(
					client, config->has_user ? config->user : geteuid());
		}
	}
	return false;
}
