// SPDX-License-Identifier: MIT
#include "output_config.h"

#include <errno.h>
#include <gid/gid.h>
#include <libweston/config-parser.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH_DEFAULT 1280
#define HEIGHT_DEFAULT 720
#define SCALE_MAX 8
#define RATE_MAX 1000

static int fail(const struct output_config *config, const char *what) {
	weston_log("gid: weston.ini, [gid-output] name=%s: %s\n",
			config->name != NULL ? config->name : "", what);
	return -EINVAL;
}

static int read_names(struct output_config *config, struct weston_config_section *section) {
	char *mirrored;
	weston_config_section_get_string(section, "mirror", &mirrored, NULL);
	weston_config_section_get_string(section, "name", &config->name, NULL);
	if (mirrored != NULL && config->name != NULL) {
		free(mirrored);
		return fail(config,
				"it has name=, of a new output, and mirror=, of one of Weston's: "
				"take one away");
	}
	if (mirrored != NULL) {
		config->is_mirror = true;
		config->name = mirrored;
	}
	if (config->name == NULL || config->name[0] == '\0') {
		return fail(config, "set name=, of a new output, or mirror=, of one of Weston's");
	}
	weston_config_section_get_string(section, "stream", &config->stream, NULL);
	if (config->stream == NULL || !gid_name_is_valid(config->stream)) {
		return fail(config,
				"stream= must be the name of a stream, as desktop or screen/left");
	}
	return 0;
}

/* WIDTHxHEIGHT, or WIDTHxHEIGHT@HERTZ. */
static bool parse_mode(struct output_config *config, const char *mode) {
	double rate = 0;
	int end = 0;
	if (sscanf(mode, "%dx%d%n", &config->width, &config->height, &end) != 2) {
		return false;
	}
	if (mode[end] == '@') {
		int length = 0;
		if (sscanf(mode + end, "@%lf%n", &rate, &length) != 1 || !(rate >= 1) ||
				rate > RATE_MAX) {
			return false;
		}
		end += length;
	}
	config->refresh_mhz = (uint32_t)(rate * 1000 + 0.5);
	return mode[end] == '\0' && config->width >= 1 && config->height >= 1 &&
			config->width <= (int)GID_SIZE_MAX && config->height <= (int)GID_SIZE_MAX;
}

static int read_mode(struct output_config *config, struct weston_config_section *section) {
	char *mode;
	config->width = WIDTH_DEFAULT;
	config->height = HEIGHT_DEFAULT;
	weston_config_section_get_string(section, "mode", &mode, NULL);
	bool right = mode == NULL || parse_mode(config, mode);
	bool given = mode != NULL;
	free(mode);
	if (!right) {
		return fail(config,
				"mode= must be WIDTHxHEIGHT in pixels, as 1920x1080, or with a "
				"rate of 1 to 1000 a second, as 1920x1080@30");
	}
	if (weston_config_section_get_int(section, "scale", &config->scale, 1) != 0 &&
			errno == EINVAL) {
		config->scale = 0;
	}
	if (config->scale < 1 || config->scale > SCALE_MAX || config->width % config->scale != 0 ||
			config->height % config->scale != 0) {
		return fail(config, "scale= must be 1 to 8, and divide both numbers of mode=");
	}
	if (config->is_mirror && (given || config->scale != 1)) {
		return fail(config,
				"mode= and scale= of an output that is Weston's are in its own "
				"section [output]");
	}
	return 0;
}

static int read_resize(struct output_config *config, struct weston_config_section *section) {
	bool right = input_source_read_limit(section, &config->width_max, &config->height_max);
	if (right && config->width_max == 0) {
		return 0;
	}
	if (!right || config->width_max < config->width || config->height_max < config->height) {
		return fail(config,
				"resize= must be the largest WIDTHxHEIGHT, as 1920x1200, and not "
				"less than mode=");
	}
	if (config->is_mirror || config->input.domain == NULL) {
		return fail(config,
				"resize= is for an output with name= and input=, whose sender says "
				"how large its window is");
	}
	return 0;
}

int output_config_read(struct output_config *config, struct weston_config_section *section) {
	*config = (struct output_config){0};
	int error = read_names(config, section);
	const char *wrong = error == 0 ? input_source_read(&config->input, section, config->stream)
				       : NULL;
	if (wrong != NULL) {
		error = fail(config, wrong);
	}
	if (error == 0) {
		error = read_mode(config, section);
	}
	return error != 0 ? error : read_resize(config, section);
}

void output_config_finish(struct output_config *config) {
	free(config->name);
	free(config->stream);
	input_source_finish(&config->input);
	*config = (struct output_config){0};
}
