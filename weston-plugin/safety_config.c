// SPDX-License-Identifier: MIT
#include "safety_config.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#include "client_program.h"

#define HEARTBEAT_DEFAULT_MS 50
#define LEASE_DEFAULT_MS 1000
#define CLIENT_DEFAULT_MS 500
#define SECOND_MS 1000
/* Windows have no deadline. Buffers that consumers hold are checked at this interval. */
#define WINDOW_HEARTBEAT_MS 500
#define WINDOW_PIXELS_MAX (UINT64_C(3840) * 2160)

static int read_role(struct safety_config *config) {
	const struct config_place *place = &config->place;
	config->role = config_get_text(place, "role");
	if (config->role == NULL) {
		return config_mistake(place, NULL, "a role's name is missing");
	}
	/* The stream is safety/ROLE. */
	if (!gid_name_is_valid(config->role) ||
			strlen(config->role) + strlen("safety/") > GID_NAME_MAX) {
		return config_mistake(place, "role",
				"a role's name has 1 to 56 characters of a-z A-Z 0-9 - _ . and, "
				"between others, /");
	}
	snprintf(config->stream, sizeof(config->stream), "safety/%s", config->role);
	snprintf(config->label, sizeof(config->label), "role %s", config->role);
	return 0;
}

/* Reads which programs, and which user, may take the role or own the window. */
static int read_clients(struct safety_config *config) {
	const struct config_place *place = &config->place;
	int result = client_list_read(&config->clients, place->section, "clients");
	if (result == -EINVAL) {
		return config_mistake(
				place, "clients", "clients must be absolute paths of executables");
	}
	if (result == 0 && client_list_read_user(&config->clients, place->section, "user") < 0) {
		return config_mistake(place, "user", "user is neither a user's name nor a number");
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

static int read_size(struct safety_config *config) {
	return config_get_size(&config->place, "size", &config->width, &config->height)
			? 0
			: config_mistake(&config->place, "size",
					  "size must be WIDTHxHEIGHT in pixels, as 320x80");
}

static int read_times(struct safety_config *config) {
	const struct {
		const char *key;
		int32_t *ms, usual, least;
	} times[] = {
			{"heartbeat-ms", &config->heartbeat_ms, HEARTBEAT_DEFAULT_MS, 1},
			{"lease-ms", &config->lease_ms, LEASE_DEFAULT_MS, 1},
			{"client-ms", &config->client_ms, CLIENT_DEFAULT_MS, 0},
	};
	int result = 0;
	for (size_t i = 0; result == 0 && i < sizeof(times) / sizeof(times[0]); i++) {
		result = config_get_number(&config->place, times[i].key, times[i].ms,
				times[i].usual, times[i].least, 3600 * SECOND_MS);
	}
	return result;
}

static int read_switches(struct safety_config *config) {
	int result = config_get_bool(&config->place, "visible", &config->visible, true);
	return result != 0 ? result : config_get_bool(&config->place, "copy", &config->copy, true);
}

static int set_protection(struct safety_config *config, enum gid_protection_profile profile,
		const char *file) {
	const struct config_place *place = &config->place;
	uint8_t key[GID_PROTECTION_KEY_SIZE];
	bool keyed = profile == GID_PROTECTION_CMAC;
	if (keyed != (file != NULL)) {
		return config_mistake(place, "protection-key",
				keyed ? "protection=cmac needs protection-key="
				      : "protection-key= is for protection=cmac alone");
	}
	if (profile == GID_PROTECTION_NONE) {
		return 0;
	}
	int error = keyed ? gid_protection_read_key(file, key) : 0;
	if (error < 0) {
		return config_mistake(place, "protection-key", "protection-key=%s: %s", file,
				gid_protection_key_error(error));
	}
	error = gid_protection_create(
			profile, config->stream, keyed ? key : NULL, &config->protection);
	explicit_bzero(key, sizeof(key));
	return error == -ENOSYS ? config_mistake(place, "protection",
						  "protection: this module was built without that")
				: error;
}

static int read_protection(struct safety_config *config) {
	enum gid_protection_profile profile = GID_PROTECTION_NONE;
	const char *known = NULL;
	char *name = config_get_text(&config->place, "protection");
	char *file = config_get_text(&config->place, "protection-key");
	while (name != NULL && (known = gid_protection_profile_name(profile)) != NULL &&
			strcmp(known, name) != 0) {
		profile++;
	}
	int result = name == NULL || known != NULL
			? set_protection(config, profile, file)
			: config_mistake(&config->place, "protection",
					  "protection must be none, crc64 or cmac");
	free(name);
	free(file);
	return result;
}

int safety_config_read(struct safety_config *config, const struct config_place *place) {
	int (*const readers[])(struct safety_config *) = {read_role, read_clients, read_size,
			read_times, read_switches, read_protection};
	int result = 0;
	*config = (struct safety_config){.place = *place, .hash = true};
	for (size_t i = 0; result == 0 && i < sizeof(readers) / sizeof(readers[0]); i++) {
		result = readers[i](config);
	}
	config->app_id = config_get_text(place, "app-id");
	if (result == 0 && client_list_is_empty(&config->clients) && config->app_id == NULL) {
		result = config_mistake(place, NULL, "nobody can take it: set clients= or app-id=");
	}
	return result;
}

/* --- ordinary windows ------------------------------------------------------------------------- */

/*
 * Any client can set any app-id: the stream of a window must not pass for a safety role, for input
 * or for a clipboard.
 */
static bool stream_is_for_windows(const char *stream) {
	return gid_name_is_valid(stream) && strncmp(stream, "safety/", 7) != 0 &&
			strncmp(stream, "input/", 6) != 0 && strncmp(stream, "clipboard/", 10) != 0;
}

static int read_stream(struct safety_config *config) {
	char *stream = config_get_text(&config->place, "stream");
	bool right = stream != NULL && stream_is_for_windows(stream);
	snprintf(config->stream, sizeof(config->stream), "%s", stream != NULL ? stream : "");
	snprintf(config->label, sizeof(config->label), "window %s", config->stream);
	free(stream);
	return right ? 0
		     : config_mistake(&config->place, "stream",
				       "stream= must be the name of a stream, as desktop/map, and "
				       "not of safety/, input/ or clipboard/");
}

static int read_which(struct safety_config *config) {
	config->app_id = config_get_text(&config->place, "app-id");
	config->title = config_get_text(&config->place, "title");
	return config->app_id != NULL || config->title != NULL
			? 0
			: config_mistake(&config->place, NULL,
					  "which window it is: set app-id= or title=");
}

static int read_use(struct safety_config *config) {
	const struct config_place *place = &config->place;
	int result = input_source_read(&config->input, place, config->stream);
	if (result != 0) {
		return result;
	}
	if (!config_get_size(place, "resize", &config->width_max, &config->height_max)) {
		return config_mistake(place, "resize",
				"resize= must be the largest WIDTHxHEIGHT, as 1920x1200");
	}
	return config->width_max == 0 || config->input.domain != NULL
			? 0
			: config_mistake(place, "resize",
					  "resize= is for a window with input=, whose sender says "
					  "how large its own is");
}

int safety_config_read_window(struct safety_config *config, const struct config_place *place) {
	int (*const readers[])(struct safety_config *) = {
			read_stream, read_which, read_clients, read_use};
	int result = 0;
	*config = (struct safety_config){
			.place = *place,
			.heartbeat_ms = WINDOW_HEARTBEAT_MS,
			.lease_ms = LEASE_DEFAULT_MS,
			.visible = true,
			.copy = true,
			.pixels_max = WINDOW_PIXELS_MAX,
	};
	for (size_t i = 0; result == 0 && i < sizeof(readers) / sizeof(readers[0]); i++) {
		result = readers[i](config);
	}
	return result;
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
