// SPDX-License-Identifier: MIT
#include "output_config.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#include "size_text.h"

#define WIDTH_DEFAULT 1280
#define HEIGHT_DEFAULT 720
#define RATE_MAX 1000
#define RATE_DIGITS 4 /* of its whole part */

static int read_names(struct output_config *config) {
	const struct config_place *place = &config->place;
	char *mirrored = config_get_text(place, "mirror");
	config->name = config_get_text(place, "name");
	if (mirrored != NULL && config->name != NULL) {
		free(mirrored);
		return config_mistake(place, "mirror",
				"it has name=, of a new output, and mirror=, of one of Weston's: "
				"take one away");
	}
	if (mirrored != NULL) {
		config->is_mirror = true;
		config->name = mirrored;
	}
	if (config->name == NULL || config->name[0] == '\0') {
		return config_mistake(place, config->is_mirror ? "mirror" : "name",
				"set name=, of a new output, or mirror=, of one of Weston's");
	}
	config->stream = config_get_text(place, "stream");
	if (config->stream == NULL || !gid_name_is_valid(config->stream)) {
		return config_mistake(place, "stream",
				"stream= must be the name of a stream, as desktop or screen/left");
	}
	return 0;
}

/* Parses digits, and perhaps a point with more digits, of which three count. In thousandths. */
static bool parse_rate(const char *text, uint32_t *mhz) {
	static const char digits[] = "0123456789";
	size_t whole = strspn(text, digits), parts = 0;
	const char *part = "";
	if (text[whole] == '.') {
		part = text + whole + 1;
		parts = strspn(part, digits);
	}
	if (whole < 1 || whole > RATE_DIGITS || part[parts] != '\0' ||
			(part[0] == '\0') != (text[whole] == '\0')) {
		return false;
	}
	*mhz = 0;
	for (size_t i = 0; i < whole; i++) {
		*mhz = 10 * *mhz + (uint32_t)(text[i] - '0');
	}
	for (size_t i = 0; i < 3; i++) {
		*mhz = 10 * *mhz + (i < parts ? (uint32_t)(part[i] - '0') : 0);
	}
	return *mhz >= 1000 && *mhz <= RATE_MAX * 1000;
}

/* WIDTHxHEIGHT, or WIDTHxHEIGHT@HERTZ. */
static bool parse_mode(struct output_config *config, const char *mode) {
	uint32_t width, height;
	const char *rest = size_text_read(mode, GID_SIZE_MAX, &width, &height);
	if (rest == NULL) {
		return false;
	}
	config->width = (int32_t)width;
	config->height = (int32_t)height;
	return *rest == '\0' || (*rest == '@' && parse_rate(rest + 1, &config->refresh_mhz));
}

static int read_mode(struct output_config *config) {
	const struct config_place *place = &config->place;
	char *mode = config_get_text(place, "mode");
	config->width = WIDTH_DEFAULT;
	config->height = HEIGHT_DEFAULT;
	bool right = mode == NULL || parse_mode(config, mode);
	bool given = mode != NULL;
	free(mode);
	if (!right) {
		return config_mistake(place, "mode",
				"mode= must be WIDTHxHEIGHT in pixels, as 1920x1080, or with a "
				"rate of 1 to 1000 a second, as 1920x1080@30");
	}
	int result = config_get_number(place, "scale", &config->scale, 1, 1, OUTPUT_SCALE_MAX);
	if (result != 0) {
		return result;
	}
	char *scale = config_get_text(place, "scale");
	config->scale_follows = scale == NULL;
	free(scale);
	if (config->width % config->scale != 0 || config->height % config->scale != 0) {
		return config_mistake(place, "scale", "scale= must divide both numbers of mode=");
	}
	if (config->is_mirror && (given || config->scale != 1)) {
		return config_mistake(place, given ? "mode" : "scale",
				"mode= and scale= of an output that is Weston's are in its own "
				"section [output]");
	}
	return 0;
}

static int read_resize(struct output_config *config) {
	const struct config_place *place = &config->place;
	bool right = config_get_size(place, "resize", &config->width_max, &config->height_max);
	if (right && config->width_max == 0) {
		return 0;
	}
	if (!right || config->width_max < config->width || config->height_max < config->height) {
		return config_mistake(place, "resize",
				"resize= must be the largest WIDTHxHEIGHT, as 1920x1200, and not "
				"less than mode=");
	}
	if (config->is_mirror || config->input.domain == NULL) {
		return config_mistake(place, "resize",
				"resize= is for an output with name= and input=, whose sender says "
				"how large its window is");
	}
	return 0;
}

static int read_lend(struct output_config *config) {
	const struct config_place *place = &config->place;
	int result = client_list_read(&config->lends, place->section, "lend");
	if (result == -EINVAL) {
		return config_mistake(place, "lend", "lend= must be absolute paths of executables");
	}
	if (result == 0 && config->is_mirror && !client_list_is_empty(&config->lends)) {
		return config_mistake(place, "lend",
				"lend= is for an output with name=: what Weston draws for a screen "
				"it draws anyway");
	}
	return result;
}

int output_config_read(struct output_config *config, const struct config_place *place) {
	*config = (struct output_config){.place = *place};
	int result = read_names(config);
	if (result == 0) {
		result = input_source_read(&config->input, place, config->stream);
	}
	if (result == 0) {
		result = read_mode(config);
	}
	if (result == 0) {
		result = read_resize(config);
	}
	return result != 0 ? result : read_lend(config);
}

void output_config_finish(struct output_config *config) {
	free(config->name);
	free(config->stream);
	input_source_finish(&config->input);
	client_list_finish(&config->lends);
	*config = (struct output_config){0};
}
