// SPDX-License-Identifier: MIT
#include "safety_config.h"

#include <errno.h>
#include <libweston/config-parser.h>
#include <stdlib.h>
#include <string.h>

#include "client_program.h"

#define HEARTBEAT_DEFAULT_MS 50
#define LEASE_DEFAULT_MS 1000
#define CLIENT_DEFAULT_MS 500
#define SECOND_MS 1000
/* Nobody has a deadline; what is lent and not shown any more is looked after as often. */
#define WINDOW_HEARTBEAT_MS 500
#define WINDOW_PIXELS_MAX (UINT64_C(3840) * 2160)

static int fail(const struct safety_config *config, const char *what) {
	weston_log("gid: weston.ini, [gid-safety] role=%s: %s\n",
			config->role != NULL ? config->role : "", what);
	return -EINVAL;
}

static int fail_window(const struct safety_config *config, const char *what) {
	weston_log("gid: weston.ini, [gid-window] stream=%s: %s\n", config->stream, what);
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
	snprintf(config->stream, sizeof(config->stream), "safety/%s", config->role);
	snprintf(config->label, sizeof(config->label), "role %s", config->role);
	return 0;
}

/* Who may take the role, or whose window it is, by their programs and user. */
static int read_clients(struct safety_config *config, struct weston_config_section *section,
		int (*refuse)(const struct safety_config *config, const char *what)) {
	int result = client_list_read(&config->clients, section, "clients");
	if (result == -EINVAL) {
		return refuse(config, "clients must be absolute paths of executables");
	}
	if (result == 0 && client_list_read_user(&config->clients, section, "user") < 0) {
		return refuse(config, "user is neither a user's name nor a number");
	}
	if (result == 0 && !client_list_is_empty(&config->clients) &&
			!client_programs_are_known()) {
		weston_log("gid: %s: nobody can take it by clients=, for there is no /proc here, "
			   "which says what programs run: mount it, as by `mount -t proc proc "
			   "/proc`\n",
				config->label);
	}
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

static int set_protection(struct safety_config *config, enum gid_protection_profile profile,
		const char *file) {
	uint8_t key[GID_PROTECTION_KEY_SIZE];
	bool keyed = profile == GID_PROTECTION_CMAC;
	if (keyed != (file != NULL)) {
		return fail(config,
				keyed ? "protection=cmac needs protection-key="
				      : "protection-key= is for protection=cmac alone");
	}
	if (profile == GID_PROTECTION_NONE) {
		return 0;
	}
	int error = keyed ? gid_protection_read_key(file, key) : 0;
	if (error < 0) {
		weston_log("gid: weston.ini, [gid-safety] role=%s: protection-key=%s: %s\n",
				config->role, file, gid_protection_key_error(error));
		return -EINVAL;
	}
	error = gid_protection_create(
			profile, config->stream, keyed ? key : NULL, &config->protection);
	explicit_bzero(key, sizeof(key));
	return error == -ENOSYS ? fail(config, "protection: this module was built without that")
				: error;
}

static int read_protection(struct safety_config *config, struct weston_config_section *section) {
	enum gid_protection_profile profile = GID_PROTECTION_NONE;
	const char *known;
	char *name, *file;
	weston_config_section_get_string(section, "protection", &name, "none");
	weston_config_section_get_string(section, "protection-key", &file, NULL);
	while ((known = gid_protection_profile_name(profile)) != NULL &&
			(name == NULL || strcmp(known, name) != 0)) {
		profile++;
	}
	int result = known != NULL ? set_protection(config, profile, file)
				   : fail(config, "protection must be none, crc64 or cmac");
	free(name);
	free(file);
	return result;
}

int safety_config_read(struct safety_config *config, struct weston_config_section *section) {
	*config = (struct safety_config){.hash = true};
	int result = read_role(config, section);
	if (result == 0) {
		weston_config_section_get_string(section, "app-id", &config->app_id, NULL);
		result = read_clients(config, section, fail);
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
	if (result == 0) {
		result = read_protection(config, section);
	}
	if (result == 0 && client_list_is_empty(&config->clients) && config->app_id == NULL) {
		result = fail(config, "nobody can take it: set clients= or app-id=");
	}
	return result;
}

/* --- ordinary windows ------------------------------------------------------------------------- */

/* Any client can have any app-id: none may pass for a warning light, or for somebody's keyboard. */
static bool stream_is_for_windows(const char *stream) {
	return gid_name_is_valid(stream) && strncmp(stream, "safety/", 7) != 0 &&
			strncmp(stream, "input/", 6) != 0 && strncmp(stream, "clipboard/", 10) != 0;
}

int safety_config_read_window(struct safety_config *config, struct weston_config_section *section) {
	*config = (struct safety_config){
			.heartbeat_ms = WINDOW_HEARTBEAT_MS,
			.lease_ms = LEASE_DEFAULT_MS,
			.visible = true,
			.copy = true,
			.pixels_max = WINDOW_PIXELS_MAX,
	};
	char *stream;
	weston_config_section_get_string(section, "stream", &stream, NULL);
	bool right = stream != NULL && stream_is_for_windows(stream);
	snprintf(config->stream, sizeof(config->stream), "%s", stream != NULL ? stream : "");
	snprintf(config->label, sizeof(config->label), "window %s", config->stream);
	free(stream);
	if (!right) {
		return fail_window(config,
				"stream= must be the name of a stream, as desktop/map, and not of "
				"safety/, input/ or clipboard/");
	}
	weston_config_section_get_string(section, "app-id", &config->app_id, NULL);
	weston_config_section_get_string(section, "title", &config->title, NULL);
	if (config->app_id == NULL && config->title == NULL) {
		return fail_window(config, "which window it is: set app-id= or title=");
	}
	int result = read_clients(config, section, fail_window);
	if (result != 0) {
		return result;
	}
	const char *wrong = input_source_read(&config->input, section, config->stream);
	if (wrong != NULL) {
		return fail_window(config, wrong);
	}
	if (!input_source_read_limit(section, &config->width_max, &config->height_max)) {
		return fail_window(
				config, "resize= must be the largest WIDTHxHEIGHT, as 1920x1200");
	}
	return config->width_max == 0 || config->input.domain != NULL
			? 0
			: fail_window(config,
					  "resize= is for a window with input=, whose sender says "
					  "how large its own is");
}

void safety_config_finish(struct safety_config *config) {
	client_list_finish(&config->clients);
	input_source_finish(&config->input);
	gid_protection_destroy(config->protection);
	free(config->app_id);
	free(config->title);
	free(config->role);
	*config = (struct safety_config){0};
}
