// SPDX-License-Identifier: MIT
#include "layout_file.h"

#include <ctype.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ini_section.h"
#include "key_table.h"

#define LAYERS_MAX 60 /* an engine takes 64 pictures for one list */
#define RATE_MAX 1000

struct reading {
	struct ini_file ini;
	struct layout_file *layout;
	unsigned canvas; /* where [canvas] begins */
};

/* --- values ----------------------------------------------------------------------------------- */

/* A number at the begin of `text`, which is followed by `end`. Sets `*after` behind that. */
static bool parse_number(const char *text, char end, long *number, const char **after) {
	char *stop;
	if (!isdigit((unsigned char)text[0]) && text[0] != '-') {
		return false;
	}
	errno = 0;
	*number = strtol(text, &stop, 10);
	if (stop == text || *stop != end || errno != 0) {
		return false;
	}
	*after = stop + (end != '\0');
	return true;
}

static void set_name(struct ini_file *ini, char **text, const char *key, const char *value,
		bool is_stream) {
	ini_file_text(ini, text, value);
	if (!gid_name_is_valid(value) || (!is_stream && strchr(value, '/') != NULL)) {
		ini_file_mistake(ini, "%s=%s cannot be the name of a %s", key, value,
				is_stream ? "stream" : "domain");
	}
}

static void set_domain(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	set_name(ini, ini_key_member(key, section), key->name, value, false);
}

static void set_stream(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	set_name(ini, ini_key_member(key, section), key->name, value, true);
}

static void set_alpha(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	char *end;
	double alpha = strtod(value, &end);
	if ((!isdigit((unsigned char)value[0]) && value[0] != '.') || *end != '\0' ||
			!(alpha >= 0 && alpha <= 1)) {
		ini_file_mistake(ini, "alpha=%s is not a number from 0 to 1", value);
		return;
	}
	((struct layer_config *)section)->alpha = (uint8_t)(alpha * 255 + 0.5);
}

static void set_background(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	if (value[0] != '#' || strlen(value) != 7 ||
			strspn(value + 1, "0123456789abcdefABCDEF") != 6) {
		ini_file_mistake(ini, "background=%s is not a colour such as #204080", value);
		return;
	}
	((struct layout_file *)section)->background =
			0xff000000 | (uint32_t)strtoul(value + 1, NULL, 16);
}

static void set_source(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	const char *at = value;
	long numbers[4];
	const char ends[4] = {',', ',', 'x', '\0'};
	for (size_t i = 0; i < 4; i++) {
		if (!parse_number(at, ends[i], &numbers[i], &at) || numbers[i] < (i >= 2) ||
				numbers[i] > (long)GID_SIZE_MAX) {
			ini_file_mistake(
					ini, "source=%s is not a box such as 10,20,640x360", value);
			return;
		}
	}
	((struct layer_config *)section)->source = (struct gid_box){(int32_t)numbers[0],
			(int32_t)numbers[1], (int32_t)numbers[2], (int32_t)numbers[3]};
}

/* --- keys and sections ------------------------------------------------------------------------ */

static const struct ini_word formats[] = {{"XRGB8888", DRM_FORMAT_XRGB8888},
		{"ARGB8888", DRM_FORMAT_ARGB8888}, {"XBGR8888", DRM_FORMAT_XBGR8888},
		{"ABGR8888", DRM_FORMAT_ABGR8888}, {"BGRX8888", DRM_FORMAT_BGRX8888},
		{"BGRA8888", DRM_FORMAT_BGRA8888}, {"RGBX8888", DRM_FORMAT_RGBX8888},
		{"RGBA8888", DRM_FORMAT_RGBA8888}, {"RGB565", DRM_FORMAT_RGB565}, {0}};
static const struct ini_word turns[] = {{"0", 0}, {"90", 1}, {"180", 2}, {"270", 3}, {"flipped", 4},
		{"flipped-90", 5}, {"flipped-180", 6}, {"flipped-270", 7}, {0}};
static const struct ini_word filters[] = {{"bilinear", false}, {"nearest", true}, {0}};
static const struct ini_word matrices[] = {{"auto", GID_MATRIX_UNKNOWN},
		{"bt601", GID_MATRIX_BT601}, {"bt709", GID_MATRIX_BT709},
		{"bt2020", GID_MATRIX_BT2020}, {"smpte240m", GID_MATRIX_SMPTE240M},
		{"fcc", GID_MATRIX_FCC}, {0}};
static const struct ini_word ranges[] = {{"auto", GID_RANGE_UNKNOWN}, {"full", GID_RANGE_FULL},
		{"limited", GID_RANGE_LIMITED}, {0}};
static const struct ini_word alphas[] = {
		{"auto", LAYER_AUTO}, {"multiplied", LAYER_NO}, {"straight", LAYER_YES}, {0}};

#define CANVAS(member) INI_MEMBER(struct layout_file, member)
#define LAYER(member) INI_MEMBER(struct layer_config, member)

static const struct ini_key canvas_keys[] = {
		{"engine", INI_OWN, CANVAS(engine), .set = set_domain},
		{"name", INI_OWN, CANVAS(canvas), .set = set_stream},
		{"width", INI_NUMBER, CANVAS(width), .least = 1, .most = GID_SIZE_MAX},
		{"height", INI_NUMBER, CANVAS(height), .least = 1, .most = GID_SIZE_MAX},
		{"rate", INI_NUMBER, CANVAS(rate), .least = 1, .most = RATE_MAX},
		{"format", INI_WORD, CANVAS(fourcc), .words = formats},
		{"background", INI_OWN, .set = set_background},
};

static const struct ini_key layer_keys[] = {
		{"stream", INI_OWN, LAYER(stream), .set = set_stream},
		{"domain", INI_OWN, LAYER(domain), .set = set_domain},
		{"x", INI_NUMBER, LAYER(x), .least = INT16_MIN, .most = INT16_MAX},
		{"y", INI_NUMBER, LAYER(y), .least = INT16_MIN, .most = INT16_MAX},
		{"width", INI_NUMBER, LAYER(width), .least = 1, .most = UINT16_MAX},
		{"height", INI_NUMBER, LAYER(height), .least = 1, .most = UINT16_MAX},
		{"z", INI_NUMBER, LAYER(z), .least = -1000000, .most = 1000000},
		{"alpha", INI_OWN, .set = set_alpha},
		{"turn", INI_WORD, LAYER(turn), .words = turns},
		{"source", INI_OWN, .set = set_source},
		{"filter", INI_WORD, LAYER(nearest), .words = filters},
		{"colours", INI_WORD, LAYER(colours.matrix), .words = matrices},
		{"range", INI_WORD, LAYER(colours.range), .words = ranges},
		{"pixels", INI_WORD, LAYER(straight), .words = alphas},
};

static const struct ini_key_table canvas_table = INI_KEY_TABLE("the canvas", canvas_keys);
static const struct ini_key_table layer_table = INI_KEY_TABLE("a layer", layer_keys);

static void layer_key(
		struct reading *reading, const char *name, const char *key, const char *value) {
	struct layout_file *layout = reading->layout;
	const struct layer_config fresh = {.line = reading->ini.section, .alpha = 255};
	const struct ini_sections layers = {
			"layers", &layout->layers, &layout->layer_count, sizeof(fresh), LAYERS_MAX};
	struct layer_config *layer = ini_section_find(&reading->ini, &layers, name, &fresh);
	if (layer != NULL) {
		ini_key_table_set(&layer_table, &reading->ini, layer, key, value);
	}
}

static void handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	if (strcmp(section, "canvas") == 0) {
		reading->canvas = reading->ini.section;
		ini_key_table_set(&canvas_table, &reading->ini, reading->layout, key, value);
	} else if (strncmp(section, "layer ", 6) == 0) {
		layer_key(reading, section + 6, key, value);
	} else {
		ini_file_unknown_section(&reading->ini, section, "[canvas] and [layer NAME]");
	}
}

/* Those of one z in the order of the file. */
static int compare_layers(const void *one, const void *other) {
	const struct layer_config *a = one, *b = other;
	return a->z != b->z ? (a->z > b->z) - (a->z < b->z)
			    : (a->line > b->line) - (a->line < b->line);
}

static void complete(struct reading *reading) {
	const struct layout_file *layout = reading->layout;
	if (layout->engine == NULL || layout->canvas == NULL || layout->width == 0 ||
			layout->height == 0) {
		reading->ini.line = reading->canvas;
		ini_file_mistake(
				&reading->ini, "[canvas] needs engine=, name=, width= and height=");
	}
	for (size_t i = 0; i < layout->layer_count; i++) {
		const struct layer_config *layer = &layout->layers[i];
		reading->ini.line = layer->line;
		if (layer->stream == NULL) {
			ini_file_mistake(&reading->ini, "[layer %s] needs stream=", layer->name);
		}
		if ((layer->width == 0) != (layer->height == 0)) {
			ini_file_mistake(&reading->ini,
					"[layer %s] has width= or height=, but not both",
					layer->name);
		}
	}
	if (layout->layer_count > 0) {
		qsort(layout->layers, layout->layer_count, sizeof(*layout->layers), compare_layers);
	}
}

int layout_file_read_stream(
		struct layout_file *layout, FILE *file, const char *name, FILE *errors) {
	struct reading reading = {
			.ini = {.file = file, .name = name, .errors = errors},
			.layout = layout,
			.canvas = 1,
	};
	*layout = (struct layout_file){
			.fourcc = DRM_FORMAT_XRGB8888, .rate = 60, .background = 0xff000000};
	if (ini_file_read(&reading.ini, handle_key, &reading) != -ENOMEM) {
		complete(&reading);
	}
	return reading.ini.result;
}

int layout_file_read(struct layout_file *layout, const char *path, FILE *errors) {
	*layout = (struct layout_file){0};
	FILE *file = ini_file_open(path, errors);
	if (file == NULL) {
		return -errno;
	}
	int ret = layout_file_read_stream(layout, file, path, errors);
	fclose(file);
	return ret;
}

void layout_file_finish(struct layout_file *layout) {
	for (size_t i = 0; i < layout->layer_count; i++) {
		free(layout->layers[i].name);
		free(layout->layers[i].stream);
		free(layout->layers[i].domain);
	}
	free(layout->layers);
	free(layout->engine);
	free(layout->canvas);
}
