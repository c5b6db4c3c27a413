// SPDX-License-Identifier: MIT
#include "cluster_config.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ini_file.h"

#define MS 1000000ull
#define ROLES_MAX 32
#define LAYERS_MAX 32
#define ORDER_MAX 1000
#define OUTPUTS_MAX 16
#define WRITEBACK_DEFAULT 60
#define WRITEBACK_MAX 100000
#define WORST_FRAME_DEFAULT 50

struct reading {
	struct ini_file ini;
	struct cluster_config *config;
	struct output_config only; /* what [display] says of the output, if there is only one */
	unsigned only_line;	   /* of the last line that does; 0: none */
};

/* Files are named from where the configuration lies. */
static char *file_path(const struct reading *reading, const char *value) {
	char folder[PATH_MAX], *path = NULL;
	if (value[0] == '/' || strlen(reading->ini.name) >= sizeof(folder)) {
		return strdup(value);
	}
	strcpy(folder, reading->ini.name);
	return asprintf(&path, "%s/%s", dirname(folder), value) < 0 ? NULL : path;
}

/* --- keys ------------------------------------------------------------------------------------- */

#define BOX_KEYS "x, y, width, height"

static bool box_key(
		struct reading *reading, struct gid_box *box, const char *key, const char *value) {
	if (strcmp(key, "x") == 0) {
		box->x = (int32_t)ini_file_number(&reading->ini, key, value, 0, GID_SIZE_MAX);
	} else if (strcmp(key, "y") == 0) {
		box->y = (int32_t)ini_file_number(&reading->ini, key, value, 0, GID_SIZE_MAX);
	} else if (strcmp(key, "width") == 0) {
		box->width = (int32_t)ini_file_number(&reading->ini, key, value, 1, GID_SIZE_MAX);
	} else if (strcmp(key, "height") == 0) {
		box->height = (int32_t)ini_file_number(&reading->ini, key, value, 1, GID_SIZE_MAX);
	} else {
		return false;
	}
	return true;
}

static void role_allowed(struct reading *reading, struct role_config *role, const char *value) {
	char *path = file_path(reading, value);
	int ret = path != NULL ? hashes_read(&role->allowed, path) : -ENOMEM;
	if (ret == -EINVAL) {
		ini_file_mistake(&reading->ini,
				"allowed=%s has a line that is not a SHA-256 of 64 hex digits",
				value);
	} else if (ret < 0) {
		ini_file_mistake(&reading->ini, "allowed=%s: %s", value, strerror(-ret));
	} else if (role->allowed.count == 0) {
		ini_file_mistake(&reading->ini,
				"allowed=%s has no hash: no picture could ever be shown", value);
	}
	free(path);
}

/* `words` has a word for each value, or NULL where there is none. Returns whether it is one. */
static bool find_word(const char *const *words, size_t count, const char *value, size_t *found) {
	for (size_t i = 0; i < count; i++) {
		if (words[i] != NULL && strcmp(value, words[i]) == 0) {
			*found = i;
			return true;
		}
	}
	return false;
}

/* One of `count` words, of which `said` tells people, or a PNG, whose file is `*picture` then. */
static void fallback_key(struct reading *reading, const char *const *words, size_t count,
		const char *said, const char *value, enum fallback *fallback, char **picture) {
	size_t word, length = strlen(value);
	free(*picture);
	*picture = NULL;
	if (find_word(words, count, value, &word)) {
		*fallback = (enum fallback)word;
		return;
	}
	if (length < 4 || strcmp(value + length - 4, ".png") != 0) {
		ini_file_mistake(&reading->ini, "fallback=%s must be %s or the name of a .png file",
				value, said);
		return;
	}
	*fallback = FALLBACK_PICTURE;
	*picture = file_path(reading, value);
}

static void role_fallback(struct reading *reading, struct role_config *role, const char *value) {
	static const char *const words[] = {
			[FALLBACK_PATTERN] = "pattern",
			[FALLBACK_BLANK] = "blank",
			[FALLBACK_LAST] = "last",
	};
	fallback_key(reading, words, sizeof(words) / sizeof(words[0]), "pattern, blank, last",
			value, &role->fallback, &role->picture);
}

static void layer_fallback(struct reading *reading, struct layer_config *layer, const char *value) {
	static const char *const words[] = {
			[FALLBACK_PATTERN] = "pattern",
			[FALLBACK_BLANK] = "blank",
			[FALLBACK_LAST] = "last",
			[FALLBACK_GREY] = "grey",
	};
	fallback_key(reading, words, sizeof(words) / sizeof(words[0]), "grey, pattern, blank, last",
			value, &layer->fallback, &layer->picture);
}

#define SOURCE_KEYS "domain, stream"

/* Which stream is shown: the same for roles and layers. */
static bool source_key(struct reading *reading, char **stream, char **domain, const char *key,
		const char *value) {
	bool is_stream = strcmp(key, "stream") == 0;
	if (!is_stream && strcmp(key, "domain") != 0) {
		return false;
	}
	ini_file_text(&reading->ini, is_stream ? stream : domain, value);
	if (!gid_name_is_valid(value)) {
		ini_file_mistake(&reading->ini, "%s=%s cannot be a %s's name", key, value, key);
	}
	return true;
}

#define ACCEPTED_KEYS "formats, transform"

/* What is taken of the stream: likewise. */
static bool accepted_key(struct reading *reading, struct accepted *accepted, const char *key,
		const char *value) {
	if (strcmp(key, "formats") == 0) {
		accepted_set_formats(accepted, &reading->ini, value);
	} else if (strcmp(key, "transform") == 0) {
		accepted_set_transforms(accepted, &reading->ini, value);
	} else {
		return false;
	}
	return true;
}

static void role_key(struct reading *reading, struct role_config *role, const char *key,
		const char *value) {
	struct role_limits *limits = &role->limits;
	if (source_key(reading, &role->stream, &role->domain, key, value) ||
			accepted_key(reading, &role->accepted, key, value)) {
		return;
	}
	if (strcmp(key, "deadline-ms") == 0) {
		limits->deadline_ns = ini_file_number(&reading->ini, key, value, 1, 60000) * MS;
	} else if (strcmp(key, "frozen-ms") == 0) {
		limits->frozen_ns = ini_file_number(&reading->ini, key, value, 0, 3600000) * MS;
	} else if (strcmp(key, "min-rate") == 0) {
		limits->min_rate = (uint32_t)ini_file_number(&reading->ini, key, value, 0, 1000);
	} else if (strcmp(key, "good-frames") == 0) {
		limits->good_frames = (uint32_t)ini_file_number(&reading->ini, key, value, 1, 1000);
	} else if (strcmp(key, "allowed") == 0) {
		role_allowed(reading, role, value);
	} else if (strcmp(key, "fallback") == 0) {
		role_fallback(reading, role, value);
	} else if (strcmp(key, "output") == 0) {
		ini_file_text(&reading->ini, &role->output_name, value);
	} else if (!box_key(reading, &role->box, key, value)) {
		ini_file_no_key(&reading->ini, "a role", key,
				SOURCE_KEYS ", " BOX_KEYS ", " ACCEPTED_KEYS
					    ", output, deadline-ms, frozen-ms, min-rate, "
					    "good-frames, allowed, fallback");
	}
}

static void layer_fit(struct reading *reading, struct layer_config *layer, const char *value) {
	for (int i = 0; i < FIT_EXACT; i++) {
		if (strcmp(value, fit_name((enum fit)i)) == 0) {
			layer->fit = (enum fit)i;
			return;
		}
	}
	ini_file_mistake(&reading->ini, "fit=%s must be contain, cover, fill or none", value);
}

static void layer_key(struct reading *reading, struct layer_config *layer, const char *key,
		const char *value) {
	if (source_key(reading, &layer->stream, &layer->domain, key, value) ||
			accepted_key(reading, &layer->accepted, key, value)) {
		return;
	}
	if (strcmp(key, "deadline-ms") == 0) {
		layer->deadline_ns = ini_file_number(&reading->ini, key, value, 0, 3600000) * MS;
	} else if (strcmp(key, "order") == 0) {
		layer->order = (int32_t)ini_file_number(&reading->ini, key, value, 0, ORDER_MAX);
	} else if (strcmp(key, "fit") == 0) {
		layer_fit(reading, layer, value);
	} else if (strcmp(key, "fallback") == 0) {
		layer_fallback(reading, layer, value);
	} else if (strcmp(key, "output") == 0) {
		ini_file_text(&reading->ini, &layer->output_name, value);
	} else if (!box_key(reading, &layer->box, key, value)) {
		ini_file_no_key(&reading->ini, "a layer", key,
				SOURCE_KEYS ", " BOX_KEYS ", " ACCEPTED_KEYS
					    ", output, deadline-ms, order, fit, fallback");
	}
}

static void output_planes(
		struct reading *reading, struct output_config *output, const char *value) {
	output->direct = strcmp(value, "direct") == 0;
	output->planes = output->direct || strcmp(value, "on") == 0;
	if (!output->planes && strcmp(value, "off") != 0) {
		ini_file_mistake(&reading->ini, "planes=%s must be on, off or direct", value);
	}
}

#define OUTPUT_KEYS "width, height, refresh, pacing, planes, writeback, background, stream"

static bool output_key(struct reading *reading, struct output_config *output, const char *key,
		const char *value) {
	if (strcmp(key, "width") == 0) {
		output->width = (uint32_t)ini_file_number(
				&reading->ini, key, value, 1, GID_SIZE_MAX);
	} else if (strcmp(key, "height") == 0) {
		output->height = (uint32_t)ini_file_number(
				&reading->ini, key, value, 1, GID_SIZE_MAX);
	} else if (strcmp(key, "refresh") == 0) {
		output->refresh_mhz =
				(uint32_t)ini_file_number(&reading->ini, key, value, 1, 1000) *
				1000;
	} else if (strcmp(key, "pacing") == 0) {
		output->paced = ini_file_switch(&reading->ini, key, value);
	} else if (strcmp(key, "planes") == 0) {
		output_planes(reading, output, value);
	} else if (strcmp(key, "writeback") == 0) {
		output->writeback = (uint32_t)ini_file_number(
				&reading->ini, key, value, 0, WRITEBACK_MAX);
	} else if (strcmp(key, "background") == 0) {
		free(output->background);
		output->background = file_path(reading, value);
	} else if (strcmp(key, "stream") == 0) {
		ini_file_text(&reading->ini, &output->stream, value);
		if (!gid_name_is_valid(value)) {
			ini_file_mistake(&reading->ini, "stream=%s cannot be a stream's name",
					value);
		}
	} else {
		return false;
	}
	return true;
}

static void display_key(struct reading *reading, const char *key, const char *value) {
	if (strcmp(key, "worst-frame") == 0) {
		reading->config->worst_frame =
				(uint32_t)ini_file_number(&reading->ini, key, value, 0, 100);
	} else if (strcmp(key, "output") == 0) {
		ini_file_text(&reading->ini, &reading->only.name, value);
		reading->only_line = reading->ini.line;
	} else if (output_key(reading, &reading->only, key, value)) {
		reading->only_line = reading->ini.line;
	} else {
		ini_file_no_key(&reading->ini, "the display", key,
				"worst-frame, output, " OUTPUT_KEYS);
	}
}

/* --- sections --------------------------------------------------------------------------------- */

static struct role_config *find_role(struct reading *reading, const char *name) {
	struct cluster_config *config = reading->config;
	for (size_t i = 0; i < config->role_count; i++) {
		if (strcmp(config->roles[i].name, name) == 0) {
			return &config->roles[i];
		}
	}
	if (config->role_count == ROLES_MAX) {
		ini_file_mistake(&reading->ini, "more than %d roles", ROLES_MAX);
		return NULL;
	}
	struct role_config *roles =
			reallocarray(config->roles, config->role_count + 1, sizeof(*roles));
	if (roles == NULL) {
		reading->ini.result = -ENOMEM;
		return NULL;
	}
	config->roles = roles;
	struct role_config *role = &roles[config->role_count++];
	*role = (struct role_config){
			.line = reading->ini.section,
			.accepted = accepted_plain,
			.limits = {.deadline_ns = 200 * MS, .good_frames = 3},
	};
	ini_file_text(&reading->ini, &role->name, name);
	return role;
}

static struct layer_config *find_layer(struct reading *reading, const char *name) {
	struct cluster_config *config = reading->config;
	for (size_t i = 0; i < config->layer_count; i++) {
		if (strcmp(config->layers[i].name, name) == 0) {
			return &config->layers[i];
		}
	}
	if (config->layer_count == LAYERS_MAX) {
		ini_file_mistake(&reading->ini, "more than %d layers", LAYERS_MAX);
		return NULL;
	}
	struct layer_config *layers =
			reallocarray(config->layers, config->layer_count + 1, sizeof(*layers));
	if (layers == NULL) {
		reading->ini.result = -ENOMEM;
		return NULL;
	}
	config->layers = layers;
	struct layer_config *layer = &layers[config->layer_count++];
	*layer = (struct layer_config){
			.line = reading->ini.section,
			.accepted = accepted_any,
			.fallback = FALLBACK_GREY,
	};
	ini_file_text(&reading->ini, &layer->name, name);
	return layer;
}

/* Takes what `output` owns, or frees it. */
static struct output_config *add_output(
		struct reading *reading, const struct output_config *output) {
	struct cluster_config *config = reading->config;
	struct output_config *outputs =
			reallocarray(config->outputs, config->output_count + 1, sizeof(*outputs));
	if (outputs == NULL) {
		free(output->name);
		free(output->background);
		free(output->stream);
		reading->ini.result = -ENOMEM;
		return NULL;
	}
	config->outputs = outputs;
	outputs[config->output_count] = *output;
	return &outputs[config->output_count++];
}

static struct output_config *find_output(struct reading *reading, const char *name) {
	struct cluster_config *config = reading->config;
	for (size_t i = 0; i < config->output_count; i++) {
		if (config->outputs[i].name != NULL && strcmp(config->outputs[i].name, name) == 0) {
			return &config->outputs[i];
		}
	}
	if (name[0] == '\0') {
		ini_file_mistake(&reading->ini,
				"[output NAME] needs a name, as in [output HDMI-A-1]");
		return NULL;
	}
	if (config->output_count == OUTPUTS_MAX) {
		ini_file_mistake(&reading->ini, "more than %d outputs", OUTPUTS_MAX);
		return NULL;
	}
	struct output_config output = {.writeback = WRITEBACK_DEFAULT};
	ini_file_text(&reading->ini, &output.name, name);
	return add_output(reading, &output);
}

static void handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	if (strcmp(section, "display") == 0) {
		display_key(reading, key, value);
	} else if (strncmp(section, "role ", 5) == 0) {
		struct role_config *role = find_role(reading, section + 5);
		if (role != NULL) {
			role_key(reading, role, key, value);
		}
	} else if (strncmp(section, "layer ", 6) == 0) {
		struct layer_config *layer = find_layer(reading, section + 6);
		if (layer != NULL) {
			layer_key(reading, layer, key, value);
		}
	} else if (strncmp(section, "output ", 7) == 0) {
		struct output_config *output = find_output(reading, section + 7);
		if (output != NULL && !output_key(reading, output, key, value)) {
			ini_file_no_key(&reading->ini, "an output", key, OUTPUT_KEYS);
		}
	} else {
		ini_file_mistake(&reading->ini,
				"unknown section [%s]; there are [display], [output NAME], "
				"[role NAME] and [layer NAME]",
				section);
	}
}

static void complete_outputs(struct reading *reading) {
	struct cluster_config *config = reading->config;
	struct output_config only = reading->only;
	reading->only = (struct output_config){0};
	if (config->output_count == 0) {
		add_output(reading, &only);
		return;
	}
	free(only.name);
	free(only.background);
	free(only.stream);
	if (reading->only_line != 0) {
		reading->ini.line = reading->only_line;
		ini_file_mistake(&reading->ini,
				"besides [output %s], [display] can only have worst-frame=",
				config->outputs[0].name);
	}
}

/* The index of the output that a role or layer names. */
static size_t output_index(struct reading *reading, const char *what, const char *who,
		const char *output_name) {
	const struct cluster_config *config = reading->config;
	for (size_t i = 0; output_name != NULL && i < config->output_count; i++) {
		const char *name = config->outputs[i].name;
		if (name != NULL && strcmp(name, output_name) == 0) {
			return i;
		}
	}
	if (output_name != NULL) {
		ini_file_mistake(&reading->ini,
				"[%s %s] is on output=%s, of which there is no [output %s]", what,
				who, output_name, output_name);
	}
	return 0;
}

static void default_stream(struct reading *reading, const char *what, const char *name,
		const char *folder, char **stream) {
	if (*stream != NULL) {
		return;
	}
	if (asprintf(stream, "%s%s", folder, name) < 0) {
		*stream = NULL;
		reading->ini.result = -ENOMEM;
	} else if (!gid_name_is_valid(*stream)) {
		ini_file_mistake(&reading->ini,
				"[%s %s] needs stream=: %s cannot be a stream's name", what, name,
				*stream);
	}
}

static void check_size(struct reading *reading, const char *what, const char *name,
		const struct gid_box *box) {
	if (box->width == 0 || box->height == 0) {
		ini_file_mistake(&reading->ini, "[%s %s] needs width= and height=", what, name);
	}
}

/* Those below come first; of the same order, those of which the file has it first. */
static int compare_layers(const void *a, const void *b) {
	const struct layer_config *x = a, *y = b;
	return x->order != y->order ? (x->order > y->order) - (x->order < y->order)
				    : (x->line > y->line) - (x->line < y->line);
}

static void complete_layers(struct reading *reading) {
	struct cluster_config *config = reading->config;
	for (size_t i = 0; i < config->layer_count; i++) {
		struct layer_config *layer = &config->layers[i];
		reading->ini.line = layer->line;
		layer->output = output_index(reading, "layer", layer->name, layer->output_name);
		check_size(reading, "layer", layer->name, &layer->box);
		default_stream(reading, "layer", layer->name, "", &layer->stream);
	}
	if (config->layer_count > 0) {
		qsort(config->layers, config->layer_count, sizeof(config->layers[0]),
				compare_layers);
	}
}

static void complete(struct reading *reading) {
	struct cluster_config *config = reading->config;
	complete_outputs(reading);
	for (size_t i = 0; i < config->role_count; i++) {
		struct role_config *role = &config->roles[i];
		reading->ini.line = role->line;
		role->output = output_index(reading, "role", role->name, role->output_name);
		check_size(reading, "role", role->name, &role->box);
		default_stream(reading, "role", role->name, "safety/", &role->stream);
	}
	complete_layers(reading);
}

int cluster_config_read(struct cluster_config *config, const char *path, FILE *errors) {
	*config = (struct cluster_config){.worst_frame = WORST_FRAME_DEFAULT};
	struct reading reading = {
			.ini = {.name = path, .errors = errors},
			.config = config,
			.only = {.writeback = WRITEBACK_DEFAULT},
	};
	reading.ini.file = ini_file_open(path, errors);
	if (reading.ini.file == NULL) {
		return -errno;
	}
	if (ini_file_read(&reading.ini, handle_key, &reading) != -ENOMEM) {
		complete(&reading);
	}
	free(reading.only.name);
	free(reading.only.background);
	free(reading.only.stream);
	fclose(reading.ini.file);
	return reading.ini.result;
}

void cluster_config_finish(struct cluster_config *config) {
	for (size_t i = 0; i < config->role_count; i++) {
		struct role_config *role = &config->roles[i];
		free(role->name);
		free(role->stream);
		free(role->domain);
		free(role->output_name);
		free(role->picture);
		hashes_finish(&role->allowed);
	}
	for (size_t i = 0; i < config->layer_count; i++) {
		struct layer_config *layer = &config->layers[i];
		free(layer->name);
		free(layer->stream);
		free(layer->domain);
		free(layer->output_name);
		free(layer->picture);
	}
	for (size_t i = 0; i < config->output_count; i++) {
		free(config->outputs[i].name);
		free(config->outputs[i].background);
		free(config->outputs[i].stream);
	}
	free(config->roles);
	free(config->layers);
	free(config->outputs);
	*config = (struct cluster_config){0};
}
