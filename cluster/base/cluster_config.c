// SPDX-License-Identifier: MIT
#include "cluster_config.h"

#include <errno.h>
#include <input_format.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ini_section.h"
#include "key_table.h"
#include "text.h"

#define MS 1000000ll
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
	uint32_t worst_frame;
	struct output_config only; /* the only output, if [display] describes it */
	unsigned only_line;	   /* the last line in [display] about it; 0: none */
	unsigned nameless;	   /* the last section with a bad name, reported once; 0: none */
};

/* --- values ----------------------------------------------------------------------------------- */

/* Relative paths start from the folder of the configuration. NULL, which is reported: no memory. */
static char *file_path(struct ini_file *ini, const char *value) {
	char folder[PATH_MAX], *path = NULL;
	if (value[0] == '/' || strlen(ini->name) >= sizeof(folder)) {
		path = strdup(value);
	} else {
		strcpy(folder, ini->name);
		path = asprintf(&path, "%s/%s", dirname(folder), value) < 0 ? NULL : path;
	}
	if (path == NULL) {
		ini->result = -ENOMEM;
	}
	return path;
}

static void set_path(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	char **path = ini_key_member(key, section);
	free(*path);
	*path = file_path(ini, value);
}

static void set_name(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	ini_file_text(ini, ini_key_member(key, section), value);
	if (!gid_name_is_valid(value)) {
		ini_file_mistake(ini,
				"%s=%s cannot be a %s's name: those have up to %u letters, digits "
				"and - _ .%s",
				key->name, value, key->name, GID_NAME_MAX,
				strcmp(key->name, "stream") == 0 ? " with / between them" : "");
	}
}

static void set_formats(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	accepted_set_formats(ini_key_member(key, section), ini, value);
}

static void set_transforms(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	accepted_set_transforms(ini_key_member(key, section), ini, value);
}

static void set_allowed(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct hashes *allowed = ini_key_member(key, section);
	char *path = file_path(ini, value);
	int ret = path != NULL ? hashes_read(allowed, path) : -ENOMEM;
	if (ret == -EINVAL) {
		ini_file_mistake(ini,
				"allowed=%s has a line that is not a SHA-256 of 64 hex digits",
				value);
	} else if (ret < 0) {
		ini_file_mistake(ini, "allowed=%s: %s", value, strerror(-ret));
	} else if (allowed->count == 0) {
		ini_file_mistake(ini, "allowed=%s has no hash: no picture could ever be shown",
				value);
	}
	free(path);
}

static const struct ini_word fallbacks[] = {{"grey", FALLBACK_GREY}, {"pattern", FALLBACK_PATTERN},
		{"blank", FALLBACK_BLANK}, {"last", FALLBACK_LAST}, {0}};
static const struct ini_word *const layer_fallbacks = fallbacks;
static const struct ini_word *const role_fallbacks = fallbacks + 1; /* only layers have grey */

/* Takes one of the words, or the name of a PNG file. */
static void set_fallback(struct ini_file *ini, const struct ini_word *words, const char *value,
		enum fallback *fallback, char **picture) {
	size_t length = strlen(value);
	free(*picture);
	*picture = NULL;
	for (const struct ini_word *word = words; word->name != NULL; word++) {
		if (strcmp(word->name, value) == 0) {
			*fallback = (enum fallback)word->value;
			return;
		}
	}
	if (length < 4 || strcmp(value + length - 4, ".png") != 0) {
		ini_file_mistake(ini,
				"fallback=%s must be %spattern, blank, last or the name of a "
				".png file",
				value, words == layer_fallbacks ? "grey, " : "");
		return;
	}
	*fallback = FALLBACK_PICTURE;
	*picture = file_path(ini, value);
}

static void set_role_fallback(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct role_config *role = section;
	set_fallback(ini, role_fallbacks, value, &role->fallback, &role->picture);
}

static void set_layer_fallback(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct layer_config *layer = section;
	set_fallback(ini, layer_fallbacks, value, &layer->fallback, &layer->picture);
}

/* --- keys ------------------------------------------------------------------------------------- */

static const struct ini_word fits[] = {{"contain", FIT_CONTAIN}, {"cover", FIT_COVER},
		{"fill", FIT_FILL}, {"none", FIT_NONE}, {0}};
static const struct ini_word pacings[] = {
		{"bound", PACING_BOUND}, {"on", PACING_ON}, {"off", PACING_OFF}, {0}};
static const struct ini_word planes[] = {
		{"on", PLANES_ON}, {"off", PLANES_OFF}, {"direct", PLANES_DIRECT}, {0}};

/* Each level includes those before it. */
static const struct ini_word inputs[] = {{"off", 0}, {"touch", INPUT_TOUCH},
		{"pointer", INPUT_TOUCH | INPUT_POINTER},
		{"all", INPUT_TOUCH | INPUT_POINTER | INPUT_KEYBOARD}, {0}};

static const struct ini_word profiles[] = {{"none", GID_PROTECTION_NONE},
		{"crc64", GID_PROTECTION_CRC64}, {"cmac", GID_PROTECTION_CMAC}, {0}};

/* Keys that roles and layers share: the stream, its place, and what is accepted of it. */
#define SHOWN_KEYS(type)                                                                           \
	{"domain", INI_OWN, INI_MEMBER(type, domain), .set = set_name},                            \
			{"stream", INI_OWN, INI_MEMBER(type, stream), .set = set_name},            \
			{"x", INI_NUMBER, INI_MEMBER(type, box.x), .most = GID_SIZE_MAX},          \
			{"y", INI_NUMBER, INI_MEMBER(type, box.y), .most = GID_SIZE_MAX},          \
			{"width", INI_NUMBER, INI_MEMBER(type, box.width), .least = 1,             \
					.most = GID_SIZE_MAX},                                     \
			{"height", INI_NUMBER, INI_MEMBER(type, box.height), .least = 1,           \
					.most = GID_SIZE_MAX},                                     \
			{"formats", INI_OWN, INI_MEMBER(type, accepted), .set = set_formats},      \
			{"transform", INI_OWN, INI_MEMBER(type, accepted), .set = set_transforms}, \
			{"input", INI_WORD, INI_MEMBER(type, takes), .words = inputs}, {           \
		"output", INI_TEXT, INI_MEMBER(type, output_name)                                  \
	}

#define ROLE(member) INI_MEMBER(struct role_config, member)
#define LAYER(member) INI_MEMBER(struct layer_config, member)

static const struct ini_key role_keys[] = {
		SHOWN_KEYS(struct role_config),
		{"deadline-ms", INI_NUMBER, ROLE(limits.deadline_ns), .least = 1, .most = 60000,
				.unit = MS},
		{"frozen-ms", INI_NUMBER, ROLE(limits.frozen_ns), .most = 3600000, .unit = MS},
		{"min-rate", INI_NUMBER, ROLE(limits.min_rate), .most = 1000},
		{"good-frames", INI_NUMBER, ROLE(limits.good_frames), .least = 1, .most = 1000},
		{"allowed", INI_OWN, ROLE(accepted.pictures), .set = set_allowed},
		{"protection", INI_WORD, ROLE(profile), .words = profiles},
		{"protection-key", INI_OWN, ROLE(key), .set = set_path},
		{"fallback", INI_OWN, .set = set_role_fallback},
};

static const struct ini_key layer_keys[] = {
		SHOWN_KEYS(struct layer_config),
		{"deadline-ms", INI_NUMBER, LAYER(deadline_ns), .most = 3600000, .unit = MS},
		{"order", INI_NUMBER, LAYER(order), .most = ORDER_MAX},
		{"fit", INI_WORD, LAYER(fit), .words = fits},
		{"fallback", INI_OWN, .set = set_layer_fallback},
};

/* Keys of an output. `at` is the path to its struct within the section. */
#define OUTPUT_KEYS(type, at)                                                                      \
	{"width", INI_NUMBER, INI_MEMBER(type, at width), .least = 1, .most = GID_SIZE_MAX},       \
			{"height", INI_NUMBER, INI_MEMBER(type, at height), .least = 1,            \
					.most = GID_SIZE_MAX},                                     \
			{"refresh", INI_NUMBER, INI_MEMBER(type, at refresh_mhz), .least = 1,      \
					.most = 1000, .unit = 1000},                               \
			{"pacing", INI_WORD, INI_MEMBER(type, at pacing), .words = pacings},       \
			{"planes", INI_WORD, INI_MEMBER(type, at planes), .words = planes},        \
			{"writeback", INI_NUMBER, INI_MEMBER(type, at writeback),                  \
					.most = WRITEBACK_MAX},                                    \
			{"background", INI_OWN, INI_MEMBER(type, at background), .set = set_path}, \
			{"panel", INI_TEXT, INI_MEMBER(type, at panel)}, {                         \
		"stream", INI_OWN, INI_MEMBER(type, at stream), .set = set_name                    \
	}

static const struct ini_key output_keys[] = {OUTPUT_KEYS(struct output_config, )};

static const struct ini_key display_keys[] = {
		{"worst-frame", INI_NUMBER, INI_MEMBER(struct reading, worst_frame), .most = 100},
		{"output", INI_TEXT, INI_MEMBER(struct reading, only.name)},
		OUTPUT_KEYS(struct reading, only.),
};

static const struct ini_key_table role_table = INI_KEY_TABLE("a role", role_keys);
static const struct ini_key_table layer_table = INI_KEY_TABLE("a layer", layer_keys);
static const struct ini_key_table output_table = INI_KEY_TABLE("an output", output_keys);
static const struct ini_key_table display_table = INI_KEY_TABLE("the display", display_keys);

/* --- sections --------------------------------------------------------------------------------- */

static bool can_be_shown(const char *text) {
	size_t left = strlen(text), length = 1;
	for (; left > 0 && length > 0; text += length, left -= length) {
		length = character_length(text, left);
	}
	return left == 0;
}

/*
 * The name of a section appears in logs, in the status and in the state file. A bad one is reported
 * once for each section.
 */
static bool check_name(struct reading *reading, const char *what, const char *name) {
	bool is_good = name[0] != '\0' && can_be_shown(name);
	if (!is_good && reading->nameless != reading->ini.section) {
		reading->nameless = reading->ini.section;
		ini_file_mistake(&reading->ini,
				name[0] == '\0' ? "[%s NAME] needs a name"
						: "[%s NAME] has a name that is not UTF-8, or "
						  "has a character that cannot be shown",
				what);
	}
	return is_good;
}

static void role_key(
		struct reading *reading, const char *name, const char *key, const char *value) {
	struct cluster_config *config = reading->config;
	const struct role_config fresh = {
			.line = reading->ini.section,
			.accepted = accepted_plain,
			.limits = {.deadline_ns = 200 * MS, .good_frames = 3},
	};
	const struct ini_sections roles = {
			"roles", &config->roles, &config->role_count, sizeof(fresh), ROLES_MAX};
	struct role_config *role = check_name(reading, "role", name)
			? ini_section_find(&reading->ini, &roles, name, &fresh)
			: NULL;
	if (role != NULL) {
		ini_key_table_set(&role_table, &reading->ini, role, key, value);
	}
}

static void layer_key(
		struct reading *reading, const char *name, const char *key, const char *value) {
	struct cluster_config *config = reading->config;
	const struct layer_config fresh = {
			.line = reading->ini.section,
			.accepted = accepted_any,
			.fallback = FALLBACK_GREY,
	};
	const struct ini_sections layers = {
			"layers", &config->layers, &config->layer_count, sizeof(fresh), LAYERS_MAX};
	struct layer_config *layer = check_name(reading, "layer", name)
			? ini_section_find(&reading->ini, &layers, name, &fresh)
			: NULL;
	if (layer != NULL) {
		ini_key_table_set(&layer_table, &reading->ini, layer, key, value);
	}
}

static void output_key(
		struct reading *reading, const char *name, const char *key, const char *value) {
	struct cluster_config *config = reading->config;
	const struct output_config fresh = {
			.line = reading->ini.section, .writeback = WRITEBACK_DEFAULT};
	const struct ini_sections outputs = {"outputs", &config->outputs, &config->output_count,
			sizeof(fresh), OUTPUTS_MAX};
	struct output_config *output = check_name(reading, "output", name)
			? ini_section_find(&reading->ini, &outputs, name, &fresh)
			: NULL;
	if (output != NULL) {
		ini_key_table_set(&output_table, &reading->ini, output, key, value);
	}
}

static void display_key(struct reading *reading, const char *key, const char *value) {
	const struct ini_key *known = ini_key_table_find(&display_table, key);
	if (known != NULL && known != display_keys) { /* all but the first are of the output */
		reading->only_line = reading->ini.line;
		reading->only.line = reading->ini.section;
	}
	ini_key_table_set(&display_table, &reading->ini, reading, key, value);
}

static void handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	if (strcmp(section, "display") == 0) {
		display_key(reading, key, value);
	} else if (strncmp(section, "role ", 5) == 0) {
		role_key(reading, section + 5, key, value);
	} else if (strncmp(section, "layer ", 6) == 0) {
		layer_key(reading, section + 6, key, value);
	} else if (strncmp(section, "output ", 7) == 0) {
		output_key(reading, section + 7, key, value);
	} else {
		ini_file_unknown_section(&reading->ini, section,
				"[display], [output NAME], [role NAME] and [layer NAME]");
	}
}

static void output_config_finish(struct output_config *output) {
	free(output->name);
	free(output->background);
	free(output->stream);
	free(output->panel);
}

static void complete_outputs(struct reading *reading) {
	struct cluster_config *config = reading->config;
	if (config->output_count == 0) {
		config->outputs = malloc(sizeof(*config->outputs));
		if (config->outputs == NULL) {
			reading->ini.result = -ENOMEM;
			return;
		}
		config->outputs[config->output_count++] = reading->only;
		reading->only = (struct output_config){0};
	} else if (reading->only_line != 0) {
		reading->ini.line = reading->only_line;
		ini_file_mistake(&reading->ini,
				"besides [output %s], [display] can only have worst-frame=",
				config->outputs[0].name);
	}
}

/* A stream has one producer: the second output could never publish. */
static void check_streams(struct reading *reading) {
	const struct cluster_config *config = reading->config;
	for (size_t i = 0; i < config->output_count; i++) {
		const struct output_config *output = &config->outputs[i];
		for (size_t k = 0; output->stream != NULL && k < i; k++) {
			const struct output_config *other = &config->outputs[k];
			if (other->stream != NULL && strcmp(output->stream, other->stream) == 0) {
				ini_file_mistake_at(&reading->ini, output->line,
						"[output %s] has stream=%s, as [output %s] has",
						output->name, output->stream, other->name);
			}
		}
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

/* Two pictures must not send input on the same stream: its reader could not tell them apart. */
static void check_input(struct reading *reading, const char *what, const char *name,
		const char *stream, uint32_t takes, const char **taken, size_t *count) {
	char input[INPUT_NAME_SIZE];
	if (takes == 0 || stream == NULL) {
		return;
	}
	if (!input_stream_name(input, stream)) {
		ini_file_mistake(&reading->ini,
				"[%s %s] has input=, and stream=%s is too long for that: 57 bytes "
				"at most",
				what, name, stream);
	}
	for (size_t i = 0; i < *count; i++) {
		if (strcmp(taken[i], stream) == 0) {
			ini_file_mistake(&reading->ini,
					"[%s %s] has input= of stream=%s, as another section has: "
					"both would be input/%s",
					what, name, stream, stream);
		}
	}
	taken[(*count)++] = stream;
}

static void check_inputs(struct reading *reading) {
	const struct cluster_config *config = reading->config;
	const char *taken[ROLES_MAX + LAYERS_MAX];
	size_t count = 0;
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		reading->ini.line = role->line;
		check_input(reading, "role", role->name, role->stream, role->takes, taken, &count);
	}
	for (size_t i = 0; i < config->layer_count; i++) {
		const struct layer_config *layer = &config->layers[i];
		reading->ini.line = layer->line;
		check_input(reading, "layer", layer->name, layer->stream, layer->takes, taken,
				&count);
	}
}

/* Lowest first. Layers of the same order are in the order of the file. */
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

/* A key without protection=cmac is an error: whoever wrote it expected protection. */
static void make_protection(struct reading *reading, struct role_config *role) {
	uint8_t key[GID_PROTECTION_KEY_SIZE];
	bool keyed = role->profile == GID_PROTECTION_CMAC;
	if (keyed != (role->key != NULL)) {
		ini_file_mistake(&reading->ini,
				keyed ? "[role %s] has protection=cmac, which needs protection-key="
				      : "[role %s] has protection-key=, which is for "
					"protection=cmac alone",
				role->name);
		return;
	}
	int error = keyed ? gid_protection_read_key(role->key, key) : 0;
	if (error < 0) {
		ini_file_mistake(&reading->ini, "[role %s] protection-key=%s: %s", role->name,
				role->key, gid_protection_key_error(error));
		return;
	}
	if (role->profile == GID_PROTECTION_NONE || role->stream == NULL) {
		return;
	}
	error = gid_protection_create(
			role->profile, role->stream, keyed ? key : NULL, &role->protection);
	explicit_bzero(key, sizeof(key));
	if (error == -ENOSYS) {
		ini_file_mistake(&reading->ini,
				"[role %s] protection=%s: this gid-cluster was built without %s",
				role->name, gid_protection_profile_name(role->profile),
				keyed ? "nettle" : "liblzma");
	} else if (error == -ENOMEM) {
		reading->ini.result = -ENOMEM;
	}
}

/* --- places of roles -------------------------------------------------------------------------- */

/* A role beyond the edge of its output could never be shown: reported now, not at run time. */
static void check_edge(struct reading *reading, const struct role_config *role, int32_t end,
		uint32_t size, const char *axis, const char *key) {
	if (size != 0 && (uint32_t)end > size) {
		ini_file_mistake_at(&reading->ini, role->line,
				"[role %s] reaches to %s=%d, beyond its output, which has %s=%u",
				role->name, axis, end, key, size);
	}
}

/*
 * Frames that come once a refresh reach that rate only if none is ever late, so min-rate= must be
 * lower than the refresh. More than one frame in a refresh cannot all be seen.
 */
static void check_rate(struct reading *reading, const struct role_config *role,
		const struct output_config *output) {
	uint32_t refresh = output->refresh_mhz / 1000;
	if (refresh != 0 && role->limits.min_rate >= refresh) {
		ini_file_mistake_at(&reading->ini, role->line,
				"[role %s] has min-rate=%u, on an output with refresh=%u: frames "
				"that come once a refresh keep %u at most",
				role->name, role->limits.min_rate, refresh, refresh - 1);
	}
}

static bool are_apart(const struct gid_box *a, const struct gid_box *b) {
	return a->x >= b->x + b->width || b->x >= a->x + a->width || a->y >= b->y + b->height ||
			b->y >= a->y + a->height;
}

/* The role below would be covered: the check of its picture would fail each time. */
static void check_overlap(struct reading *reading, size_t index) {
	const struct role_config *roles = reading->config->roles, *role = &roles[index];
	for (size_t i = 0; i < index; i++) {
		if (roles[i].output == role->output && !are_apart(&roles[i].box, &role->box)) {
			ini_file_mistake_at(&reading->ini, role->line,
					"[role %s] is where a part of [role %s] of line %u is: "
					"give each a place of its own",
					role->name, roles[i].name, roles[i].line);
		}
	}
}

/* An output without configured size or rate is checked when it is connected. */
static void check_places(struct reading *reading) {
	const struct cluster_config *config = reading->config;
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		const struct output_config *output = &config->outputs[role->output];
		const struct gid_box *box = &role->box;
		check_edge(reading, role, box->x + box->width, output->width, "x", "width");
		check_edge(reading, role, box->y + box->height, output->height, "y", "height");
		check_rate(reading, role, output);
		check_overlap(reading, i);
	}
}

static void complete(struct reading *reading) {
	struct cluster_config *config = reading->config;
	complete_outputs(reading);
	check_streams(reading);
	for (size_t i = 0; i < config->role_count; i++) {
		struct role_config *role = &config->roles[i];
		reading->ini.line = role->line;
		role->output = output_index(reading, "role", role->name, role->output_name);
		check_size(reading, "role", role->name, &role->box);
		default_stream(reading, "role", role->name, "safety/", &role->stream);
		make_protection(reading, role);
	}
	complete_layers(reading);
	check_inputs(reading);
	/* After an invalid number the place is not known. */
	if (reading->ini.result == 0) {
		check_places(reading);
	}
}

int cluster_config_read(struct cluster_config *config, const char *path, FILE *errors) {
	*config = (struct cluster_config){0};
	struct reading reading = {
			.ini = {.name = path, .errors = errors},
			.config = config,
			.worst_frame = WORST_FRAME_DEFAULT,
			.only = {.writeback = WRITEBACK_DEFAULT},
	};
	reading.ini.file = ini_file_open(path, errors);
	if (reading.ini.file == NULL) {
		return -errno;
	}
	if (ini_file_read(&reading.ini, handle_key, &reading) != -ENOMEM) {
		complete(&reading);
	}
	config->worst_frame = reading.worst_frame;
	output_config_finish(&reading.only);
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
		free(role->key);
		gid_protection_destroy(role->protection);
		hashes_finish(&role->accepted.pictures);
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
		output_config_finish(&config->outputs[i]);
	}
	free(config->roles);
	free(config->layers);
	free(config->outputs);
	*config = (struct cluster_config){0};
}

uint32_t cluster_config_takes(const struct cluster_config *config) {
	uint32_t takes = 0;
	for (size_t i = 0; i < config->role_count; i++) {
		takes |= config->roles[i].takes;
	}
	for (size_t i = 0; i < config->layer_count; i++) {
		takes |= config->layers[i].takes;
	}
	return takes;
}
